"""Bringing records back within the edit rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from tacit.core.constraints import AtLeast, Constraint, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.errors import ProtectionError
from tacit.core.families import Mask

__all__ = ["Restored", "restored"]

Side = Literal["larger", "smaller"]


class RestoreRules(
    Mask,
    key="restore-rules",
    title="Restoring the edit rules",
    cites=("fellegi1976", "hundepool2012"),
    example={
        "rules": [{"rule": "zero_when", "column": "hours", "indicator": "sex", "equals": "male"}]
    },
):
    r"""Bring records that break an edit rule back within it, after noise for instance.

    Noise makes negative incomes and taxes above the income; such records look false and tell a user
    how much noise there is. Values move no farther than a rule demands, and records that obey are
    never touched. `restored` returns the records together with counts of what was changed. When not
    to use it: where many records break a rule; then moving them to its border distorts the
    distribution, and a method that keeps the rules (multiplicative noise) is better.

    Missing values: a missing value breaks no rule and stays missing. Weights: not used. Households:
    not considered; rules speak of single records.

    Notes
    -----
    The rules are those of the schema and `rules`. Each gives every value a lower and an upper
    bound: :math:`x \ge 0` a lower bound 0; zero when an indicator says so, both bounds 0; and
    :math:`x \ge y` hands lower bounds of :math:`y` up to :math:`x` and upper bounds of :math:`x`
    down to :math:`y`, along whole chains. Values are first brought within their bounds, then, along
    each chain, the larger variable is lifted to the smaller (or the smaller lowered to the larger).
    Whole numbers stay whole. In editing, as few values as possible are changed [fellegi1976]_; here
    the same rules are met by the least move of the side chosen.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> noise = mask.UncorrelatedNoise(columns=["income", "taxes"])
    >>> plan = tacit.Plan([noise, mask.RestoreRules()])
    >>> release = plan.apply(tacit.datasets.census(300), seed=1)
    >>> sum(release.data.broken_constraints().values())
    0
    """

    rules: tuple[Constraint, ...] = ()
    """Rules to restore beside those of the schema."""
    move: Side = "larger"
    """Which of two variables in the wrong order moves: the larger up, or the smaller down."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records, none of which breaks a rule."""
        return restored(data, self.rules, move=self.move).data

    def describe(self) -> str:
        """Say in plain words what was restored."""
        more = f" and of the plan ({', '.join(map(str, self.rules))})" if self.rules else ""
        return f"{self.title}: records that broke a rule of the schema{more} were corrected"


@dataclass(frozen=True)
class Restored:
    """Records that obey the rules, and what it took."""

    data: Microdata
    """The records."""
    broken: dict[str, int]
    """For each rule, how many records broke it."""
    changed: dict[str, int]
    """For each column of a rule, how many values were changed."""


def restored(data: Microdata, rules: Sequence[Any] = (), *, move: Side = "larger") -> Restored:
    """Bring every record within the rules of the schema and the given ones.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit.core.constraints import AtLeast
    >>> data = tacit.Microdata.of(pl.DataFrame({"gross": [5, 3], "net": [4, 4]}))
    >>> result = restored(data, [AtLeast(larger="gross", smaller="net")])
    >>> result.data.frame["gross"].to_list(), result.changed["gross"]
    ([5, 4], 1)
    """
    data.schema.require([c for rule in rules for c in rule.columns])
    types = data.lazy.collect_schema()
    given = {str(r): r for r in (*data.schema.constraints, *rules)}
    active = [rule for rule in given.values() if rule.fits(types)]
    broken = _counts(data, active)
    before = data
    # An indicator may itself be corrected, and then call for another zero: once per rule at most.
    for _ in range(len(active) + 1):
        if not any(_counts(data, active).values()):
            return Restored(data, broken, _changes(before, data, active))
        data = _corrected(data, active, move)
    left = {rule: count for rule, count in _counts(data, active).items() if count}
    raise ProtectionError(
        "the rules contradict each other and cannot all hold",
        got="; ".join(f"{rule}: {count} records" for rule, count in left.items()),
        do="correct the rules or the indicators",
    )


def _counts(data: Microdata, rules: Sequence[Any]) -> dict[str, int]:
    """Count the records that break each rule."""
    if not rules:
        return {}
    sums = [rule.broken().cast(nw.Int64).sum().alias(str(rule)) for rule in rules]
    row = data.lazy.select(sums).collect("polars").rows(named=True)[0]
    return {rule: int(count or 0) for rule, count in row.items()}


def _corrected(data: Microdata, rules: Sequence[Any], move: Side) -> Microdata:
    """Apply all rules once, to the records that break one."""
    names = list(dict.fromkeys(c for rule in rules for c in _ruled(rule)))
    wrong = _where(data, nw.any_horizontal(*(r.broken() for r in rules), ignore_nulls=True))
    part = data.take(np.flatnonzero(wrong))
    values = {name: _numbers(part.local[name]) for name in names}
    low = {name: np.full_like(values[name], -np.inf) for name in names}
    high = {name: np.full_like(values[name], np.inf) for name in names}
    for rule in rules:
        if isinstance(rule, NonNegative):
            low[rule.column][:] = 0.0
        elif isinstance(rule, ZeroWhen):
            zero = _where(part, nw.col(rule.indicator) == rule.equals)
            low[rule.column][zero] = np.maximum(low[rule.column][zero], 0.0)
            high[rule.column][zero] = 0.0
    chains = [rule for rule in rules if isinstance(rule, AtLeast)]
    _hand_on_bounds(chains, values, low, high)
    whole = {name: not part.local[name].dtype.is_float() for name in names}
    fixed = {name: np.clip(values[name], low[name], high[name]) for name in names}
    _order_chains(chains, fixed, whole, move)
    return _with_values(data, wrong, values, fixed)


def _ruled(rule: Any) -> tuple[str, ...]:
    """Return the columns whose values a rule limits."""
    return (rule.column,) if isinstance(rule, NonNegative | ZeroWhen) else tuple(rule.columns)


def _where(data: Microdata, condition: nw.Expr) -> np.ndarray:
    """Return where a condition is true; unknown is not true."""
    flags = data.lazy.select(flag=condition.fill_null(False)).collect("polars")
    return np.asarray(flags["flag"].to_numpy(), dtype=bool)


def _numbers(column: Any) -> np.ndarray:
    """Return a column of numbers or dates as floats; missing values are NaN.

    Long whole numbers need all their digits, hence the widest float the machine has.
    """
    physical = column.to_physical()
    numbers = np.array(physical.fill_null(0).to_numpy(), dtype=np.longdouble)
    numbers[physical.is_null().to_numpy()] = np.nan
    return numbers


def _hand_on_bounds(
    chains: Sequence[AtLeast],
    values: dict[str, np.ndarray],
    low: dict[str, np.ndarray],
    high: dict[str, np.ndarray],
) -> None:
    """Let lower bounds rise and upper bounds sink along the chains, where both values are known."""
    for _ in range(len(chains)):
        for rule in chains:
            larger, smaller = rule.larger, rule.smaller
            known = ~np.isnan(values[larger] + values[smaller])
            low[larger][known] = np.maximum(low[larger], low[smaller])[known]
            high[smaller][known] = np.minimum(high[larger], high[smaller])[known]


def _order_chains(
    chains: Sequence[AtLeast],
    fixed: dict[str, np.ndarray],
    whole: dict[str, bool],
    move: Side,
) -> None:
    """Put the values of each chain in order by moving one side; a whole number stays whole."""
    for _ in range(len(chains)):
        for rule in chains:
            larger, smaller = fixed[rule.larger], fixed[rule.smaller]
            wrong = larger < smaller
            if move == "larger":
                bound = np.ceil(smaller) if whole[rule.larger] else smaller
                larger[wrong] = bound[wrong]
            else:
                bound = np.floor(larger) if whole[rule.smaller] else larger
                smaller[wrong] = bound[wrong]


def _with_values(
    data: Microdata,
    wrong: np.ndarray,
    values: dict[str, np.ndarray],
    fixed: dict[str, np.ndarray],
) -> Microdata:
    """Write the values that moved; all others keep their type and last digit."""
    import polars as pl

    table, rows = data.local, np.flatnonzero(wrong)
    for name, new in fixed.items():
        moved = (new != values[name]) & ~np.isnan(new)
        if not moved.any():
            continue
        column = table[name]
        physical = column.to_physical().clone()
        kind = np.float64 if physical.dtype.is_float() else np.int64
        replaced = pl.Series(new[moved].astype(kind)).cast(physical.dtype)
        table = table.with_columns(
            physical.scatter(rows[moved], replaced).cast(column.dtype).alias(name)
        )
    return data.with_local(table)


def _changes(before: Microdata, after: Microdata, rules: Sequence[Any]) -> dict[str, int]:
    """Count the values that differ in the columns that rules limit."""
    names = dict.fromkeys(c for rule in rules for c in _ruled(rule))
    return {name: int((before.local[name].ne_missing(after.local[name])).sum()) for name in names}

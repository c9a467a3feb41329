"""Edit rules of the schema, kept by methods that would break them.

A method that moves numbers brings the values it has changed back within the rules; a method that
swaps them makes only exchanges after which both records obey.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.frame import collect
from tacit.core.method import Columns
from tacit.core.replacing import as_one

Side = Literal["larger", "smaller"]


class RuleKeepingMask(Mask):
    """A method whose result is brought back within the edit rules of the schema."""

    columns: Columns
    """Numeric variables masked together."""
    keep_rules: bool = True
    """Bring values that would break an edit rule of the schema back within it, as little as will
    do; the rules come before anything else that the method keeps."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the masked records, which obey the rules of the schema."""
        masked = self._masked(data, rng)
        return within_rules(masked, self._movable) if self.keep_rules else masked

    @property
    def _movable(self) -> Sequence[str]:
        """The columns whose values may move."""
        return self.columns

    @abstractmethod
    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the masked records, whether they obey or not."""


def within_rules(data: Microdata, movable: Sequence[str]) -> Microdata:
    """Move values of some columns no farther than the rules of the schema demand.

    Where no value of these columns obeys, because of the values of others, it is blanked: a missing
    value breaks no rule.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit.core.constraints import AtLeast
    >>> data = tacit.Microdata.of(pl.DataFrame({"gross": [5.0, 3.0], "net": [4.0, 4.0]}))
    >>> data = data.with_constraints(AtLeast(larger="gross", smaller="net"))
    >>> within_rules(data, ["net"]).frame["net"].to_list()
    [4.0, 3.0]
    """
    rules = speaking_of(data, movable)
    for _ in range(len(rules)):  # an indicator that moves may call for another zero
        if not any(broken_counts(data, rules).values()):
            return data
        data = corrected(data, rules, "larger", movable)
    blanks = {name: np.zeros(data.n_records, dtype=bool) for name in movable}
    for rule in rules:
        broken = where(data, rule.broken())
        for name in set(rule.columns) & set(movable):
            blanks[name] |= broken
    return data.with_missing({name: mask for name, mask in blanks.items() if mask.any()})


# -- which rules ----------------------------------------------------------------------------------


def fitting(data: Microdata, rules: Iterable[Any]) -> list[Any]:
    """Return the rules that columns of these types can keep or break, each once."""
    types = data.lazy.collect_schema()
    return [rule for rule in {str(r): r for r in rules}.values() if rule.fits(types)]


def speaking_of(data: Microdata, columns: Iterable[str]) -> list[Any]:
    """Return the rules of the schema that these columns can break."""
    names = set(columns)
    return fitting(data, (r for r in data.schema.constraints if names & set(r.columns)))


def ruled_columns(rules: Sequence[Any]) -> list[str]:
    """Return the columns whose values the rules limit; an indicator is not limited."""
    limited = ((r.column,) if isinstance(r, NonNegative | ZeroWhen) else r.columns for r in rules)
    return list(dict.fromkeys(name for names in limited for name in names))


def broken_counts(data: Microdata, rules: Sequence[Any]) -> dict[str, int]:
    """Count the records that break each rule."""
    if not rules:
        return {}
    sums = [as_one(rule.broken()).sum().alias(str(rule)) for rule in rules]
    row = data.lazy.select(sums).collect("polars").rows(named=True)[0]
    return {rule: int(count or 0) for rule, count in row.items()}


def where(data: Microdata, condition: nw.Expr) -> np.ndarray:
    """Return where a condition is true; unknown is not true."""
    flags = collect(data.lazy.select(flag=condition.fill_null(False)))
    return np.asarray(flags["flag"].to_numpy(), dtype=bool)


# -- bounds ---------------------------------------------------------------------------------------

Values = dict[str, np.ndarray]


def corrected(
    data: Microdata, rules: Sequence[Any], move: Side, movable: Sequence[str] | None = None
) -> Microdata:
    """Apply all rules once, to the records that break one; only `movable` columns move."""
    names = ruled_columns(rules)
    free = {name for name in names if movable is None or name in movable}
    wrong = where(data, nw.any_horizontal(*(r.broken() for r in rules), ignore_nulls=True))
    part = data.take(np.flatnonzero(wrong))
    values = {name: numbers(part.local[name]) for name in names}
    low, high = bounds(part, rules, values, free)
    fixed = {name: values[name].copy() for name in names}
    for name in free:
        fixed[name] = np.clip(values[name], low[name], high[name])
    whole = {name: not part.local[name].dtype.is_float() for name in names}
    _order_chains(rules, fixed, whole, move, free)
    return _with_values(data, wrong, values, fixed)


def bounds(
    data: Microdata, rules: Sequence[Any], values: Values, free: Iterable[str]
) -> tuple[Values, Values]:
    """Return the lowest and highest value of each column that the rules allow on each record.

    Columns that are not free stay at their values, and limit the others.
    """
    stays = {name: name not in free for name in values}
    low = {n: np.where(stays[n] & ~np.isnan(v), v, -np.inf) for n, v in values.items()}
    high = {n: np.where(stays[n] & ~np.isnan(v), v, np.inf) for n, v in values.items()}
    for rule in rules:
        if isinstance(rule, NonNegative):
            low[rule.column] = np.maximum(low[rule.column], 0.0)
        elif isinstance(rule, ZeroWhen):
            zero = where(data, nw.col(rule.indicator) == rule.equals)
            low[rule.column][zero] = np.maximum(low[rule.column][zero], 0.0)
            high[rule.column][zero] = 0.0
    chains = [rule for rule in rules if isinstance(rule, AtLeast)]
    _hand_on_bounds(chains, values, low, high)
    return low, high


def numbers(column: Any) -> np.ndarray:
    """Return a column of numbers or dates as floats; missing values are NaN.

    Long whole numbers need all their digits, hence the widest float the machine has.
    """
    physical = column.to_physical()
    floats = np.array(physical.fill_null(0).to_numpy(), dtype=np.longdouble)
    floats[physical.is_null().to_numpy()] = np.nan
    return floats


def _hand_on_bounds(chains: Sequence[AtLeast], values: Values, low: Values, high: Values) -> None:
    """Let lower bounds rise and upper bounds sink along the chains, where both values are known."""
    for _ in range(len(chains)):
        for rule in chains:
            larger, smaller = rule.larger, rule.smaller
            known = ~np.isnan(values[larger] + values[smaller])
            low[larger][known] = np.maximum(low[larger], low[smaller])[known]
            high[smaller][known] = np.minimum(high[larger], high[smaller])[known]


def _order_chains(
    rules: Sequence[Any], fixed: Values, whole: dict[str, bool], move: Side, free: set[str]
) -> None:
    """Put the values of each chain in order by moving one side; a whole number stays whole."""
    chains = [rule for rule in rules if isinstance(rule, AtLeast)]
    for _ in range(len(chains)):
        for rule in chains:
            larger, smaller = fixed[rule.larger], fixed[rule.smaller]
            wrong = larger < smaller
            lifts = rule.larger in free and (move == "larger" or rule.smaller not in free)
            if lifts:
                bound = np.ceil(smaller) if whole[rule.larger] else smaller
                larger[wrong] = bound[wrong]
            elif rule.smaller in free:
                bound = np.floor(larger) if whole[rule.smaller] else larger
                smaller[wrong] = bound[wrong]


def _with_values(data: Microdata, wrong: np.ndarray, values: Values, fixed: Values) -> Microdata:
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


# -- exchanges ------------------------------------------------------------------------------------


def swapped_within_rules(data: Microdata, columns: Sequence[str], source: np.ndarray) -> np.ndarray:
    """Take back the exchanges after which a record would break a rule that it kept before.

    Parameters
    ----------
    data
        The records before the exchange.
    columns
        The columns that are exchanged.
    source
        For each record the one whose values it receives; two records give to each other.
    """
    rules = speaking_of(data, columns)
    if not rules:
        return source
    anything = nw.any_horizontal(*(r.broken() for r in rules), ignore_nulls=True)
    table = data.local
    after = data.with_local(table.with_columns(table[c][source].alias(c) for c in columns))
    spoilt = where(after, anything) & ~where(data, anything)
    back = spoilt | spoilt[source]
    return np.where(back, np.arange(len(source)), source)

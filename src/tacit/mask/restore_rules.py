"""Bringing records back within the edit rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.constraints import Constraint
from tacit.core.data import Microdata
from tacit.core.errors import ProtectionError
from tacit.core.families import Mask
from tacit.mask._edit_rules import Side, broken_counts, corrected, fitting, ruled_columns

__all__ = ["Restored", "restored"]


class RestoreRules(
    Mask,
    key="restore-rules",
    title="Restoring the edit rules",
    cites=("fellegi1976", "hundepool2012"),
    example={
        "rules": [{"rule": "zero_when", "column": "hours", "indicator": "sex", "equals": "male"}]
    },
):
    r"""Bring records that break an edit rule back within it, whatever broke it.

    Negative incomes and taxes above the income look false, and tell a user how much noise there is.
    Noise, swapping, shuffling and resampling keep the rules of the schema themselves unless told
    otherwise (``keep_rules``); this step is for all others, and for rules that only the plan knows.
    Values move no farther than a rule demands, and records that obey are
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
    >>> noise = mask.UncorrelatedNoise(columns=["income", "taxes"], keep_rules=False)
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
    active = fitting(data, (*data.schema.constraints, *rules))
    broken = broken_counts(data, active)
    before = data
    # An indicator may itself be corrected, and then call for another zero: once per rule at most.
    for _ in range(len(active) + 1):
        if not any(broken_counts(data, active).values()):
            return Restored(data, broken, _changes(before, data, active))
        data = corrected(data, active, move)
    left = {rule: count for rule, count in broken_counts(data, active).items() if count}
    raise ProtectionError(
        "the rules contradict each other and cannot all hold",
        got="; ".join(f"{rule}: {count} records" for rule, count in left.items()),
        do="correct the rules or the indicators",
    )


def _changes(before: Microdata, after: Microdata, rules: Sequence[Any]) -> dict[str, int]:
    """Count the values that differ in the columns that rules limit."""
    names = ruled_columns(rules)
    return {name: int((before.local[name].ne_missing(after.local[name])).sum()) for name in names}

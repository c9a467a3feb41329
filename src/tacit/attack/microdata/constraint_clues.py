"""Constraint clues: impossible records show where values were changed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import MicrodataTarget
from tacit.core.common_scale import common_codes


class ConstraintClues(
    Attack,
    key="constraint-clues",
    title="Clues from broken edit rules",
    cites=("domingoferrer2007", "shlomo2008"),
):
    r"""Tell changed records from true ones by the edit rules that they break.

    Missing values: a gap breaks no rule. Weights: not used. Households: not considered.

    Notes
    -----
    Everybody knows that taxes do not exceed income and that children are not married. A released
    record that breaks such a rule was changed, and within bounds that the rule gives; the others
    are then more likely true [shlomo2008]_. Success is the share of records that the intruder
    rightly calls changed (those that break a rule) or true (all others); guessing calls all of
    them what most are.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(1000)
    >>> release = tacit.Plan([mask.RankSwap(columns=["income"], p=5)]).apply(data, seed=1)
    >>> attack.ConstraintClues().run(release).success.n
    1000
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Mask with keep_rules, or repair the records afterwards (mask.RestoreRules)."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no rules, or that records do not correspond."""
        if not target.original.schema.constraints:
            return "the data have no edit rules"
        return None if target.has_own_records else "no released record is that of a person"

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Call records changed that break a rule."""
        at, to = target.matched
        columns = sorted({c for r in target.original.schema.constraints for c in r.columns})
        changed = np.zeros(len(at), dtype=bool)
        for name in columns:
            if name in target.released.schema:
                one, two = common_codes(target.original.local[name], target.released.local[name])
                changed |= one[at] != two[to]
        ruled = target.released.with_schema(
            target.released.schema.replace(constraints=_usable(target))
        )
        broken = np.zeros(target.released.n_records, dtype=bool)
        for flags in ruled.breaking_records().values():
            broken |= flags
        calls = broken[to]
        right = calls == changed
        guess = changed == (changed.mean() > 0.5)
        return Outcome(
            hits=right.astype(float), guesses=guess.astype(float), unit="record",
            question="Tell changed records from true ones by the rules they break",
            positions=at,
            worst=f"{int((calls & changed).sum()):,} records are recognised as changed",
            details={"broken": int(calls.sum()), "changed": int(changed.sum())},
        )  # fmt: skip


def _usable(target: MicrodataTarget) -> tuple[object, ...]:
    """Return the rules about columns that the release still has, with types that fit."""
    types = target.released.lazy.collect_schema()
    return tuple(
        rule
        for rule in target.original.schema.constraints
        if all(c in types for c in rule.columns) and rule.fits(types)
    )

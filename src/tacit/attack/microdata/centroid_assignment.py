"""Centroid assignment: linkage by somebody who knows that records were microaggregated."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._links import linked_outcome, unlinked
from tacit.attack.target import MicrodataTarget
from tacit.core.families import Mask
from tacit.core.schema import Kind

_TOGETHER = (
    *("mdav", "v-mdav", "partitioned-mdav", "refined-microaggregation"),
    *("clustered-microaggregation", "projected-microaggregation", "mixed-mdav"),
)
_ONE_BY_ONE = ("individual-ranking",)


class CentroidAssignment(
    Attack,
    key="centroid-assignment",
    title="Centroid assignment after microaggregation",
    cites=("nin2008b",),
):
    r"""Find people by the groups that their values must have been averaged in.

    Missing values: a block in which a person or record has a gap excludes nothing. Weights: not
    used. Households: records are linked one by one.

    Notes
    -----
    Microaggregation puts a record into the group with the nearest centroid, block of columns by
    block [nin2008b]_. The candidates for a person are the records that lie in the nearest group of
    every block at once; blocks of single columns (individual ranking) leave few. Guessing picks a
    record blindly.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(500)
    >>> columns = ["age", "hours", "income", "taxes"]
    >>> release = tacit.Plan([mask.IndividualRanking(columns=columns, k=3)]).apply(data, seed=1)
    >>> attack.CentroidAssignment().run(release).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Microaggregate all columns an intruder knows together, in one block, with a larger k."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that nothing was microaggregated, or that the intruder does not know."""
        if not knowledge.method:
            return "the intruder does not know the method"
        blocks = _blocks(target, knowledge)
        return unlinked(target, blocks[0]) if blocks else "no numbers were microaggregated"

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Intersect the nearest groups of all blocks."""
        from tacit import risk

        blocks = _blocks(target, knowledge)
        file, covered = knowledge.external(target.original)
        found = risk.MicroaggregationLinkage(blocks=blocks).measure(file, target.released)
        chosen = np.flatnonzero(covered & np.isin(np.arange(len(file)), target.matched[0]))
        names = [name for block in blocks for name in block]
        return linked_outcome(
            target, np.asarray(found.per_unit), chosen, names,
            question=f"Find people by the groups in which {', '.join(names)} were averaged",
            details={"blocks": blocks}, warnings=found.warnings,
        )  # fmt: skip


def _blocks(target: MicrodataTarget, knowledge: Knowledge) -> list[list[str]]:
    """Return the sets of numbers that were averaged together, as far as the intruder has them."""
    found: list[list[str]] = []
    for step in target.steps_of(*_TOGETHER, *_ONE_BY_ONE):
        names = [n for n in _columns(step) if _is_number(target, n)]
        if knowledge.columns:
            names = [n for n in names if n in knowledge.columns]
        found += [[n] for n in names] if step.key in _ONE_BY_ONE else [names]
    return [block for block in found if block]


def _columns(step: Mask) -> list[str]:
    return list(getattr(step, "columns", None) or ())


def _is_number(target: MicrodataTarget, name: str) -> bool:
    both = (target.original.schema, target.released.schema)
    return all(name in s and s[name].kind is Kind.NUMERIC for s in both)

"""The minimality attack: what it tells that keys were not coarsened more than needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._claims import Classes, claimed_outcome, classes_of, no_claims
from tacit.attack.target import MicrodataTarget
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids

_MOST_PARTS = 3
"""Classes made of more original groups are left out: the effect is small, the sums are many."""


class Minimality(
    Attack,
    key="minimality",
    title="Minimality attack",
    cites=("wong2007",),
):
    r"""Conclude from the coarsening of a class which of its parts needed it.

    Missing values: a gap is a category of its own. Weights: not used. Households: not considered.

    Notes
    -----
    A method that coarsens keys only where too many people of a group share a sensitive value tells
    by coarsening that this was so [wong2007]_. A class of :math:`m` sensitive records and parts of
    :math:`n_1, \dots, n_p` people, known from the intruder's file, has :math:`x_j` of them in part
    :math:`j` with hypergeometric weight :math:`\prod_j \binom{n_j}{x_j}`; the intruder keeps the
    allocations in which some part breaks :math:`x_j / n_j \le 1/l` and claims the value where
    :math:`E[x_j] / n_j` exceeds one half. Guessing claims by the share of the class, which the
    release shows by design.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(500).with_roles(confidential=["employed"])
    >>> release = tacit.Plan([mask.Mondrian(k=5)]).apply(data, seed=1)
    >>> attack.audit(release, attacks=[attack.Minimality()]).left_out["minimality"]
    'the coarsening does not depend on confidential values'
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Use a method whose classes do not depend on confidential values, or one that coarsens "
        "more than needed at random."
    )

    diversity: Annotated[float, Ge(1)] | None = None
    """The l that each class must meet; taken from the plan where it is known."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that the classes do not depend on what is confidential."""
        if not knowledge.method:
            return "the intruder does not know the method"
        if self._limit(target) is None:
            return "the coarsening does not depend on confidential values"
        names = knowledge.attributes(target.original, target.released)
        return no_claims(target, names, target.confidential())

    def _limit(self, target: MicrodataTarget) -> float | None:
        """Return the diversity that made the classes; plain files need it said."""
        if target.steps is None:
            return self.diversity
        asked = [float(given) for step in target.steps if (given := _diversity(step)) > 1]
        return max(asked, default=None)

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Claim values in the parts that must have needed the coarsening."""
        names = knowledge.attributes(target.original, target.released)
        limit = float(self._limit(target) or 2.0)
        parts = []
        for column in target.confidential():
            made = classes_of(target, target.released, names, column)
            if made.n_values <= 50:
                part_of, _ = group_ids(encode(target.original, names))
                parts.append((column, *_claims(made, part_of, limit)))
        if not parts:
            parts = [("", *(np.empty(0),) * 3)]
        question = "Learn confidential values from where the keys had to be coarsened"
        return claimed_outcome(target, parts, question, diversity=limit)


def _diversity(step: Mask) -> float:
    given = getattr(step, "diversity", None)
    return float(given) if isinstance(given, int | float) else 0.0


def _claims(
    made: Classes, part_of: np.ndarray, limit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the people claimed about, whether rightly, and whether the class alone told it."""
    people, right, guessed = [], [], []
    for members in _coarse_classes(made, part_of):
        persons = made.person[members]
        parts, sizes = np.unique(part_of[persons], return_counts=True)
        values, counts = np.unique(made.value[members], return_counts=True)
        # A value that breaks the limit in the whole class is not what the coarsening was for.
        kept = counts * limit <= len(members) + 1e-9
        for value, m in zip(values[kept], counts[kept], strict=True):
            believed = _believed(sizes, int(m), limit)
            strong = parts[believed > 0.5]
            chosen = persons[np.isin(part_of[persons], strong)]
            if len(chosen):
                people.append(chosen)
                right.append(made.truth[chosen] == value)
                guessed.append(np.full(len(chosen), m / len(members)))
    if not people:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    return np.concatenate(people), np.concatenate(right), np.concatenate(guessed)


def _coarse_classes(made: Classes, part_of: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the released records of classes that join a few original groups."""
    real = np.flatnonzero(made.person >= 0)
    order = real[np.argsort(made.class_of[real], kind="stable")]
    starts = np.flatnonzero(np.r_[True, np.diff(made.class_of[order]) > 0])
    for members in np.split(order, starts[1:]):
        if 1 < len(np.unique(part_of[made.person[members]])) <= _MOST_PARTS:
            yield members


def _believed(sizes: np.ndarray, m: int, limit: float) -> np.ndarray:
    """Return the share of sensitive people in each part, given that some part broke the limit."""
    from scipy.special import gammaln

    grids = np.meshgrid(*(np.arange(min(n, m) + 1) for n in sizes), indexing="ij")
    x = np.stack([grid.ravel() for grid in grids], axis=1)
    x = x[x.sum(axis=1) == m]
    broken = (x * limit > sizes + 1e-9).any(axis=1)
    if not broken.any():
        return np.full(len(sizes), m / sizes.sum())
    x = x[broken]
    weight = (gammaln(sizes + 1) - gammaln(x + 1) - gammaln(sizes - x + 1)).sum(axis=1)
    share = np.exp(weight - weight.max())
    return np.asarray((share / share.sum()) @ x / sizes)

"""The similarity attack: classes whose confidential numbers lie close together."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._claims import claimed_outcome, no_claims
from tacit.attack.target import MicrodataTarget
from tacit.core.keys import encode, group_ids
from tacit.core.schema import Kind


class Similarity(
    Attack,
    key="similarity",
    title="Similarity attack",
    cites=("li2007",),
):
    r"""Learn a confidential number within a narrow range that a whole class shares.

    Missing values: a class with a gap allows no claim. Weights: not used. Households: not
    considered.

    Notes
    -----
    Different values may still be alike [li2007]_: if the numbers of a class span less than
    `width` standard deviations, an intruder claims that range. Success is the share of claims
    that hold for the original value; guessing claims the range of the same width that holds most
    released values.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> data = tacit.datasets.census(500)
    >>> attack.Similarity().run((data, data)).success.value
    1.0
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = "Ask for spread inside classes: t-closeness, or larger classes."

    width: Annotated[float, Gt(0)] = 0.2
    """Widest range that tells something, in standard deviations of the released values."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no keys or no confidential number."""
        names = knowledge.attributes(target.original, target.released)
        return no_claims(target, names, _numbers(target))

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Claim the range of every class that is narrow."""
        names = knowledge.attributes(target.original, target.released)
        class_of, n_classes = group_ids(encode(target.released, names))
        rows = target.pair.rows
        person = np.arange(len(class_of)) if rows is None else rows
        parts = []
        for column in _numbers(target):
            value = target.released.numeric([column])[:, 0]
            truth = target.original.numeric([column])[:, 0]
            low, high = _ranges(value, class_of, n_classes)
            limit = self.width * float(np.nanstd(value))
            claimed = (high - low <= limit)[class_of] & (person >= 0)
            people = person[claimed]
            low, high = low[class_of][claimed], high[class_of][claimed]
            right = (truth[people] >= low) & (truth[people] <= high)
            guess_low, guess_high = _densest(value, limit)
            guessed = (truth[people] >= guess_low) & (truth[people] <= guess_high)
            parts.append((column, people, right, guessed))
        question = f"Learn confidential numbers within {self.width:g} standard deviations"
        return claimed_outcome(target, parts, question, width=self.width)


def _numbers(target: MicrodataTarget) -> list[str]:
    return [c for c in target.confidential() if target.pair.kinds(c) == {Kind.NUMERIC}]


def _ranges(
    value: np.ndarray, class_of: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest value of each class; infinitely apart where one is missing."""
    gap = np.isnan(value)
    low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
    np.minimum.at(low, class_of, np.where(gap, -np.inf, value))
    np.maximum.at(high, class_of, np.where(gap, np.inf, value))
    return low, high


def _densest(value: np.ndarray, width: float) -> tuple[float, float]:
    """Return the range of a width that holds most values."""
    ordered = np.sort(value[~np.isnan(value)])
    if not len(ordered):
        return np.nan, np.nan
    inside = np.searchsorted(ordered, ordered + width, side="right") - np.arange(len(ordered))
    start = float(ordered[np.argmax(inside)])
    return start, start + width

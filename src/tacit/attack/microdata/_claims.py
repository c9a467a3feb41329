"""Claims: what an intruder is sure of, counted against the truth and against guessing.

An intruder who finds a class of records with one confidential value claims that everybody in it
has it. Claims are compared with the original values, so that a release whose keys or values were
changed makes claims wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.attack.finding import Outcome
from tacit.attack.microdata._affected import affected_groups
from tacit.attack.target import MicrodataTarget
from tacit.core.common_scale import common_codes
from tacit.core.data import Microdata
from tacit.core.keys import encode, group_ids


@dataclass(frozen=True)
class Classes:
    """Released records that are equal on what an intruder knows, with one confidential column."""

    class_of: np.ndarray
    """Class of each released record."""
    value: np.ndarray
    """Confidential value of each released record, coded; -1 where missing."""
    truth: np.ndarray
    """True value of each original record, in the same codes."""
    person: np.ndarray
    """Original record of each released one; -1 for a simulated one."""

    @property
    def n_values(self) -> int:
        """Number of codes."""
        return int(max(self.value.max(initial=-1), self.truth.max(initial=-1))) + 1

    @property
    def shares(self) -> np.ndarray:
        """Share of each value in the release, which is what guessing goes by."""
        counts = np.bincount(self.value[self.value >= 0], minlength=max(self.n_values, 1))
        return np.asarray(counts / max(counts.sum(), 1))

    def distinct(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return for each class its number of distinct values, the least and the largest."""
        n_classes = int(self.class_of.max(initial=-1)) + 1
        pairs = np.unique(self.class_of * (self.n_values + 1) + self.value + 1)
        number = np.bincount(pairs // (self.n_values + 1), minlength=n_classes)
        low = np.full(n_classes, np.iinfo(np.int64).max)
        high = np.full(n_classes, -2)
        np.minimum.at(low, self.class_of, self.value)
        np.maximum.at(high, self.class_of, self.value)
        return number, low, high


def classes_of(
    target: MicrodataTarget, released: Microdata, names: Sequence[str], column: str
) -> Classes:
    """Group a release by what the intruder knows, and code a confidential column."""
    class_of, _ = group_ids(encode(released, list(names)))
    truth, value = common_codes(target.original.local[column], released.local[column])
    rows = released.rows
    person = np.arange(released.n_records) if rows is None else rows
    return Classes(class_of, value, truth, person)


def no_claims(target: MicrodataTarget, names: Sequence[str], columns: Sequence[str]) -> str | None:
    """Say why nothing can be claimed."""
    if not names:
        return "the release has no column that the intruder knows"
    if not columns:
        return "the release has no confidential column"
    return None if target.has_own_records else "no released record is that of a person"


def claimed_outcome(
    target: MicrodataTarget,
    parts: Sequence[tuple[str, np.ndarray, np.ndarray, np.ndarray]],
    question: str,
    **details: Any,
) -> Outcome:
    """Return claims of several columns: name, people, whether right, whether guessed right."""
    people = np.concatenate([p for _, p, _, _ in parts]).astype(np.int64)
    right = np.concatenate([r for _, _, r, _ in parts]).astype(float)
    guessed = np.concatenate([g for _, _, _, g in parts]).astype(float)
    n_people = len(np.unique(people))
    sure = len(np.unique(people[right > 0.5]))
    return Outcome(
        hits=right, guesses=guessed, question=question, unit="claim", positions=people,
        worst=f"claims about {n_people:,} people, right about {sure:,} of them",
        details={
            **details,
            "claims": {name: len(p) for name, p, _, _ in parts},
            "people_claimed": n_people,
            "share_of_people": n_people / max(target.original.n_records, 1),
            "affected": affected_groups(target.original, people, right > 0.5),
        },
    )  # fmt: skip

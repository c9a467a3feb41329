"""Labels that stand for several values, as in a generalisation that differs from box to box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_MOST_WORDS = 1 << 23
"""Words of bits that are held at a time: 64 MiB."""
_BITS = 64


@dataclass(frozen=True)
class Labels:
    """Which values each label stands for: those that were released under it."""

    values: np.ndarray
    """Values, in order."""
    starts: np.ndarray
    """Where the values of each label start among `members`."""
    members: np.ndarray
    """Positions in `values` of the values of each label, label by label."""

    @classmethod
    def of(cls, old: np.ndarray, new: np.ndarray) -> Labels:
        """Find the values of labels from the records that correspond."""
        width = int(old.max(initial=0)) + 1
        label, value = np.divmod(np.unique(new * width + old), width)
        values, members = np.unique(value, return_inverse=True)
        n_labels = int(label.max(initial=-1)) + 1
        starts = np.searchsorted(label, np.arange(n_labels + 1))
        return cls(values, starts, np.asarray(members, dtype=np.int64).reshape(-1))

    def places(self, codes: np.ndarray) -> np.ndarray:
        """Return the position of each value, -1 for one that was never released."""
        found = np.searchsorted(self.values, codes).clip(0, max(len(self.values) - 1, 0))
        known = self.values[found] == codes if len(self.values) else np.zeros(len(codes), bool)
        return np.where(known, found, -1)

    def cover(self, values: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Say of each value and the label beside it whether the label stands for the value."""
        width = len(self.values)
        of_label = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        known, asked = of_label * width + self.members, self.places(values)
        is_label = (labels >= 0) & (labels < len(self.starts) - 1) & (asked >= 0)
        return is_label & np.isin(labels * width + asked, known)


def covered_totals(
    targets: tuple[np.ndarray, np.ndarray, np.ndarray],
    records: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: np.ndarray,
    labels: Sequence[Labels],
    factors: np.ndarray,
) -> np.ndarray:
    """Sum, for each target, the weights of its group's records whose labels cover its values.

    Each side is given by groups, codes of the fields with labels, and places of near fields.
    """
    from tacit.risk._membership_kernel import add_totals, fill

    (groups, values, near), (of_records, codes, places) = targets, records
    order = np.argsort(of_records, kind="stable")
    low = np.searchsorted(of_records[order], groups)
    high = np.searchsorted(of_records[order], groups, side="right")
    first_rows = np.cumsum([0, *(len(field.values) for field in labels)])
    rows = np.column_stack([field.places(values[:, c]) for c, field in enumerate(labels)])
    rows = np.where(rows >= 0, rows + first_rows[:-1], -1)
    totals = np.zeros(len(groups))
    size = _BITS * max(1, min(-(-len(order) // _BITS), _MOST_WORDS // max(1, first_rows[-1])))
    for start in range(0, len(order), size):
        part = order[start : start + size]
        bits = np.zeros((first_rows[-1], -(-len(part) // _BITS)), dtype=np.uint64)
        for c, field in enumerate(labels):
            known = np.where(codes[part, c] < len(field.starts) - 1, codes[part, c], -1)
            fill(bits, known, field.starts, field.members, first_rows[c])
        first, last = (np.clip(end - start, 0, len(part)) for end in (low, high))
        add_totals(
            totals, bits, rows, first, last, np.ascontiguousarray(near),
            np.ascontiguousarray(places[part]), weights[part], factors,
        )  # fmt: skip
    return totals

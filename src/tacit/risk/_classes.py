"""Classes of records with the same keys, and the confidential values inside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.hierarchy import Tree
from tacit.core.keys import encode, group_ids
from tacit.core.pairing import pair
from tacit.core.schema import Kind, Variable
from tacit.risk._released_keys import ReleasedKeys, objection_without_keys, released_keys


@dataclass(frozen=True)
class Classes:
    """For one confidential column: the counts of its values in each class, sparse."""

    column: str
    class_of: np.ndarray
    """Class of each record."""
    starts: np.ndarray
    """Where the cells of each class begin."""
    values: np.ndarray
    """Value of each cell, numbered in the order of the values; a gap is the lowest value."""
    counts: np.ndarray
    """Records of each cell."""
    q: np.ndarray
    """Share of each value in the whole file."""
    labels: list[str]
    """The values."""
    variable: Variable
    has_gap: bool
    """Whether the first value stands for a gap."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.starts) - 1

    def per_record(self, per_class: np.ndarray) -> np.ndarray:
        """Give each record the number of its class."""
        return np.asarray(per_class[self.class_of])


def classes(
    original: Any,
    release: Any,
    keys: Sequence[str] | None,
    confidential: Sequence[str] | None,
    *,
    by: str,
) -> tuple[ReleasedKeys, list[Classes]]:
    """Group the release (or the original alone) once, and count each confidential column."""
    found = released_keys(original, release, keys, by=by)
    both = pair(original, release)
    data = both.released
    names = list(confidential) if confidential else both.original.schema.confidential
    names = [n for n in names if n in data.schema or confidential]
    if not names:
        raise DataError(
            f"{by}: no confidential column is in the release",
            do="name some with with_roles(confidential=[...])",
        )
    data.schema.require(names)
    class_of, n_classes = group_ids(found.codes)
    return found, [_counted(data, name, class_of, n_classes) for name in names]


def _counted(data: Microdata, name: str, class_of: np.ndarray, n_classes: int) -> Classes:
    codes, labels = _ordered_codes(data, name)
    packed = class_of * len(labels) + codes
    cells, counts = np.unique(packed, return_counts=True)
    starts = np.searchsorted(cells, np.arange(n_classes + 1) * len(labels))
    q = np.bincount(codes, minlength=len(labels)) / len(codes)
    return Classes(
        name, class_of, starts, cells % len(labels), counts.astype(float), q, labels,
        data.schema[name], bool(data.local[name].has_nulls()),
    )  # fmt: skip


def _ordered_codes(data: Microdata, name: str) -> tuple[np.ndarray, list[str]]:
    """Return a number for each value in their own order, a gap first if there is one."""
    codes = encode(data, [name])[:, 0].astype(np.int64)
    present = data.local[name].drop_nulls().unique().sort().to_list()
    variable = data.schema[name]
    if variable.categories is not None:
        place = {c: i for i, c in enumerate(variable.categories)}
        order = sorted(range(len(present)), key=lambda i: place.get(str(present[i]), len(place)))
        rank = np.empty(len(present), dtype=np.int64)
        rank[order] = np.arange(len(present))
        codes = np.where(codes >= 0, rank[codes], -1) if len(present) else codes
        present = [present[i] for i in order]
    labels = [str(value) for value in present]
    if (codes < 0).any():
        return codes + 1, ["", *labels]
    return codes, labels


def tree_levels(found: Classes) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the tree over the values: node above each node, starts of the levels, height."""
    hierarchy = found.variable.hierarchy
    if not isinstance(hierarchy, Tree):
        raise DataError(
            f"the hierarchical distance needs a tree for {found.column!r}",
            do="attach one with with_hierarchies",
        )
    paths = {path[0]: path for path in hierarchy.paths}
    unknown = [label for label in found.labels if label and label not in paths]
    if unknown:
        raise DataError(f"{unknown[0]!r} is not in the hierarchy of {found.column!r}")
    top = next(iter(paths.values()))[-1]
    rows = [paths.get(label, ("", *[top] * (hierarchy.n_levels - 1))) for label in found.labels]
    starts, parents = [0, len(rows)], []
    below: list[tuple[str, ...]] = [(label,) for label in found.labels]
    for level in range(1, hierarchy.n_levels):
        # A node is told apart by all labels above it, so that equal names do not merge.
        above = [tuple(row[level:]) for row in rows]
        numbers = {node: starts[-1] + i for i, node in enumerate(dict.fromkeys(above))}
        joined = dict(zip(below, above, strict=True))
        parents += [numbers[joined[node]] for node in dict.fromkeys(below)]
        starts.append(starts[-1] + len(numbers))
        below = above
    parents += [-1] * (starts[-1] - starts[-2])
    return np.array(parents), np.array(starts), hierarchy.n_levels - 1


def known_cells(found: Classes) -> tuple[np.ndarray, np.ndarray]:
    """Return where the cells of each class begin, and their counts, without those of the gap.

    A missing confidential value tells nobody a value, so it is none.
    """
    if not found.has_gap:
        return found.starts, found.counts
    is_known = found.values != 0
    before = np.concatenate([[0], np.cumsum(is_known)])
    return before[found.starts], found.counts[is_known]


def is_ordered(variable: Variable) -> bool:
    """Whether the values have an order."""
    return variable.kind in (Kind.NUMERIC, Kind.ORDINAL, Kind.DATE)


def objection(original: Microdata, keys: Sequence[str] | None, confidential: Any) -> str | None:
    """Say that keys or confidential columns are missing."""
    if not confidential and not original.schema.confidential:
        return "no column has the role of a confidential one"
    return objection_without_keys(original, keys)


def class_sizes(found: Classes) -> np.ndarray:
    """Return the number of records of each class."""
    return np.bincount(found.class_of, minlength=found.n_classes)

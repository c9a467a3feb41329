"""Where the risk sits: the groups of records at risk, and the keys that put them there.

A group is named by one or two keys and holds at least `FEWEST` records, so that no line of the
report describes a single record.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.keys import encode, encode_series, frequencies, group_ids
from tacit.core.measurement import Measurement
from tacit.core.release import Release
from tacit.core.schema import Kind
from tacit.core.scorecard import Scorecard
from tacit.report import _bins
from tacit.report._cards import measurement_of
from tacit.report._tally import MISSING, SMALLEST_GROUP, short

FEWEST = 5
"""Smaller groups of records are never named."""
MOST_GROUPS = 6
_MOST_LABELS = 60
"""Keys with more categories than this make no groups."""
_MOST_KEYS = 12
_MUCH = 1.2
"""A group is named if its risk is at least this many times that of the file, or half way to 1."""


@dataclass(frozen=True)
class RiskyGroup:
    """Records that share one or two keys, and how exposed they are."""

    name: str
    records: int
    alone: int
    """Records that are alone with all their keys."""
    risk: float
    """Average of one over the number of records that share a record's keys."""


@dataclass(frozen=True)
class KeyEffect:
    """What one key contributes to the number of records that are alone."""

    name: str
    without: int
    """Records that would be alone if this key were not released."""
    fewer: float
    """By which share of them their number would fall."""
    suda: float | None
    """The key's part in the special uniques, where they were measured."""


@dataclass(frozen=True)
class Worst:
    """Where the risk of a release sits."""

    keys: tuple[str, ...]
    alone: int
    records: int
    groups: tuple[RiskyGroup, ...]
    effects: tuple[KeyEffect, ...]

    @property
    def share_alone(self) -> float:
        """Share of the records that are alone with their keys."""
        return self.alone / max(self.records, 1)


def worst(release: Release, scorecard: Scorecard, suspects: Collection[str] = ()) -> Worst | None:
    """Name the groups of released records at risk and the keys that single records out.

    Parameters
    ----------
    release
        The release.
    scorecard
        Its measurements, asked for what SUDA found.
    suspects
        Columns that look like identifiers; their values are not shown.
    """
    data = release.data
    keys = [k for k in release.original.schema.keys if k in data.schema]
    if not keys or data.n_records == 0:
        return None
    codes = encode(data, keys)
    sizes = frequencies(codes)
    return Worst(
        tuple(keys),
        int((sizes == 1).sum()),
        len(sizes),
        tuple(_groups(release, [k for k in keys if k not in suspects], sizes)),
        tuple(_effects(keys, codes, measurement_of(scorecard, "suda"))),
    )


# -- groups ------------------------------------------------------------------------------------


def _groups(release: Release, keys: Sequence[str], sizes: np.ndarray) -> list[RiskyGroup]:
    """List the groups that add most to the risk, but none that only repeats a listed one."""
    labelled = {k: found for k in keys[:_MOST_KEYS] if (found := _labels(release, k)) is not None}
    risk = 1.0 / sizes
    candidates = [
        group
        for size in (1, 2)
        for chosen in combinations(labelled, size)
        for group in _group_by(chosen, [labelled[k] for k in chosen], risk, sizes == 1)
    ]
    typical = float(risk.mean())
    limit = min(_MUCH * typical, (1.0 + typical) / 2)
    risky = [(group, names) for group, names in candidates if group.risk >= limit]
    # What a group adds to the risk of the file: being many counts as well as being exposed.
    risky.sort(key=lambda f: (-f[0].records * (f[0].risk - typical), len(f[1]), f[0].name))
    kept: list[tuple[RiskyGroup, frozenset[str]]] = []
    for group, names in risky:
        if not any(names & other for _, other in kept if _says_as_much(other, names)):
            kept.append((group, names))
    return [group for group, _ in kept[:MOST_GROUPS]]


def _says_as_much(listed: frozenset[str], new: frozenset[str]) -> bool:
    """Whether one of two groups is part of the other."""
    return listed <= new or new <= listed


def _group_by(
    keys: Sequence[str], labels: Sequence[tuple[np.ndarray, list[str]]], risk: np.ndarray,
    is_alone: np.ndarray,
) -> Iterator[tuple[RiskyGroup, frozenset[str]]]:  # fmt: skip
    """Average the risk over the records with the same labels; -1 is a label not to be named."""
    codes = np.column_stack([code for code, _ in labels])
    named = (codes >= 0).all(axis=1)
    if not named.any():
        return
    shown = np.ascontiguousarray(codes[named], dtype=np.int32)
    ids, n = group_ids(shown)
    counts = np.bincount(ids, minlength=n)
    mean = np.bincount(ids, risk[named], minlength=n) / counts
    alone = np.bincount(ids, is_alone[named], minlength=n)
    first = np.full(n, len(ids))
    np.minimum.at(first, ids, np.arange(len(ids)))
    for g in np.flatnonzero(counts >= FEWEST):
        row = shown[first[g]]
        parts = [f"{key}: {texts[code]}" for key, code, (_, texts) in
                 zip(keys, row, labels, strict=True)]  # fmt: skip
        group = RiskyGroup(", ".join(parts), int(counts[g]), int(alone[g]), float(mean[g]))
        yield group, frozenset(parts)


def _labels(release: Release, key: str) -> tuple[np.ndarray, list[str]] | None:
    """Return the class of each record and the names of the classes, or none for free text."""
    variable = release.data.schema[key]
    if variable.kind == Kind.NUMERIC:
        return _numeric_labels(release.data, key)
    if variable.kind == Kind.TEXT:
        return None
    import polars as pl

    text = release.data.local[key].cast(pl.String)
    names = text.drop_nulls().unique().sort().to_list()
    if len(names) > _MOST_LABELS:
        return None
    codes = encode_series(text)  # places in the sorted names; missing is -1
    labels = [*(short(name) for name in names), MISSING]
    codes = np.where(codes < 0, len(names), codes)
    rare = _rare(release, key)
    hidden = [i for i, name in enumerate(names) if name in rare]
    return np.where(np.isin(codes, hidden), -1, codes), labels


def _rare(release: Release, key: str) -> set[str]:
    """Categories that so few original records have that naming them could point at one."""
    import polars as pl

    if key not in release.original.schema:
        return set()
    counts = release.original.local[key].cast(pl.String).drop_nulls().value_counts(name="n")
    few = counts.filter(pl.col("n") < SMALLEST_GROUP)
    return set(few[few.columns[0]].to_list())


def _numeric_labels(data: Microdata, key: str) -> tuple[np.ndarray, list[str]] | None:
    values = data.numeric([key])[:, 0]
    known = np.isfinite(values)
    bins = _bins.of_numbers([values[known]])
    if bins is None:
        return None
    inside = np.searchsorted(bins.edges, values[known], side="right") - 1
    codes = np.full(len(values), len(bins.labels))
    codes[known] = np.clip(inside, 0, len(bins.labels) - 1)
    return codes, [*bins.labels, MISSING]


# -- keys --------------------------------------------------------------------------------------


def _effects(keys: Sequence[str], codes: np.ndarray, suda: Measurement | None) -> list[KeyEffect]:
    """Count who would still be alone without each key, the most telling key first."""
    alone = int((frequencies(codes) == 1).sum())
    parts: dict[str, Any] = dict(suda.details.get("contribution") or {}) if suda else {}
    effects = []
    for j, name in enumerate(keys):
        rest = np.delete(codes, j, axis=1)
        without = int((frequencies(rest) == 1).sum()) if rest.shape[1] else int(len(codes) == 1)
        fewer = (alone - without) / alone if alone else 0.0
        effects.append(KeyEffect(name, without, fewer, parts.get(name)))
    return sorted(effects, key=lambda e: (-e.fewer, e.name))

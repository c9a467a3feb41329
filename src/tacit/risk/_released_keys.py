"""The keys of a released file, encoded, as the counting measures need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.engine_keys import counts_in_engine, key_classes
from tacit.core.errors import DataError
from tacit.core.keys import Missing, encode, frequencies
from tacit.core.pairing import sides

NO_KEYS = "no column has the role of a key, so there is nothing an intruder could match on"


@dataclass(frozen=True)
class ReleasedKeys:
    """Codes of the keys that an intruder can look up in a file."""

    names: list[str]
    """Keys that the file has."""
    removed: list[str]
    """Keys of the original that the file no longer has."""
    codes: np.ndarray
    """Records by keys; -1 is missing."""
    weights: np.ndarray | None
    """Sampling weights, where the file has them."""
    times: np.ndarray | None = None
    """Where an engine has counted: each row is a class of this many records, whose weights are
    summed. Without it each row is a record."""

    @property
    def n_records(self) -> int:
        """Number of records of the file."""
        return len(self.codes) if self.times is None else int(self.times.sum())

    def sizes(self, missing: Missing) -> np.ndarray:
        """Return, for each row, how many records of the file share its key."""
        if self.times is None:
            return frequencies(self.codes, missing=missing)
        shared = frequencies(self.codes, self.times.astype(np.float64), missing=missing)
        return np.asarray(np.rint(shared), dtype=np.int64)

    def count(self, chosen: np.ndarray) -> int:
        """Count the records of the chosen rows."""
        return int(np.sum(chosen) if self.times is None else self.times[chosen].sum())

    def total(self, values: np.ndarray) -> float:
        """Add up values of rows over all records."""
        return float(np.sum(values) if self.times is None else self.times @ values)

    def per_record(self, values: np.ndarray) -> np.ndarray | None:
        """Return the values where each row is a record; else they stay with the engine."""
        return values if self.times is None else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know about keys that are gone."""
        if not self.names:
            return ("None of the keys is in the release: all its records look the same.",)
        if not self.removed:
            return ()
        return (
            f"Not in the release, so that nobody can match on them: {', '.join(self.removed)}.",
        )


def released_keys(
    original: Any,
    release: Any,
    names: Sequence[str] | None,
    *,
    by: str,
    may_count_classes: bool = False,
) -> ReleasedKeys:
    """Encode the keys of the release, or of the original where there is no release.

    A measure that `may_count_classes` gets one row for each class of a large file in an engine.
    """
    before, data = sides(original, release)
    wanted = list(names) if names is not None else before.schema.keys
    if not wanted:
        raise DataError(f"{by}: {NO_KEYS}", do="name the keys with with_roles(keys=[...])")
    before.schema.require(wanted)
    if data.n_records == 0:
        raise DataError(f"{by} needs at least one record", got="an empty file")
    present = [name for name in wanted if name in data.schema]
    removed = [name for name in wanted if name not in data.schema]
    if may_count_classes and counts_in_engine(data):
        found = key_classes(data, present)
        return ReleasedKeys(present, removed, found.codes, found.weights, found.times)
    return ReleasedKeys(present, removed, encode(data, present), data.weights)


def objection_without_keys(original: Microdata, names: Sequence[str] | None) -> str | None:
    """Say that a measure of the keys makes no sense where nobody named any."""
    if names is None and not original.schema.keys:
        return NO_KEYS
    return None

"""The keys of a released file, encoded, as the counting measures need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.keys import encode
from tacit.core.pairing import pair

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

    @property
    def n_records(self) -> int:
        """Number of records of the file."""
        return len(self.codes)

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
    original: Any, release: Any, names: Sequence[str] | None, *, by: str
) -> ReleasedKeys:
    """Encode the keys of the release, or of the original where there is no release."""
    both = pair(original, release)
    wanted = list(names) if names is not None else both.original.schema.keys
    if not wanted:
        raise DataError(f"{by}: {NO_KEYS}", do="name the keys with with_roles(keys=[...])")
    both.original.schema.require(wanted)
    data = both.released
    if data.n_records == 0:
        raise DataError(f"{by} needs at least one record", got="an empty file")
    present = [name for name in wanted if name in data.schema]
    removed = [name for name in wanted if name not in data.schema]
    return ReleasedKeys(present, removed, encode(data, present), data.weights)


def objection_without_keys(original: Microdata, names: Sequence[str] | None) -> str | None:
    """Say that a measure of the keys makes no sense where nobody named any."""
    if names is None and not original.schema.keys:
        return NO_KEYS
    return None

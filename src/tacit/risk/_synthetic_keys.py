"""Keys of an original and a release on one numbering, whether or not records correspond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.core.frame import collect
from tacit.core.keys import encode_series, group_ids
from tacit.core.pairing import Pair, pair
from tacit.risk._linkage_fields import category_codes
from tacit.risk._released_keys import NO_KEYS


@dataclass(frozen=True)
class SharedKeys:
    """The combination of keys of each record of both files."""

    names: list[str]
    """Keys that both files have."""
    removed: list[str]
    """Keys that the release lacks."""
    original: np.ndarray
    """Combination of each original record, numbered from 0."""
    released: np.ndarray
    """Combination of each released record, in the same numbering."""

    @cached_property
    def in_original(self) -> np.ndarray:
        """Original records with the keys of each original record."""
        return np.asarray(np.bincount(self.original)[self.original])

    @cached_property
    def in_release(self) -> np.ndarray:
        """Released records with the keys of each original record."""
        n_groups = max(int(self.original.max()), int(self.released.max())) + 1
        return np.asarray(np.bincount(self.released, minlength=n_groups)[self.original])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know about keys that are gone."""
        if not self.removed:
            return ()
        return (f"Not in the release, and not compared: {', '.join(self.removed)}.",)


def shared_keys(original: Any, release: Any, names: Sequence[str] | None, *, by: str) -> SharedKeys:
    """Give the combinations of keys of both files one numbering."""
    both = pair(original, release)
    for side in (both.original, both.released):
        if side.n_records == 0:
            raise DataError(f"{by} needs at least one record", got="an empty file")
    wanted = list(names) if names is not None else both.original.schema.keys
    if not wanted:
        raise DataError(f"{by}: {NO_KEYS}", do="name the keys with with_roles(keys=[...])")
    both.original.schema.require(wanted)
    present = [name for name in wanted if name in both.released.schema]
    if not present:
        raise DataError(f"{by}: the release has none of the keys", got=", ".join(wanted))
    codes = np.column_stack([np.concatenate(joint_codes(both, name)) for name in present])
    ids, _ = group_ids(codes)
    removed = [name for name in wanted if name not in present]
    n_originals = both.original.n_records
    return SharedKeys(present, removed, ids[:n_originals], ids[n_originals:])


def joint_codes(both: Pair, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Encode a column of both files together; numbers are compared as they are."""
    import polars as pl

    before, after = (
        collect(side.lazy.select(name))[name] for side in (both.original, both.released)
    )
    if not (before.dtype.is_numeric() and after.dtype.is_numeric()):
        return category_codes(both, name)
    if before.dtype != after.dtype:
        before, after = before.cast(pl.Float64), after.cast(pl.Float64)
    codes = encode_series(pl.concat([before, after])).astype(np.int64)
    return codes[: len(before)], codes[len(before) :]

"""Sums of record keys carried exactly through sums of floats: three parts of 21 bits each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_BITS, _PARTS = 21, 3
_MASK = (1 << _BITS) - 1


def key_parts(name: str, keys: np.ndarray) -> dict[str, np.ndarray]:
    """Return the parts of whole numbers below 2^63; sums of 2^32 of each are exact."""
    keys = keys.astype(np.int64)
    return {
        f"{name}:{part}": ((keys >> (_BITS * part)) & _MASK).astype(float) for part in range(_PARTS)
    }


def key_sum(name: str, sums: np.ndarray, place: Mapping[str, int]) -> np.ndarray:
    """Return the whole numbers again from the sums of their parts."""
    columns = [sums[:, place[f"{name}:{part}"]].astype(np.int64) for part in range(_PARTS)]
    return np.asarray(sum(column << (_BITS * part) for part, column in enumerate(columns)))

"""What a reader must know where columns of a release do not compare with the original."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.common_scale import common_codes
from tacit.core.errors import DataError
from tacit.core.pairing import Pair


def present_columns(both: Pair, names: Sequence[str], *, by: str) -> tuple[list[str], list[str]]:
    """Return the columns that the release has, and warnings about those it lacks or has changed."""
    both.original.schema.require(names)
    for side in both.sides:
        if side.n_records == 0:
            raise DataError(f"{by} needs at least one record", got="an empty file")
    present = [name for name in names if name in both.released.schema]
    if not present:
        raise DataError(f"{by}: the release has none of the columns", got=", ".join(names))
    gone = [name for name in names if name not in present]
    warnings = [f"Not in the release, and not compared: {', '.join(gone)}."] if gone else []
    for name in present:
        before, after = (side.local[name] for side in both.sides)
        if before.dtype.is_numeric() != after.dtype.is_numeric():
            warnings.append(f"{name!r} is no longer a number, and is compared as text.")
        elif not before.dtype.is_numeric():
            old, new = common_codes(before, after)
            new = np.unique(new[new >= 0])
            if len(new) and not np.isin(new, old).any():
                warnings.append(f"{name!r} has other categories in the release: none is found.")
    return present, warnings

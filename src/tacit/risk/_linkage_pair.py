"""Which released record belongs to which original one, when an intruder's success is counted.

A `Release` knows. Plain files are paired by a column that numbers their records, or else by their
order, and then the order is checked: files that were shuffled would make any release look safe.
"""

from __future__ import annotations

from typing import Any

from tacit.core.errors import DataError
from tacit.core.pairing import Pair, pair
from tacit.core.record_order import order_warnings


def linked_pair(
    original: Any, release: Any, record_id: str | None, *, by: str
) -> tuple[Pair, tuple[str, ...]]:
    """Bring an original and a release together so that true pairs are known, or refuse.

    Returns
    -------
    The pair, and warnings where the order of two plain files is in doubt.
    """
    both = pair(original, release, record_id)
    for side in both.sides:
        if side.n_records == 0:
            raise DataError(f"{by} needs at least one record", got="an empty file")
    if len(both.matched[0]) == 0:
        raise DataError(
            f"{by}: no released record comes from an original one",
            do="measure synthetic records with replicated-uniques, correct-attribution or "
            "membership-inference",
        )
    return both, order_warnings(both, by=by)

"""Relations that others do not imply: all that a linear programme needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_ENTRIES = 20_000_000
"""Entries of the elimination after which the relations left are taken as they are."""


def independent_relations(relations: Any) -> csr_array:
    """Return relations that imply all others, fewer by up to half in tables of many dimensions.

    Changes that keep these keep all. The work is done in whole numbers modulo a prime; relations
    with other coefficients are returned as they are.
    """
    from scipy.sparse import csr_array

    rows = csr_array(relations)
    kept = independent_rows(rows)
    return rows if kept is None else csr_array(rows[kept, :])


def independent_rows(rows: csr_array) -> np.ndarray | None:
    """Return positions of rows that imply all others; nothing if there are fractions in them."""
    from tacit.tables import _independent_kernel as kernel

    if not np.array_equal(rows.data, np.round(rows.data)):
        return None
    kept = kernel.independent(rows.indptr, rows.indices, rows.data, rows.shape[1], MOST_ENTRIES)
    return np.flatnonzero(kept)

"""Protection where a rule itself says nothing about it: a percentage of the value."""

from __future__ import annotations

import numpy as np

from tacit.tables.table import Table


def level_by_margin(table: Table, margin: float) -> np.ndarray:
    """Return a percentage of each value, for counts at least 1: another whole number must fit."""
    level = np.abs(table.value) * margin / 100
    return np.asarray(np.maximum(level, 1.0) if table.is_count else level)

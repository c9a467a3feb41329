"""The protection each sensitive cell must get, as attackers and protections both read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

LEAST = 1e-4
"""Width, as a share of the value (of 1 when smaller), below which an interval is a point."""


@dataclass(frozen=True, eq=False)
class Levels:
    """How far an interval must reach below and above each cell, and how wide it must be."""

    below: np.ndarray
    above: np.ndarray
    width: np.ndarray
    cut: np.ndarray
    """Cells whose requirement went beyond what anyone knows beforehand and was cut to it."""


def required_levels(
    table: Table,
    sensitive: Sensitive,
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
) -> Levels:
    """Return the protection of each sensitive cell; zero for the others.

    A level cannot ask for more than is possible beforehand: it is cut at `bounds`, those of the
    table unless given. Every sensitive cell needs an interval that is not a point.
    """
    lower, upper = table.bounds if bounds is None else bounds
    primary = sensitive.cells
    room_below, room_above = table.value - lower, upper - table.value
    below = np.minimum(sensitive.below, room_below)
    above = np.minimum(sensitive.above, room_above)
    least = LEAST * np.maximum(np.abs(table.value), 1.0)
    width = np.minimum(np.maximum(sensitive.width, least), room_below + room_above)
    cut = primary & (
        (below < sensitive.below) | (above < sensitive.above) | (width < sensitive.width)
    )
    below, above, width = (
        np.where(primary, np.maximum(part, 0.0), 0.0) for part in (below, above, width)
    )
    return Levels(below, above, width, cut)

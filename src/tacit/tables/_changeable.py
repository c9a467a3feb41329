"""What a protection that publishes a number in every cell cannot work with."""

from __future__ import annotations

import numpy as np

from tacit.core.errors import DataError, ProtectionError
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


def check_changeable(table: Table) -> None:
    """Refuse cells without a number, and cells that must not be published at all."""
    unknown = np.flatnonzero(~np.isfinite(table.value))
    if len(unknown):
        raise DataError(
            "every cell needs a finite value",
            got=table.describe(unknown),
            do="leave such records out, or complete the table",
        )
    forced = np.flatnonzero(table.flags("forced"))
    if len(forced):
        raise ProtectionError(
            "this protection publishes a number in every cell, forced ones too",
            got=table.describe(forced),
            do="suppress instead, or declare them unsafe in place of forcing them",
        )


def without_level(sensitive: Sensitive) -> np.ndarray:
    """Return the sensitive cells whose rule does not say how far an estimate must miss them."""
    levels = (sensitive.below, sensitive.above, sensitive.width)
    return np.asarray(sensitive.cells & np.all([level == 0 for level in levels], axis=0))

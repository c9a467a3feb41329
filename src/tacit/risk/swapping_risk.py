"""Swapping risk: records in small cells that were not swapped."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.keys import encode, group_ids
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.record_order import order_warnings
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._synthetic_keys import joint_codes


class SwappingRisk(
    Risk,
    key="swapping-risk",
    title="Unswapped records in small cells",
    cites=("karr2004", "gomatam2005"),
    example={"columns": ["region", "sex", "education", "marital"]},
):
    r"""Report the share of unchanged records that stand in a cell of one or two records.

    An intruder who finds a small cell in a swapped file learns something only if its records are
    the true ones.

    Missing values: a gap is a category; a suppressed value is a change. Weights: not used; the
    rule counts records. Households: not considered; records are counted one by one.

    Notes
    -----
    In the table of the released attributes let :math:`C_1` and :math:`C_2` be the cells of one and
    of two records. With (1) of [karr2004]_,

    .. math:: DR = \frac{\sum_{C_1, C_2} \text{number of unswapped records}}
       {\text{number of unswapped records}}.

    The paper's table holds all attributes of the file, the swapped ones among them [gomatam2005]_.
    A record counts as unswapped if all its swap attributes are as in the original: one that got
    back an equal value has in effect not been swapped, nor has one whose category was recoded like
    all others of its kind. A simulated record counts as swapped. Where
    no record is unswapped the risk is 0.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> swap = risk.SwappingRisk(columns=["region", "sex", "marital"])
    >>> release = tacit.Plan([mask.DataSwap(columns=["region"], rate=0.4)]).apply(data, seed=1)
    >>> swap.measure(data).details["unswapped"], swap.measure(data, release).details["unswapped"]
    (500, 300)
    """

    default = False

    columns: Columns | None = None
    """Attributes of the table; by default the columns with the role of a key."""
    swapped: Columns | None = None
    """Attributes that were swapped; by default those of the table."""
    smallest: Annotated[int, Ge(1)] = 2
    """Cells of at most this many records are small."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.columns)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of the unswapped records that stand in small cells."""
        both = pair(original, release, self.record_id)
        columns, warnings = self._attributes(both)
        warnings += order_warnings(both, by=self.key)
        cells, n_cells = group_ids(encode(both.released, columns))
        sizes = np.bincount(cells, minlength=n_cells)[cells]
        unswapped = _unchanged(both, list(self.swapped or columns))
        exposed = unswapped & (sizes <= self.smallest)
        n_unswapped, n_exposed = int(unswapped.sum()), int(exposed.sum())
        return Measurement(
            key=self.key, title=self.title, better="lower", bounds=(0.0, 1.0), unit="percent",
            value=n_exposed / n_unswapped if n_unswapped else 0.0,  # Eq. (1) of karr2004
            per_unit=exposed.astype(float),
            details={
                "columns": columns, "swapped": list(self.swapped or columns),
                "unswapped": n_unswapped, "unswapped_in_small_cells": n_exposed,
                "records_in_small_cells": int((sizes <= self.smallest).sum()),
                "records": len(sizes), "cells": n_cells,
            },
            explanation=(
                f"Of {counted(n_unswapped, 'record')} not changed, {n_exposed:,} stand in cells "
                f"of at most {counted(self.smallest, 'record')} of {' by '.join(columns)}."
            ),
            warnings=warnings,
        )  # fmt: skip

    def _attributes(self, both: Pair) -> tuple[list[str], tuple[str, ...]]:
        """Return the attributes of the table that the release has."""
        wanted = list(self.columns) if self.columns else both.original.schema.keys
        both.original.schema.require([*wanted, *(self.swapped or ())])
        columns = [name for name in wanted if name in both.released.schema]
        if self.columns is not None or self.swapped is not None:
            both.released.schema.require([*(self.columns or ()), *(self.swapped or ())])
        if not columns:
            raise DataError(f"{self.key} needs attributes that the release has", do="name them")
        if both.released.n_records == 0:
            raise DataError(f"{self.key} needs at least one record", got="an empty file")
        gone = [name for name in wanted if name not in columns]
        said = (f"Not in the release, and not in the table: {', '.join(gone)}.",) if gone else ()
        return columns, said


def _unchanged(both: Pair, swapped: list[str]) -> np.ndarray:
    """Mark the released records whose swap attributes are those of their original."""
    at, to = both.matched
    same = np.ones(len(at), dtype=bool)
    for name in swapped:
        before, after = joint_codes(both, name)
        same &= before[at] == after[to]
    found = np.zeros(both.released.n_records, dtype=bool)
    found[to] = same
    return found

"""Tables of categories before and after."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.pairing import pair
from tacit.utility._tables import (
    SharedCodes,
    association,
    chosen_codes,
    entropy,
    objection_to_tables,
    recoded_warnings,
)

Distance = Literal["hellinger", "total-variation"]
_MOST_TABLES = 2000


class ContingencyLoss(
    Utility,
    key="contingency-loss",
    title="Change of cross-tabulations",
    cites=("karr2004", "domingoferrer2001"),
    example={"columns": ["sex", "education", "marital"]},
):
    r"""Measure how far the tables that users make from categories have moved.

    0 means that every table of the given order is the same, 1 that no table has a cell in common.

    Missing values: a gap is a category, so suppressed values show. Weights: tables are weighted
    where both files have weights. Households: not considered.

    Notes
    -----
    All tables of `order` variables are compared by the shares :math:`p, q` of their cells:

    .. math:: H = \sqrt{\frac{1}{2} \sum_c (\sqrt{p_c} - \sqrt{q_c})^2}, \qquad
       TV = \frac{1}{2} \sum_c |p_c - q_c|,

    the Hellinger distance and the total variation [karr2004]_; ``details`` add the change of
    entropy :math:`H(q) - H(p)`, :math:`\sum_c (q_c - p_c)^2 / p_c` over the cells of the
    original, and, for
    pairs, the change of Cramér's V. The value is the mean over all tables. Recoded
    variables have other labels: they are left out, unless named in `columns`, where they count as
    moved; compare them after recoding the original alike.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, utility
    >>> data = tacit.datasets.census(500).drop(["weight"])
    >>> release = tacit.Plan([mask.DataSwap(columns=["marital"], rate=0.2)]).apply(data, seed=1)
    >>> utility.ContingencyLoss(columns=["marital", "sex"], order=1).measure(data, release).value
    0.0
    """

    columns: Columns | None = None
    """Columns to tabulate; by default categories and numbers with at most 20 values."""
    order: Annotated[int, Ge(1)] = 2
    """Number of variables in each table."""
    distance: Distance = "hellinger"
    """Distance that the value is the mean of."""

    def objection(self, original: Microdata) -> str | None:
        """Say that the file has no record to tabulate."""
        return objection_to_tables(original, self.columns, self.order)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean distance between the tables of both files."""
        codes, recoded = chosen_codes(pair(original, release), self.columns)
        rows = [_row(codes, chosen) for chosen in self._tables(len(codes.columns))]
        name = "hellinger" if self.distance == "hellinger" else "total_variation"
        value = float(np.mean([row[name] for row in rows]))
        worst = max(rows, key=lambda row: row[name])
        verdict = "left out" if self.columns is None else "its tables count as moved"
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 1.0),
            details={"tables": sorted(rows, key=lambda r: -r[name])[:50], "n_tables": len(rows),
                     "recoded": recoded},
            explanation=(
                f"Of {counted(len(rows), 'table')} of {counted(self.order, 'variable')} the one of "
                f"{' by '.join(worst['columns'])} moved most ({worst[name]:.3f} on a scale from 0 "
                "to 1)."
            ),
            warnings=recoded_warnings(recoded, verdict),
        )  # fmt: skip

    def _tables(self, n_columns: int) -> list[tuple[int, ...]]:
        tables = list(combinations(range(n_columns), self.order))
        if not tables:
            raise DataError(
                f"tables of {self.order} variables need as many columns", got=f"{n_columns}"
            )
        if len(tables) > _MOST_TABLES:
            raise DataError(
                "there are too many tables to compare",
                got=f"{len(tables):,}, at most {_MOST_TABLES:,}",
                do="name fewer columns or lower the order",
            )
        return tables


def _row(codes: SharedCodes, chosen: tuple[int, ...]) -> dict[str, Any]:
    p, q = codes.shares(chosen)
    there = p > 0
    row: dict[str, Any] = {
        "columns": [codes.columns[j] for j in chosen],
        "hellinger": float(np.sqrt(max(0.0, 0.5 * np.sum((np.sqrt(p) - np.sqrt(q)) ** 2)))),
        "total_variation": float(0.5 * np.abs(p - q).sum()),
        "entropy_change": entropy(q) - entropy(p),
        "chi_square": float(((q[there] - p[there]) ** 2 / p[there]).sum()),
        "lost_cells": int((there & (q == 0)).sum()),
        "new_cells": int((~there & (q > 0)).sum()),
    }
    if len(chosen) == 2:
        old = association(codes.before[:, chosen], codes.weights[0])
        new = association(codes.after[:, chosen], codes.weights[1])
        row["cramers_v_change"] = new - old
    return row

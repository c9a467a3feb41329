"""Direct comparison of categories, record by record."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.record_order import order_warnings
from tacit.core.schema import Kind, Variable
from tacit.utility._tables import (
    SharedCodes,
    chosen_codes,
    entropy,
    objection_to_tables,
    recoded_warnings,
)


class CategoryChanges(
    Utility,
    key="category-changes",
    title="Changed categories",
    cites=("domingoferrer2001", "domingoferrer2007"),
    example={"columns": ["education", "marital"]},
):
    r"""Measure how far categories moved, record by record.

    0 means that no category changed, 1 that all moved as far as they can.

    Missing values: a value that became missing counts as moved all the way; one missing in both
    files as unmoved. Weights: not used. Households: not considered.

    Notes
    -----
    A nominal category has moved by 0 or 1; an ordinal one by the number of categories passed over
    the largest number possible, :math:`|r(x) - r(x')|/(m-1)` [domingoferrer2001]_. The value is the
    mean over records and columns. ``details`` hold for each column the share changed and the
    conditional entropy :math:`H(X|X')` in bits: what a user who sees the release still does not
    know about the original. A label that the original does not have has moved all the way.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, utility
    >>> data = tacit.datasets.census(500)
    >>> release = tacit.Plan([mask.Pram(columns=["marital"], stay=0.9)]).apply(data, seed=1)
    >>> 0 < utility.CategoryChanges(columns=["marital"]).measure(data, release).value < 0.2
    True
    """

    columns: Columns | None = None
    """Columns to compare; by default categories and numbers with at most 20 values."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no categorical column."""
        return objection_to_tables(original, self.columns, 1)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean move of the categories."""
        both = pair(original, release, self.record_id)
        doubts = order_warnings(both, by=self.key)
        codes, recoded = chosen_codes(both, self.columns)
        columns = codes.columns
        if not columns:
            raise DataError(
                "all categorical columns have other categories in the release"
                if recoded
                else "there is no categorical column that both files have"
            )
        at, to = both.matched
        moves = np.column_stack([_moves(both, codes, j, at, to) for j in range(len(columns))])
        details = {
            column: {
                "moved": float(moves[:, j].mean()) if len(at) else 0.0,
                "changed": float((codes.before[at, j] != codes.after[to, j]).mean()),
                "conditional_entropy": _conditional_entropy(codes, j, at, to),
            }
            for j, column in enumerate(columns)
        }
        per_record = np.full(both.released.n_records, np.nan)
        per_record[to] = moves.mean(axis=1)
        worst = max(details, key=lambda c: details[c]["changed"])
        return Measurement(
            key=self.key, title=self.title, value=float(moves.mean()), better="lower",
            bounds=(0.0, 1.0), unit="percent", per_unit=per_record, details={"columns": details},
            explanation=(
                f"{100 * float((moves > 0).mean()):.1f} % of the categories changed, most in "
                f"{worst} ({100 * details[worst]['changed']:.1f} %)."
            ),
            warnings=(
                *recoded_warnings(recoded, "left out" if self.columns is None else "all moved"),
                *doubts,
            ),
        )  # fmt: skip


def _moves(both: Pair, codes: SharedCodes, j: int, at: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Return how far each record's category moved, from 0 to 1."""
    old, new = codes.before[at, j], codes.after[to, j]
    changed = old != new
    variable = both.original.schema[codes.columns[j]]
    ranks = _ranks(both, variable, codes, j)
    if ranks is None:
        return np.asarray(changed, dtype=float)
    widest = max(float(np.nanmax(ranks) - np.nanmin(ranks)), 1.0)
    step = np.abs(ranks[old + 1] - ranks[new + 1]) / widest
    return np.asarray(np.where(changed, np.where(np.isnan(step), 1.0, step), 0.0))


def _ranks(both: Pair, variable: Variable, codes: SharedCodes, j: int) -> np.ndarray | None:
    """Return the rank of each code (shifted by one for the gap), NaN where it has none."""
    known = np.unique(codes.before[codes.before[:, j] >= 0, j])
    if variable.kind not in (Kind.ORDINAL, Kind.NUMERIC, Kind.DATE) or not len(known):
        return None
    size = int(max(codes.before[:, j].max(), codes.after[:, j].max())) + 2
    ranks = np.full(size, np.nan)
    if variable.categories is None:
        ranks[known + 1] = np.arange(len(known))
        return ranks
    place = {category: i for i, category in enumerate(variable.categories)}
    first = {int(c): i for i, c in reversed(list(enumerate(codes.before[:, j])))}
    labels = both.original.local[variable.name]
    for code in known:
        ranks[code + 1] = place.get(str(labels[first[int(code)]]), np.nan)
    return None if np.isnan(ranks[known + 1]).all() else ranks


def _conditional_entropy(codes: SharedCodes, j: int, at: np.ndarray, to: np.ndarray) -> float:
    """Return H(X | X') = H(X, X') - H(X') over the paired records."""
    if not len(at):
        return 0.0
    old, new = codes.before[at, j] + 1, codes.after[to, j] + 1
    joint = np.bincount(old * (int(new.max()) + 1) + new) / len(at)
    return max(0.0, entropy(joint) - entropy(np.bincount(new) / len(at)))

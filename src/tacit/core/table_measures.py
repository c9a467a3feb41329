r"""Tables before and after protection, as arrays: what users of the table have lost.

An original and a released table have the same shape, rows by columns, without their totals. A cell
that was suppressed is NaN; fill it first (see `fill_suppressed`). The formulas (6) to (8) are those
of [matias2013]_, in percent; identical tables give 0, 0 and 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.core.errors import DataError, ParameterError

Numbers = npt.ArrayLike
By = Literal["rows", "columns"]


def entropy_change(original: Numbers, released: Numbers, *, by: By = "rows") -> float:
    r"""Return by how many percent the uncertainty inside the rows of a table grew.

    Parameters
    ----------
    original, released
        Cells of both tables, none below 0.
    by
        Look at the shares of cells inside rows, or inside columns.

    Notes
    -----
    With :math:`p_{kc}` the share of cell :math:`c` in row :math:`k`, Eq. (6) of [matias2013]_:

    .. math:: 100 \frac{\sum_k H(T'_k) - \sum_k H(T_k)}{\sum_k H(T_k)},
       \qquad H(T_k) = -\sum_c p_{kc} \log p_{kc}.

    The paper prints :math:`H` without the sum and the sign; Shannon's entropy is meant. A row
    without any value has no entropy.

    Examples
    --------
    >>> entropy_change([[1, 1], [2, 2]], [[1, 1], [0, 4]])
    -50.0
    """
    before, after = table_pair(original, released, by, least=0.0)
    # Eq. (6) of matias2013
    return _relative_change(_row_entropy(before).sum(), _row_entropy(after).sum())


def variance_change(original: Numbers, released: Numbers, *, by: By = "rows") -> float:
    r"""Return by how many percent the variance inside the rows of a table grew.

    Notes
    -----
    Eq. (7) of [matias2013]_, with :math:`V(T_k)` the sample variance of the cells of row :math:`k`:

    .. math:: 100 \frac{\sum_k V(T'_k) - \sum_k V(T_k)}{\sum_k V(T_k)}.

    Examples
    --------
    >>> variance_change([[1, 3], [5, 5]], [[0, 4], [5, 5]])
    300.0
    """
    before, after = table_pair(original, released, by)
    if before.shape[1] < 2:
        raise DataError("a variance needs at least two cells", got=f"{before.shape[1]} per row")
    # Eq. (7) of matias2013
    sums = [float(table.var(axis=1, ddof=1).sum()) for table in (before, after)]
    return _relative_change(*sums)


def cramers_v(table: Numbers) -> float:
    r"""Return Cramér's V of a table; NaN where it is not defined.

    Notes
    -----
    With :math:`e_{ij}` the product of the margins over the total :math:`n`,

    .. math:: V = \sqrt{\frac{\chi^2 / n}{\min(r - 1, c - 1)}}, \qquad
       \chi^2 = \sum_{ij} \frac{(x_{ij} - e_{ij})^2}{e_{ij}},

    over the :math:`r` rows and :math:`c` columns that are not empty.

    Examples
    --------
    >>> cramers_v([[10, 0], [0, 10]]), cramers_v([[5, 5], [5, 5]])
    (1.0, 0.0)
    """
    cells = _table(table, least=0.0)
    cells = cells[cells.sum(axis=1) > 0][:, cells.sum(axis=0) > 0]
    smaller = min(cells.shape) - 1
    if smaller < 1:
        return float("nan")
    total = cells.sum()
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / total
    chi_square = float(((cells - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi_square / total / smaller))


def cramers_v_change(original: Numbers, released: Numbers) -> float:
    """Return by how many percent the association of rows and columns grew.

    Notes
    -----
    Eq. (8) of [matias2013]_: the relative change of `cramers_v`. A table whose association is not
    defined counts as one without association.

    Examples
    --------
    >>> round(cramers_v_change([[10, 0], [0, 10]], [[5, 5], [5, 5]]), 6)
    -100.0
    """
    table_pair(original, released, "rows")
    # Eq. (8) of matias2013
    return _relative_change(*(np.nan_to_num(cramers_v(t)) for t in (original, released)))


def rank_tests(original: Numbers, released: Numbers, *, by: By = "rows") -> np.ndarray:
    r"""Test for each row whether its cells still have the distribution of the original's.

    Returns
    -------
    The two-sided p-value of each row (or column) of the Mann-Whitney-Wilcoxon test, by the normal
    approximation with corrections for ties and continuity. A small one says that the row has
    changed; the cells are compared as two samples, not one by one.

    Examples
    --------
    >>> rank_tests([[1, 2, 3, 4]], [[1, 2, 3, 4]]).tolist()
    [1.0]
    >>> rank_tests([[1, 2, 3, 4]], [[11, 12, 13, 14]]).round(4).tolist()
    [0.0304]
    """
    from scipy.stats import mannwhitneyu

    before, after = table_pair(original, released, by)
    if before.shape[1] == 0:
        raise DataError("a rank test needs at least one cell in each row")
    with np.errstate(invalid="ignore", divide="ignore"):
        p = mannwhitneyu(before, after, axis=1, method="asymptotic").pvalue
    # Where all cells of both rows are equal there is nothing to rank, and nothing has changed.
    return np.nan_to_num(np.asarray(p, dtype=np.float64), nan=1.0)


def fill_suppressed(original: Numbers, released: Numbers) -> np.ndarray:
    """Give suppressed cells the average value that restores the totals of the columns.

    So are suppressed tables compared in Table 1 of [matias2013]_: whoever sees the totals of the
    columns cannot do better without looking at rows.

    Examples
    --------
    >>> fill_suppressed([[1, 2], [3, 4], [5, 6]], [[1, float("nan")], [3, 4], [5, float("nan")]])
    array([[1., 4.],
           [3., 4.],
           [5., 4.]])
    """
    before, after = _table(original), np.array(released, dtype=float)
    _check_shapes(before, after)
    hidden = np.isnan(after)
    n_hidden = hidden.sum(axis=0)
    left = before.sum(axis=0) - np.where(hidden, 0.0, after).sum(axis=0)
    average = np.divide(left, n_hidden, out=np.zeros(len(left)), where=n_hidden > 0)
    return np.where(hidden, average, after)


# -- checks ---------------------------------------------------------------------------------------


def table_pair(
    original: Numbers, released: Numbers, by: By, *, least: float = -np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables as arrays of one shape, lying on their side if read by columns."""
    before, after = _table(original, least=least), _table(released, least=least)
    _check_shapes(before, after)
    if by not in ("rows", "columns"):
        raise ParameterError("a table is read by rows or by columns", got=repr(by))
    return (before, after) if by == "rows" else (before.T, after.T)


def _check_shapes(before: np.ndarray, after: np.ndarray) -> None:
    if before.shape != after.shape:
        shapes = [" by ".join(map(str, table.shape)) for table in (before, after)]
        raise DataError("both tables must have the same cells", got=" and ".join(shapes))


def _table(given: Numbers, *, least: float = -np.inf) -> np.ndarray:
    cells = np.asarray(given, dtype=float)
    if cells.ndim != 2:
        raise DataError("a table has rows and columns", got=f"{cells.ndim} dimensions")
    if np.isnan(cells).any():
        raise DataError(
            "a table with suppressed cells cannot be compared", do="use fill_suppressed first"
        )
    if np.isinf(cells).any():
        raise DataError("a table needs finite cells", got="infinite values")
    if cells.size and cells.min() < least:
        raise DataError("shares need cells of 0 or above", got=f"{cells.min():g}")
    return cells


def _row_entropy(table: np.ndarray) -> np.ndarray:
    totals = table.sum(axis=1, keepdims=True)
    return entropies(np.divide(table, totals, out=np.zeros_like(table), where=totals > 0))


def entropies(shares: np.ndarray) -> np.ndarray:
    """Return the entropy of each row of shares; 0 log 0 is 0."""
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(np.abs((shares * logs).sum(axis=1)))


def _relative_change(before: float, after: float) -> float:
    if after == before:
        return 0.0
    return float(100.0 * (after - before) / before) if before != 0 else float("inf")

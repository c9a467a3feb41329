"""How far protected counts are from the true ones: by count, by size and cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.tables.transitions import invariant_matrix

BANDS = (20, 50, 100, 300, 500, 1000, 5000)
"""Size classes of counts, as in Table 4 of Giessing and Höhne (2011)."""


def observed_transitions(
    original: np.ndarray, released: np.ndarray, *, largest: int = 8, most: int = 13
) -> np.ndarray:
    """Return the share of cells of each count that became each count.

    Parameters
    ----------
    original, released
        Counts of the same cells.
    largest
        Last true count, rows 0 to `largest`.
    most
        Last released count, columns 0 to `most`; larger ones are in the last column.

    Notes
    -----
    For protections without a design, such as SAFE, this is what stands in its place: Table 1 of
    [giessing2011]_. A count that does not occur has a row of NaN.

    Examples
    --------
    >>> observed_transitions([1, 1, 1, 2], [0, 3, 0, 3], largest=2, most=3)[1].round(2).tolist()
    [0.67, 0.0, 0.0, 0.33]
    """
    before, after = _pair(original, released)
    rows = before <= largest
    table = np.zeros((largest + 1, most + 1))
    np.add.at(table, (before[rows], np.minimum(after[rows], most)), 1)
    total = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, total, out=np.full(table.shape, np.nan), where=total > 0)
    return np.asarray(shares)


def deviation_shares(original: np.ndarray, released: Mapping[str, np.ndarray]) -> Any:
    """Return the distribution of absolute deviations over the cells that are not zero, in percent.

    Parameters
    ----------
    original
        True counts.
    released
        Counts of several protections, by name.

    Returns
    -------
    A Polars frame with a row for each absolute deviation and a column for each protection, as
    Table 5 of [giessing2011]_.

    Examples
    --------
    >>> deviation_shares([1, 2, 0, 4], {"noise": [0, 3, 0, 4]}).rows()
    [(0, 33.333333333333336), (1, 66.66666666666667)]
    """
    import polars as pl

    changes = {}
    for name, new in released.items():
        before, after = _pair(original, new)
        changes[name] = np.abs(after - before)[before > 0]
    largest = max((int(c.max(initial=0)) for c in changes.values()), default=0)
    columns = {
        name: 100.0 * np.bincount(change, minlength=largest + 1) / max(len(change), 1)
        for name, change in changes.items()
    }
    return pl.DataFrame({"absolute deviation": np.arange(largest + 1), **columns})


def largest_deviations(
    original: np.ndarray, released: np.ndarray, *, bands: Sequence[int] = BANDS
) -> Any:
    """Return the largest absolute deviation in each size class of counts, as GH's Table 4."""
    import polars as pl

    before, after = _pair(original, released)
    if len(bands) < 1 or any(b <= a for a, b in pairwise(bands)):
        raise ParameterError("size classes begin at rising numbers", got=list(bands))
    change = np.abs(after - before)
    edges = [*bands, np.inf]
    rows = []
    for low, high in pairwise(edges):
        inside = (before >= low) & (before < high)
        label = f"{low}-{high - 1}" if np.isfinite(high) else f"at least {low}"
        rows.append((label, int(inside.sum()), int(change[inside].max(initial=0))))
    return pl.DataFrame(rows, schema=["counts", "cells", "largest deviation"], orient="row")


def control_report(
    original: Any, released: Any, columns: Sequence[str], *, up_to: int | None = None
) -> Any:
    """Return by how much the tables of protected records deviate, by their number of variables.

    For `Safe`: whether any table holds a 1 or 2, and the largest deviation in the controlled
    tables and beyond. Stays inside.

    Parameters
    ----------
    original, released
        Records before and after, as Microdata or frames.
    columns
        The variables that were protected.
    up_to
        Largest number of variables of a table; all of them unless given.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> data, columns = tacit.datasets.census(500), ["sex", "education", "marital"]
    >>> made = tacit.Plan([tables.Safe(columns=columns)]).apply(data, seed=1)
    >>> int(control_report(data, made.frame, columns)["smallest count"].min())
    3
    """
    import polars as pl

    before, after = (Microdata.of(data).local.select(columns) for data in (original, released))
    lines = []
    for order in range(1, (up_to or len(columns)) + 1):
        chosen = list(combinations(columns, order))
        true, new = (
            np.concatenate(c)
            for c in zip(*(_both(before, after, by) for by in chosen), strict=True)
        )
        change = np.abs(new - true)
        small = int(new[new > 0].min(initial=np.iinfo(np.int64).max)) if new.any() else 0
        lines.append((order, len(chosen), len(true), small, change.mean(), int(change.max())))
    names = ["variables", "tables", "cells", "smallest count", "mean deviation",
             "largest deviation"]  # fmt: skip
    return pl.DataFrame(lines, schema=names, orient="row")


def _both(before: Any, after: Any, by: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of one table in both files, over the cells that either has."""
    counted = [frame.group_by(by).len() for frame in (before, after)]
    both = counted[0].join(counted[1], on=by, how="full", nulls_equal=True)
    true, new = (both[c].fill_null(0).to_numpy().astype(np.int64) for c in ("len", "len_right"))
    return true, new


def blurred_deviations(
    deviations: np.ndarray, rng: np.random.Generator, *, spread: float = 0.5, reach: int = 2
) -> np.ndarray:
    r"""Return deviations that may be published beside the cells: nearly those that happened.

    Publishing by how much each cell was changed would undo the change. These are changed in turn,
    and every deviation occurs exactly as often as it did, so that users of the table can judge its
    quality cell by cell and as a whole. Publish their absolute values.

    Parameters
    ----------
    deviations
        Released minus true counts.
    rng
        Source of randomness; its seed is a secret.
    spread
        Probability, before it is made invariant, that a deviation moves.
    reach
        How far it may move.

    Notes
    -----
    With :math:`n_d` cells of deviation :math:`d` and an invariant matrix :math:`R = PQ` (see
    `invariant_matrix`), :math:`n_d R_{de}` cells move from :math:`d` to :math:`e` and as many move
    back; these flows are rounded at random, which keeps every :math:`n_d`. Section 7 of
    [giessing2011]_, whose frequencies are met within 2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> true = rng.integers(-3, 4, 1000)
    >>> blurred = blurred_deviations(true, rng)
    >>> (
    ...     bool((np.bincount(blurred + 3) == np.bincount(true + 3)).all()),
    ...     bool((blurred != true).any()),
    ... )
    (True, True)
    """
    given = np.asarray(deviations)
    if np.any(given != np.rint(given)):
        raise DataError("deviations of counts are whole numbers")
    if not 0 < spread <= 1 or reach < 1:
        raise ParameterError("the spread is in (0, 1] and the reach at least 1")
    values, place, times = np.unique(
        given.astype(np.int64), return_inverse=True, return_counts=True
    )
    if len(values) < 2:
        return given.astype(np.int64)
    matrix = invariant_matrix(_first_matrix(values, spread, reach), times.astype(float))
    flows = _whole_flows(times[:, None] * matrix, times, rng)
    moved = np.empty(len(given), dtype=np.int64)
    for d in range(len(values)):
        cells = rng.permutation(np.flatnonzero(place == d))
        moved[cells] = np.repeat(values, flows[d])
    return moved


def _first_matrix(values: np.ndarray, spread: float, reach: int) -> np.ndarray:
    """Return a transition matrix that moves a deviation to its neighbours."""
    near = np.abs(values[:, None] - values[None, :]) <= reach
    np.fill_diagonal(near, False)
    alone = ~near.any(axis=1)
    near[alone] = ~np.eye(len(values), dtype=bool)[alone]
    moving = spread * near / near.sum(axis=1, keepdims=True)
    return np.asarray(moving + (1 - spread) * np.eye(len(values)))


def _whole_flows(flows: np.ndarray, times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Round equal flows both ways at random; what is left stays where it is."""
    upper = np.triu(flows, 1)
    whole = np.floor(upper) + (rng.random(upper.shape) < upper - np.floor(upper))
    whole = (whole + whole.T).astype(np.int64)
    for d in np.flatnonzero(whole.sum(axis=1) > times):
        while whole[d].sum() > times[d]:
            other = int(np.argmax(whole[d]))
            whole[d, other] -= 1
            whole[other, d] -= 1
    np.fill_diagonal(whole, times - whole.sum(axis=1))
    return np.asarray(whole)


def _pair(original: Any, released: Any) -> tuple[np.ndarray, np.ndarray]:
    before, after = (np.asarray(x, dtype=float) for x in (original, released))
    if before.shape != after.shape:
        raise DataError(
            "both tables must have the same cells", got=f"{before.shape}, {after.shape}"
        )
    if not (np.all(np.isfinite(before)) and np.all(np.isfinite(after))):
        raise DataError("counts are numbers in every cell", do="leave suppressed cells out")
    if np.any(before != np.rint(before)) or np.any(after != np.rint(after)) or before.min(
        initial=0
    ) < 0 or after.min(initial=0) < 0:  # fmt: skip
        raise DataError("counts are whole numbers of 0 or above")
    return before.astype(np.int64), after.astype(np.int64)

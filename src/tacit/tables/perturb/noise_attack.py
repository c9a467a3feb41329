"""An intruder who knows the noise and the sums: which true counts can be worked out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core.errors import DataError
from tacit.core.progress import track
from tacit.tables.perturb.noise_table import NoiseTable
from tacit.tables.protected import ProtectedTable
from tacit.tables.table import Table

MOST_PROGRAMMES = 20
"""How many cells are attacked by linear programming unless they are named."""
_ROUNDS = 50
_WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class NoiseAttack:
    """What the intruder has found out."""

    cells: np.ndarray
    """The cells that were attacked."""
    low: np.ndarray
    """Least true count that is possible."""
    high: np.ndarray
    """Largest true count that is possible."""
    truth: np.ndarray
    """The true counts."""

    @property
    def disclosed(self) -> np.ndarray:
        """Whether only one count is possible, of those attacked."""
        return np.asarray(self.low == self.high)

    @property
    def summary(self) -> dict[str, float]:
        """What the attack has yielded."""
        small = (self.truth > 0) & (self.truth < 3)
        known = self.disclosed & (self.truth > 0)
        n = max(len(self.cells), 1)
        return {
            "cells attacked": len(self.cells),
            "counts disclosed": int(known.sum()),
            "small counts disclosed": int((known & small).sum()),
            "share disclosed": float(known.sum() / n),
            "mean width": float(np.mean(self.high - self.low)) if len(self.cells) else 0.0,
        }


def noise_attack(
    protected: ProtectedTable,
    noise: NoiseTable | float,
    *,
    cells: np.ndarray | None = None,
) -> NoiseAttack:
    r"""Work out what an intruder can who knows the noise, the sums and nothing else.

    Parameters
    ----------
    protected
        Published counts.
    noise
        The noise table, as published; or the largest change, for a table made additive.
    cells
        Cells to attack by linear programming; by default up to 20 of those that intervals have
        not settled, the narrowest first. All others are narrowed by the sums alone.

    Notes
    -----
    For each cell :math:`l_c = \min \{x_c : Rx = 0,\ a(y) \le x \le b(y)\}` and the maximum, where
    :math:`[a(y), b(y)]` are the counts that can have become the published :math:`y`; ends are
    rounded inwards, because counts are whole. Section 5 of [giessing2011]_ describes this attack
    and expects it to succeed rarely.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    >>> method = tables.CellKey()
    >>> found = tables.noise_attack(table.protect(method), method.noise_table)
    >>> bool((found.low <= found.truth).all() and (found.truth <= found.high).all())
    True
    """
    table = protected.original
    low, high = _first_intervals(protected, noise)
    low, high = _narrowed(table, low, high)
    if cells is None:
        open_ = np.flatnonzero(high > low)
        cells = open_[np.argsort((high - low)[open_], kind="stable")][:MOST_PROGRAMMES]
    _by_programme(table, low, high, np.asarray(cells, dtype=np.int64))
    everything = np.arange(table.n_cells)
    truth = table.value if table.count is None else table.count
    return NoiseAttack(everything, low, high, np.asarray(truth, dtype=float))


def _first_intervals(
    protected: ProtectedTable, noise: NoiseTable | float
) -> tuple[np.ndarray, np.ndarray]:
    """Return what single cells tell; a cell that is not published tells nothing."""
    table, seen = protected.original, ~protected.suppressed
    if table.variable is not None or table.weighted_count is not None:
        raise DataError("the attack is on tables of unweighted counts")
    low, high = np.zeros(table.n_cells), np.full(table.n_cells, np.inf)
    published = protected.published[seen]
    if isinstance(noise, NoiseTable):
        low[seen], high[seen] = noise.reach(published)
    else:
        low[seen], high[seen] = np.maximum(published - noise, 0), published + noise
    frozen = table.flags("frozen") & seen
    low[frozen] = high[frozen] = table.value[frozen]
    return low, high


def _narrowed(table: Table, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Narrow intervals by each sum in turn until nothing changes."""
    coo = table.relations.tocoo()
    row, column = coo.coords
    n_rows = table.relations.shape[0]
    for _ in range(_ROUNDS):
        least, most = coo.data * low[column], coo.data * high[column]
        rest_low = _others(np.minimum(least, most), row, n_rows, -np.inf)
        rest_high = _others(np.maximum(least, most), row, n_rows, np.inf)
        ends = np.sort(np.stack([-rest_high / coo.data, -rest_low / coo.data]), axis=0)
        new_low, new_high = low.copy(), high.copy()
        np.maximum.at(new_low, column, np.ceil(ends[0] - _WHOLE))
        np.minimum.at(new_high, column, np.floor(ends[1] + _WHOLE))
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        low, high = new_low, new_high
    return low, high


def _others(terms: np.ndarray, row: np.ndarray, n_rows: int, open_end: float) -> np.ndarray:
    """Return for each term of a sum what all others add up to; infinite if one of them is."""
    finite = np.isfinite(terms)
    known = np.where(finite, terms, 0.0)
    n_open = np.bincount(row, ~finite, n_rows)[row] - ~finite
    return np.where(n_open > 0, open_end, np.bincount(row, known, n_rows)[row] - known)


def _by_programme(table: Table, low: np.ndarray, high: np.ndarray, cells: np.ndarray) -> None:
    """Narrow some intervals by linear programming, in place."""
    from scipy.sparse import csc_array

    from tacit.tables._linear_program import LinearProgram

    if not len(cells):
        return
    programme = LinearProgram(csc_array(table.relations), low, high)
    with track("attacking cells", len(cells)) as advance:
        for cell in cells:
            for sign, ends in ((1.0, low), (-1.0, high)):
                programme.set_cost([cell], sign)
                programme.forget()
                if programme.solve() == "optimal":
                    end = programme.values[cell]
                    ends[cell] = np.ceil(end - _WHOLE) if sign > 0 else np.floor(end + _WHOLE)
            programme.set_cost([cell], 0.0)
            advance(1)

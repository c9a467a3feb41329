"""Noisy tables made additive again, and what that costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables._free_leaves import free_leaves
from tacit.tables.perturb._additive_search import Search, nearest_by_programme, raked
from tacit.tables.protected import ProtectedTable
from tacit.tables.transitions import SMALLEST

How = Literal["cta", "ipf"]


def restore_additivity(
    protected: ProtectedTable,
    how: How | None = "cta",
    *,
    no_small_cells: bool | None = None,
    seconds: float = 60.0,
) -> ProtectedTable:
    r"""Return a table of noisy counts that adds up again and is as near to it as can be managed.

    Parameters
    ----------
    protected
        Counts with noise, for example of `CellKey`.
    how
        ``"cta"``: the nearest additive table in the sum of absolute changes, found in two steps:
        first additive, then without counts of 1 and 2. ``"ipf"``: finest cells in proportion to
        the noisy margins of single dimensions, then made whole; not for linked tables. None
        leaves the table as it is and reports by how much it misses its sums.
    no_small_cells
        Whether 1 and 2 are ruled out; by default if the noisy table has none.
    seconds
        Time for tables whose leaves are tied to each other (linked tables), which are solved by
        integer programming.

    Returns
    -------
    A table whose `notes` say what was changed. True counts play no part, except that cells which
    are zero stay zero: adjusted tables lead back to the noise, not to the truth.

    Notes
    -----
    Section 5 of [giessing2011]_. A table is additive when its finest cells :math:`z` are whole
    numbers and all others their sums :math:`Az`; none is 1 or 2 if no :math:`z_j` is. A local
    search changes one or two :math:`z_j` at a time while :math:`\sum_c |(Az)_c - y_c|` falls.

    Adjusting breaks consistency: the same cell may come out differently in another table. See
    `inconsistency`.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> keyed = tables.with_record_keys(tacit.datasets.census(500), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["region", "sex"], weights=None, keys="rk1")
    >>> whole = tables.restore_additivity(table.protect(tables.CellKey()))
    >>> float(abs(table.relations @ whole.published).max())
    0.0
    """
    target = _noisy(protected, how)
    missed = np.abs(protected.original.relations @ np.nan_to_num(target))
    if how is None:
        notes = {
            "missed sums": int((missed > 1e-9).sum()),
            "largest miss": float(missed.max(initial=0)),
        }
        return replace(protected, notes={**protected.notes, **notes})
    if no_small_cells is None:
        no_small_cells = not np.any((target > 0) & (target < SMALLEST))
    least = SMALLEST if no_small_cells else 1
    began = time.perf_counter()
    made, notes = _adjusted(protected, target, how, least, seconds)
    _check_met(protected, made, least)
    notes |= {"seconds": time.perf_counter() - began, **_costs(protected, target, made)}
    note = {
        "additive": True,
        "public note": f"{protected.notes.get('public note', '')} {_PUBLIC}".strip(),
    }
    return replace(
        protected,
        published=np.where(np.isnan(target), np.nan, made),
        method=f"{protected.method}; made additive ({how})",
        notes={**protected.notes, **note, **notes},
        hides_changes=True,
    )


_PUBLIC = (
    "Counts were then changed a little more so that they add up; the same cell may therefore "
    "differ between tables."
)


def _noisy(protected: ProtectedTable, how: str | None) -> np.ndarray:
    """Return the noisy counts, or refuse what cannot be made additive."""
    if how not in ("cta", "ipf", None):
        raise ParameterError("additivity is restored by cta or ipf", got=repr(how))
    target = np.array(protected.published, dtype=float)
    seen = target[~np.isnan(target)]
    whole = protected.original.weighted_count is None and np.all(seen == np.rint(seen))
    if how is not None and not whole:
        raise DataError(
            "only whole counts can be made additive here",
            do="tabulate without weights, or round the table in a controlled way",
        )
    if how == "ipf" and (np.isnan(target).any() or not protected.original.dimensions):
        raise DataError("ipf needs a table with dimensions of which every cell is published")
    return target


def _adjusted(
    protected: ProtectedTable, target: np.ndarray, how: str, least: int, seconds: float
) -> tuple[np.ndarray, dict[str, Any]]:
    table = protected.original
    free = table.value != 0
    leaves = free_leaves(table, free)
    if leaves is None and how == "ipf":
        raise DataError(
            "ipf fits finest cells to margins, and linked tables have several kinds of them",
            got=repr(table),
            do="restore additivity by cta, or table by table before linking",
        )
    if leaves is None:
        made = nearest_by_programme(table, target, free, least, seconds)
        if made is None:
            raise ProtectionError(
                "no additive table was found",
                got=f"{table.n_cells} cells, {seconds:g} seconds",
                do="allow more time, allow counts of 1 and 2, or leave the table as it is",
            )
        return made, {"adjusted by": "integer programming"}
    rng = np.random.default_rng(0)
    start = np.nan_to_num(target[leaves.at])
    if how == "ipf":
        start = raked(table, leaves, target)
        target = np.asarray(leaves.sums @ start)
    search = Search.begin(leaves, target, start)
    began = time.perf_counter()
    search.improve(1, rng)
    between = time.perf_counter()
    notes: dict[str, Any] = {"cost of adding up": search.cost, "seconds adding up": between - began}
    if least > 1:
        search.improve(least, rng)
        notes["seconds clearing"] = time.perf_counter() - between
    return np.asarray(leaves.sums @ search.counts, dtype=float), notes


def _check_met(protected: ProtectedTable, made: np.ndarray, least: int) -> None:
    table = protected.original
    frozen = table.flags("frozen")
    wrong = frozen & (made != table.value)
    if wrong.any():
        raise ProtectionError(
            "cells that must be published as they are do not add up with the noisy ones",
            got=table.describe(np.flatnonzero(wrong)),
            do="release them (freeze with flag=False), or leave the table as it is (how=None)",
        )
    small = (made > 0) & (made < least)
    if np.any(table.relations @ made) or small.any() or made.min(initial=0.0) < 0:
        raise ProtectionError("the table could not be made additive without small cells")


def _costs(protected: ProtectedTable, target: np.ndarray, made: np.ndarray) -> dict[str, float]:
    """Say what was changed beyond the noise, and how far from the truth the table now is."""
    seen = ~np.isnan(target)
    moved = np.abs(made - target)[seen]
    truth = protected.original.value[seen]
    off = np.abs(made[seen] - truth)[truth != 0]
    return {
        "cost": float(moved.sum()),
        "cells changed": float(np.mean(moved > 0)) if len(moved) else 0.0,
        "largest change": float(moved.max(initial=0.0)),
        "largest deviation": float(off.max(initial=0.0)),
        "mean deviation": float(off.mean()) if len(off) else 0.0,
    }


def inconsistency(protected: Mapping[str, ProtectedTable]) -> Any:
    """Return the cells that several tables share and publish differently.

    Parameters
    ----------
    protected
        Tables by name, of the same variable.

    Returns
    -------
    A Polars frame with a row for each such cell: its codes, how many tables publish it, and the
    least and the largest value. Its height over that of all shared cells is the price of
    additivity; a table left as it is has none.
    """
    import polars as pl

    from tacit.tables.link import link

    if len(protected) < 2:
        raise ParameterError("consistency is between two tables or more", got=len(protected))
    whole = link({name: one.original for name, one in protected.items()})
    low, high = np.full(whole.n_cells, np.inf), np.full(whole.n_cells, -np.inf)
    times = np.zeros(whole.n_cells, dtype=np.int64)
    for name, one in protected.items():
        place, value = whole.parts[name], one.published
        np.fmin.at(low, place, value)
        np.fmax.at(high, place, value)
        np.add.at(times, place, ~np.isnan(value))
    differs = (times > 1) & (high > low)
    codes = whole.code_frame
    added = {"tables": times, "least": low, "largest": high}
    return codes.with_columns(**{n: pl.Series(v) for n, v in added.items()}).filter(
        pl.Series(differs)
    )

"""Linked tables: several tables that share cells become one, to be protected together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.tables._additivity import TOLERANCE
from tacit.tables._records import MissingCodes, MissingValues
from tacit.tables._selection import code_keys
from tacit.tables._ties import Records, tie_relations, ties_between
from tacit.tables.contributions import UNNAMED, Contributions
from tacit.tables.dimension import Dimension
from tacit.tables.protected import ProtectedTable
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FLAGS = ("frozen", "forced", "waived", "unsafe", "requested")
_LEVELS = ("level_below", "level_above")
_ROOM = 2**40
"""Numbers kept free for the units without a name of each table."""


def link(
    tables: Mapping[str, Table],
    *,
    records: Any = None,
    missing: MissingCodes = "error",
    missing_value: MissingValues = "error",
) -> Table:
    """Return several tables as one: cells with the same codes are the same cell.

    A dimension that a table does not have stands at its total there. Relations of all tables hold
    together, so that whatever protects the result protects the tables against being compared.

    Columns of different tables may follow from one another without a hierarchy that says so, as
    regions from provinces. Who adds up the provinces of one table has the regions of another, so
    that these sums become relations, too, also where several columns do so at once. They are looked
    for in `records`, or in a table that has both columns; where neither is given, say with
    hierarchies what lies in what. Codes that partly overlap are not looked for: they give no sum,
    but a bound, as a district cannot have more than the regions that it has a part in.

    Parameters
    ----------
    tables
        The tables by name. They must be about the same variable, and agree on the cells they
        share. Units are recognised across tables where they were named when the tables were built.
    records
        The records that the tables were built from.
    missing, missing_value
        What was done with records without a code or a value, see `tacit.tabulate`.

    Raises
    ------
    DataError
        If two tables differ on a cell they share; it is named.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> frame = pl.DataFrame({"region": list("NNS"), "size": list("121"), "x": [3, 4, 5]})
    >>> regions, sizes = (tacit.tabulate(frame, name, "x") for name in ("region", "size"))
    >>> both = link({"by region": regions, "by size": sizes})
    >>> both.n_cells, both.relations.shape[0]
    (5, 2)
    """
    if not tables:
        raise ParameterError("there is no table to link")
    _check_alike(tables)
    dimensions = _merged_dimensions(tables.values())
    codes = {name: _codes_in(table, dimensions) for name, table in tables.items()}
    keys = [code_keys(rows, dimensions) for rows in codes.values()]
    _, first, place = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    ends = np.cumsum([len(k) for k in keys])[:-1]
    parts = dict(zip(tables, np.split(place, ends), strict=True))
    joined = _Joined(list(tables.values()), list(parts.values()), first)
    _check_shared(tables, parts, joined)
    read = None if records is None else Records(records, missing, missing_value)
    ties = ties_between(tables, codes, dimensions, read)
    linked = Table(
        value=joined.first("value"),
        relations=_merged_relations(
            tables, parts, tie_relations(ties, parts, codes, dimensions, len(first)), len(first)
        ),
        dimensions=dimensions,
        codes=np.concatenate(list(codes.values()))[first].astype(np.int32),
        variable=next(iter(tables.values())).variable,
        parts=parts,
        linked=dict(tables),
        ties=tuple(dict.fromkeys(str(tie) for _, _, tie in ties)),
        **joined.fields(),
    )
    linked.check_additive()
    return linked


def split(protected: ProtectedTable) -> dict[str, ProtectedTable]:
    """Return the tables that were linked, each as it is published."""
    whole = protected.original
    if not whole.parts:
        raise SchemaError("the table was not linked from others")
    return {name: _part(protected, name) for name in whole.parts}


def _part(protected: ProtectedTable, name: str) -> ProtectedTable:
    whole = protected.original
    cells = whole.parts[name]
    flags = {flag: whole.flags(flag)[cells] for flag in _FLAGS if getattr(whole, flag) is not None}
    table = whole.linked[name].replace(**flags)
    return replace(
        protected,
        original=table,
        sensitive=protected.sensitive.take(cells),
        published=protected.published[cells],
    )


# -- dimensions and relations ----------------------------------------------------------------------


def _check_alike(tables: Mapping[str, Table]) -> None:
    bare = [name for name, table in tables.items() if not table.dimensions and table.n_cells > 1]
    if bare:
        raise SchemaError(
            "tables without dimensions cannot be linked by their codes", got=repr(bare[0])
        )
    variables = {table.variable for table in tables.values()}
    if len(variables) > 1:
        raise SchemaError(
            "linked tables must be about the same variable",
            got=", ".join(sorted("counts" if v is None else repr(v) for v in variables)),
            do="protect tables of different variables one by one",
        )


def _merged_dimensions(tables: Iterable[Table]) -> tuple[Dimension, ...]:
    merged: dict[str, Dimension] = {}
    for table in tables:
        for dimension in table.dimensions:
            present = merged.get(dimension.name)
            merged[dimension.name] = dimension if present is None else _merged(present, dimension)
    return tuple(merged.values())


def _merged(one: Dimension, other: Dimension) -> Dimension:
    """Return the codes and the sums of both."""
    if one.total != other.total:
        raise SchemaError(
            f"the total of {one.name!r} must have the same code in all tables",
            got=f"{one.total!r} and {other.total!r}",
        )
    return Dimension(
        name=one.name,
        codes=tuple(dict.fromkeys([*one.codes, *other.codes])),
        groups=tuple({(p, frozenset(c)): (p, c) for p, c in (*other.groups, *one.groups)}.values()),
        labels={**other.labels, **one.labels},
    )


def _codes_in(table: Table, dimensions: Sequence[Dimension]) -> np.ndarray:
    """Return the codes of a table's cells in the merged dimensions."""
    own = {dimension.name: j for j, dimension in enumerate(table.dimensions)}
    codes = np.zeros((table.n_cells, len(dimensions)), dtype=np.int64)
    for j, dimension in enumerate(dimensions):
        if dimension.name in own:
            k = own[dimension.name]
            place = np.array([dimension.index[code] for code in table.dimensions[k].codes])
            codes[:, j] = place[table.codes[:, k]]
    return codes


def _merged_relations(
    tables: Mapping[str, Table],
    parts: Mapping[str, np.ndarray],
    between: list[csr_array],
    n_cells: int,
) -> csr_array:
    """Return the relations of all tables, and those between them, over all cells, each once."""
    from scipy.sparse import csr_array, vstack

    blocks = []
    for name, table in tables.items():
        coo = table.relations.tocoo()
        place = (coo.coords[0], parts[name][coo.coords[1]])
        blocks.append(csr_array((coo.data, place), shape=(coo.shape[0], n_cells)))
    stacked = csr_array(vstack([*blocks, *between], format="csr"))
    return csr_array(stacked[_first_of_equal_rows(stacked), :])


def _first_of_equal_rows(relations: csr_array) -> np.ndarray:
    """Return the rows that are not a repetition, found by adding up random numbers of cells."""
    rng = np.random.default_rng(0)
    marks = rng.integers(0, 2**63, (2, relations.shape[1]), dtype=np.uint64)
    signed = relations.data.astype(np.int64).astype(np.uint64)
    row = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    sums = np.zeros((relations.shape[0], 2), dtype=np.uint64)
    for j, mark in enumerate(marks):
        np.add.at(sums[:, j], row, signed * mark[relations.indices])
    return np.sort(np.unique(sums, axis=0, return_index=True)[1])


# -- what is known about the cells -----------------------------------------------------------------


class _Joined:
    """Arrays of several tables, read as arrays over the cells of all of them."""

    def __init__(self, tables: list[Table], places: list[np.ndarray], first: np.ndarray) -> None:
        self.tables, self.places, self.chosen = tables, places, first
        self.n_cells = len(first)

    def first(self, name: str) -> np.ndarray:
        """Return an array that all tables have; the first table with a cell speaks for it."""
        stacked = np.concatenate([getattr(table, name) for table in self.tables])
        return np.asarray(stacked[self.chosen])

    def has_all(self, name: str) -> bool:
        return all(getattr(table, name) is not None for table in self.tables)

    def has_any(self, name: str) -> bool:
        return any(getattr(table, name) is not None for table in self.tables)

    def gathered(self, name: str, start: float, choose: Any) -> np.ndarray:
        """Return an array that some tables may have, joined by a choice such as the maximum."""
        found = np.full(self.n_cells, start)
        for table, place in zip(self.tables, self.places, strict=True):
            given = getattr(table, name)
            if given is not None:
                choose.at(found, place, given)
        return found

    def fields(self) -> dict[str, Any]:
        """Return what the linked table knows about its cells beyond their values."""
        counts = {n: self.first(n) for n in ("count", "weighted_count") if self.has_all(n)}
        flags = {n: self.gathered(n, 0.0, np.maximum) > 0 for n in _FLAGS if self.has_any(n)}
        levels = {n: self.gathered(n, np.nan, np.fmax) for n in _LEVELS if self.has_any(n)}
        kinds = {
            kind: self._contributions([getattr(t, kind) for t in self.tables])
            for kind in ("respondents", "holdings")
            if self.has_all(kind)
        }
        known = {**counts, **flags, **levels, **kinds, **self._bounds(), **self._costs()}
        return {**known, **{n: self._keys(n) for n in ("key_sums", "value_key_sums")}}

    def _keys(self, name: str) -> dict[str, np.ndarray]:
        """Return the sums of the secret keys that all tables have."""
        given = [getattr(table, name) for table in self.tables]
        shared = [key for key in given[0] if all(key in sums for sums in given)]
        return {k: np.concatenate([sums[k] for sums in given])[self.chosen] for k in shared}

    def _bounds(self) -> dict[str, np.ndarray]:
        """Return the narrowest bounds that any of the tables gives."""
        bounds = {}
        if self.has_any("lower") or min(t.value.min(initial=0) for t in self.tables) < 0:
            bounds["lower"] = np.full(self.n_cells, -np.inf)
            for table, place in zip(self.tables, self.places, strict=True):
                np.maximum.at(bounds["lower"], place, table.bounds[0])
        if self.has_any("upper"):
            bounds["upper"] = self.gathered("upper", np.inf, np.minimum)
        return bounds

    def _costs(self) -> dict[str, np.ndarray]:
        if not self.has_any("cost"):
            return {}
        given = self.gathered("cost", np.nan, np.fmax)
        return {"cost": np.where(np.isnan(given), np.abs(self.first("value")), given)}

    def _contributions(self, kinds: list[Contributions]) -> Contributions:
        depth = min(kind.depth for kind in kinds)

        def stacked(name: str) -> np.ndarray | None:
            arrays = [getattr(kind, name) for kind in kinds]
            if any(array is None for array in arrays):
                return None
            if name == "unit":
                arrays = [_apart(units, j) for j, units in enumerate(arrays)]
            cut = [a[:, :depth] if a.ndim == 2 else a for a in arrays]
            return np.asarray(np.concatenate(cut)[self.chosen])

        names = ("top", "n_units", "absolute", "weight", "unit", "requested", "net")
        return Contributions(**{name: stacked(name) for name in names})  # type: ignore[arg-type]


def _apart(units: np.ndarray, part: int) -> np.ndarray:
    """Keep apart the units without a name of different tables: nobody says they are the same."""
    return np.where(units >= UNNAMED, units + part * _ROOM, units)


def _check_shared(
    tables: Mapping[str, Table], parts: Mapping[str, np.ndarray], joined: _Joined
) -> None:
    """Refuse tables that differ on a cell they share."""
    for name in ("value", "count"):
        if not joined.has_all(name):
            continue
        common = joined.first(name)
        for table_name, table in tables.items():
            mine, theirs = getattr(table, name), common[parts[table_name]]
            wrong = np.flatnonzero(
                np.abs(mine - theirs) > TOLERANCE * np.maximum(np.abs(theirs), 1)
            )
            if len(wrong):
                raise DataError(
                    f"linked tables differ in the {name} of cells they share",
                    got=f"{table.describe(wrong)} of {table_name!r}: {mine[wrong[0]]:g}, "
                    f"elsewhere {theirs[wrong[0]]:g}",
                    do="build the tables from the same records",
                )

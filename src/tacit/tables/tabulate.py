"""Tables from records: the engine adds up the finest cells, the rest is arithmetic on cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, nearest
from tacit.core.progress import track
from tacit.tables._checkpoint import Checkpoints, checkpoints
from tacit.tables._codes import dimensions_of, leaf_rows
from tacit.tables._grid import check_size, shape_of
from tacit.tables._key_sums import key_parts, key_sum
from tacit.tables._leaves import (
    AMOUNT,
    BASIS,
    REQUEST,
    SIZE,
    UNIT,
    VALUE,
    WEIGHT,
    leaf_sums,
    record_entries,
    unit_entries,
)
from tacit.tables._leaves import Entries as LeafEntries
from tacit.tables._precision import settled
from tacit.tables._records import Columns, MissingCodes, MissingValues, Prepared, prepare
from tacit.tables._rollup import Cells, Entries, Spread, largest_of, roll_up, with_spread
from tacit.tables.contributions import UNNAMED, Contributions
from tacit.tables.dimension import TOTAL, Dimension
from tacit.tables.table import Table

_FROM_SCHEMA = "weight of the schema"


def tabulate(
    data: Any,
    by: str | Iterable[str],
    value: str | None = None,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    weights: str | None = _FROM_SCHEMA,
    unit: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    shadow: str | None = None,
    cost: str | None = None,
    sums: Iterable[str] = (),
    keys: str | Iterable[str] = (),
    top: int = 5,
    total: str = TOTAL,
    missing: MissingCodes = "error",
    missing_value: MissingValues = "error",
    keep_empty: bool = True,
) -> Table:
    """Build a table of counts or totals, with what rules must know about each cell.

    The records stay where they are: Polars, DuckDB, Spark or a database adds up the cells at the
    finest codes, and only these come back.

    Parameters
    ----------
    data
        Microdata, or a frame of any kind.
    by
        Columns that span the table.
    value
        Column to add up; nothing gives a table of counts.
    hierarchies
        For each column the codes that add up: a `Tree`, `Prefixes`, `Intervals`, a `Dimension`, a
        mapping from parents to children, or a list of these (several breakdowns). By default the
        schema's hierarchies; without one, the codes add up to a total.
    weights
        Column of sampling weights; by default the schema's; None for unweighted.
    unit
        Column that names the respondent, where one may have several records.
    holding
        Column that names the holding a respondent belongs to; a record without stands for itself.
    request
        Column that says which respondents ask for protection (true, or the code 1 or 2).
    shadow
        Column whose contributions the rules look at, instead of `value`. The protection they
        require is the same share of the value as it is of this column.
    cost
        Column whose totals are what it costs to suppress a cell.
    sums
        Other columns to add up in the same cells.
    keys
        Columns of secret record keys (see `with_record_keys`), for the cell key method.
    top
        How many of the largest contributions to keep for each cell.
    total
        Code of the total of each dimension.
    missing
        What to do with records whose code is missing: ``"error"``, ``"own category"``, ``"drop"``.
    missing_value
        What to do with records whose value is missing: ``"error"`` or ``"drop"``.
    keep_empty
        Whether cells nobody contributes to are part of the table.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> frame = pl.DataFrame({"region": ["N1", "N2", "S1"], "turnover": [60, 30, 5]})
    >>> regions = {"Total": ["N", "S1"], "N": ["N1", "N2"]}
    >>> table = tacit.tabulate(frame, "region", "turnover", hierarchies={"region": regions})
    >>> table.frame.rows()
    [('Total', 95.0, 3), ('N', 90.0, 2), ('N1', 60.0, 1), ('N2', 30.0, 1), ('S1', 5.0, 1)]
    """
    microdata = Microdata.of(data)
    weight = microdata.schema.weight if weights == _FROM_SCHEMA else weights
    extra = tuple(dict.fromkeys([*sums, *([cost] if cost else [])]))
    units = tuple(dict.fromkeys(name for name in (unit, holding) if name is not None))
    columns = Columns(
        (by,) if isinstance(by, str) else tuple(by), value, shadow, weight, request, units, extra,
        (keys,) if isinstance(keys, str) else tuple(keys),
    )  # fmt: skip
    _check(columns, hierarchies or {}, top)
    prepared = prepare(microdata, columns, missing, missing_value)
    with track("adding up cells", total=4) as advance:
        leaves = leaf_sums(prepared.source)
        advance(1)
        given = dict(hierarchies or {})
        dimensions, codes = dimensions_of(microdata, prepared, leaves, given, total)
        table = _Builder(prepared, dimensions, codes, leaves, top, keep_empty)
        advance(1)
        with checkpoints() as place:
            kinds = _kinds_of_units(prepared, unit, holding)
            entries = {name: table.entries(column, place) for name, column in kinds.items()}
            advance(1)
            made = table.build(entries)
            advance(1)
    return made if cost is None else made.replace(cost=np.abs(made.sums[cost]))


def _check(columns: Columns, hierarchies: Mapping[str, Any], top: int) -> None:
    for name in hierarchies:
        if name not in columns.by:
            raise ParameterError(
                f"there is a hierarchy for {name!r}, which does not span the table",
                do=nearest(name, columns.by),
            )
    if top < 1:
        raise ParameterError("top must be at least 1", got=top)
    if columns.shadow is not None and columns.value is None:
        raise ParameterError("a shadow variable needs a value to stand for", got=columns.shadow)


def _kinds_of_units(
    prepared: Prepared, unit: str | None, holding: str | None
) -> dict[str, str | None]:
    """Return for respondents and holdings our column of units, None for records."""
    kinds: dict[str, str | None] = {}
    if unit is not None or prepared.source.has_value:
        kinds["respondents"] = None if unit is None else prepared.units[unit]
    if holding is not None:
        kinds["holdings"] = prepared.units[holding]
    return kinds


class _Builder:
    """What is known about the finest cells of a table while it is built."""

    def __init__(
        self,
        prepared: Prepared,
        dimensions: tuple[Dimension, ...],
        codes: np.ndarray,
        leaves: Any,
        top: int,
        keep_empty: bool,
    ) -> None:
        self.prepared, self.dimensions, self.codes = prepared, dimensions, codes
        self.leaves, self.top, self.keep_empty = leaves, top, keep_empty
        if keep_empty:
            check_size(dimensions)

    def entries(self, column: str | None, place: Checkpoints) -> LeafEntries:
        """Return the contributions of one kind of unit."""
        if column is None:
            return record_entries(self.prepared.source, self.top)
        return unit_entries(self.prepared.source, column, self.top, place)

    # -- from frames to arrays ------------------------------------------------------------------

    def _rows(self, frame: Any) -> np.ndarray:
        return leaf_rows(self.leaves, frame, self.prepared.source.by)

    def _numbers(self) -> dict[str, np.ndarray]:
        source = self.prepared.source
        names = [SIZE, *([WEIGHT] if source.has_weight else []), *source.sums]
        names += [VALUE, BASIS] if source.has_value else []
        numbers = {name: _settled(self.leaves[name]) for name in names}
        for name in self._key_names():
            numbers |= key_parts(name, self.leaves[name].fill_null(0).to_numpy())
        return numbers

    def _key_names(self) -> list[str]:
        keys = self.prepared.source.keys
        return [*keys, *(k + VALUE for k in keys if self.prepared.source.has_value)]

    def build(self, kinds: Mapping[str, LeafEntries]) -> Table:
        """Return the table with the contributions of each kind of unit."""
        numbers = self._numbers()
        for kind, entries in kinds.items():
            rows = self._rows(entries.cells)
            for name in (SIZE, AMOUNT):
                filled = np.zeros(len(self.leaves))
                filled[rows] = _settled(entries.cells[name])
                numbers[f"{kind}{name}"] = filled
        place = {name: j for j, name in enumerate(numbers)}
        largest = tuple(
            largest_of(self._rows(one.top), _numbered(one.top), len(self.leaves), self.top)
            for one in kinds.values()
        )
        stacked = np.column_stack(list(numbers.values())).reshape(len(self.leaves), len(numbers))
        cells = roll_up(Cells(self.codes, stacked, largest), self.dimensions)
        for k, (kind, entries) in enumerate(kinds.items()):
            columns = (place[f"{kind}{SIZE}"], place[f"{kind}{AMOUNT}"])
            parts = (self._spread(part) for part in entries.spread if part.height)
            cells = with_spread(cells, self.codes, self.dimensions, parts, k, columns)
        return self._table(cells, place, list(kinds))

    def _spread(self, part: Any) -> Spread:
        """Return the contributions of units, which stand together, as arrays."""
        is_first = (part[UNIT] != part[UNIT].shift()).fill_null(True).to_numpy()
        first = np.flatnonzero(is_first)
        return Spread(
            np.append(first, part.height),
            _unit_numbers(part[UNIT].filter(is_first)),
            self._rows(part),
            _settled(part[BASIS]),
            _settled(part[AMOUNT]),
            part[WEIGHT].to_numpy(),
            part[REQUEST].to_numpy().astype(np.int8),
        )

    # -- from arrays to a table -----------------------------------------------------------------

    def _table(self, cells: Cells, place: Mapping[str, int], kinds: list[str]) -> Table:
        codes, relations, at = shape_of(cells.codes, self.dimensions, self.keep_empty)
        n = len(codes)
        sums = np.zeros((n, cells.sums.shape[1]))
        sums[at] = cells.sums
        source, columns = self.prepared.source, self.prepared.columns
        count = sums[:, place[SIZE]].astype(np.int64)
        weighted = sums[:, place[WEIGHT]] if source.has_weight else None
        counted = count.astype(float) if weighted is None else weighted
        value = sums[:, place[VALUE]] if source.has_value else counted
        found = {
            kind: self._contributions(k, kind, cells, sums, place, at)
            for k, kind in enumerate(kinds)
        }
        return Table(
            value=value,
            relations=relations,
            dimensions=self.dimensions,
            codes=codes,
            variable=columns.value,
            count=count,
            weighted_count=weighted,
            lower=np.full(n, -np.inf) if self.prepared.has_negative else None,
            sums={name: sums[:, place[f"s{j}"]] for j, name in enumerate(columns.sums)},
            key_sums={n: key_sum(f"k{j}", sums, place) for j, n in enumerate(columns.keys)},
            value_key_sums={
                name: key_sum(f"k{j}{VALUE}", sums, place)
                for j, name in enumerate(columns.keys if source.has_value else ())
            },
            **found,  # type: ignore[arg-type]
        )

    def _contributions(
        self,
        k: int,
        kind: str,
        cells: Cells,
        sums: np.ndarray,
        place: Mapping[str, int],
        at: np.ndarray,
    ) -> Contributions:
        source, largest = self.prepared.source, cells.largest[k]
        n = len(sums)

        def spread_out(part: np.ndarray, empty: float) -> np.ndarray:
            full = np.full((n, part.shape[1]), empty, dtype=part.dtype)
            full[at] = part
            return full

        shadowed = self.prepared.columns.shadow is not None
        return Contributions(
            top=spread_out(largest.size, 0),
            n_units=sums[:, place[f"{kind}{SIZE}"]].astype(np.int64),
            absolute=sums[:, place[f"{kind}{AMOUNT}"]],
            weight=spread_out(largest.weight, 0) if source.has_weight else None,
            unit=spread_out(largest.unit, -1),
            requested=spread_out(largest.request, 0) if source.has_request else None,
            net=sums[:, place[BASIS]] if shadowed else None,
        )


def _settled(column: Any) -> np.ndarray:
    return settled(column.cast(float).to_numpy())


def _numbered(top: Any) -> Entries:
    """Return the largest contributions as arrays."""
    return Entries(
        settled(top[BASIS].to_numpy()),
        _unit_numbers(top[UNIT]) if UNIT in top.columns else UNNAMED + np.arange(top.height),
        top[WEIGHT].to_numpy(),
        top[REQUEST].to_numpy().astype(np.int8),
    )


def _unit_numbers(named: Any) -> np.ndarray:
    """Return a number for each unit that is the same in every table; unnamed ones get their own."""
    import polars as pl

    number = (named.hash(seed=0) // 4).cast(pl.Int64)
    if named.dtype.is_integer():
        given = named.cast(pl.Int64, strict=False)
        number = given.zip_with(((given >= 0) & (given < UNNAMED)).fill_null(False), number)
    filled = number.fill_null(0).to_numpy().copy()
    gaps = named.is_null().to_numpy()
    filled[gaps] = UNNAMED + np.arange(gaps.sum())
    return np.asarray(filled, dtype=np.int64)

"""A file as a synthesiser sees it, and the way back to records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.knowledge import Knowledge
from tacit.mask._households import household_codes
from tacit.mask.restore_rules import restored
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.edits import Edits, as_rules_hold
from tacit.mask.synthesis.originals import without_originals
from tacit.mask.synthesis.rules import Combination, named_columns
from tacit.mask.synthesis.units import Units

_FEWEST = 10


class Joint(Protocol):
    """A model of all columns at once."""

    def draw(self, n: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw records, and the unit of each."""


@dataclass(frozen=True)
class Source:
    """The original as coded columns, unit by unit, and the way back."""

    data: Microdata
    """The records, those of a unit one after another."""
    columns: dict[str, Column]
    units: Units | None

    @classmethod
    def of(cls, data: Microdata, order_by: str | None = None, *, by: str) -> Source:
        """Code all columns but the household number."""
        _ = data.weights  # refuses bad ones
        household = data.schema.household
        units = None
        if household is not None:
            codes = household_codes(data, by=by)
            data, units = _in_units(data, codes, order_by)
        elif order_by is not None:
            raise ParameterError(
                "order_by needs a column that says which records belong together",
                do="name it with with_roles(household=...)",
            )
        names = [c for c in data.columns if c != household]
        if not names:
            raise DataError("there is no column to synthesise beside the household number")
        table = data.local
        return cls(data, {c: Column.of(table[c], data.schema[c]) for c in names}, units)

    @property
    def n_units(self) -> int:
        """Units of the original; records where there are no units."""
        return self.data.n_records if self.units is None else len(self.units.sizes)

    def repaired(self, values: dict[str, np.ndarray], edits: Edits) -> Microdata:
        """Return drawn values as records that obey all edit rules, impossible ones excepted."""
        import polars as pl

        series = [column.decoded(values[name]) for name, column in self.columns.items()]
        schema = self.data.schema.select(self.columns)
        drawn = Microdata.of(pl.DataFrame(series)).with_schema(schema)
        return as_rules_hold(restored(drawn).data, replace(edits, impossible=()))

    def finished(self, table: Any, unit: np.ndarray) -> Microdata:
        """Give units their numbers, scale the weights, and mark all records as nobody's."""
        import polars as pl

        household, weight = self.data.schema.household, self.data.schema.weight
        if household is not None:
            table = table.with_columns(pl.Series(household, unit + 1, dtype=pl.Int64))
        if weight is not None:
            total = float(self.data.local[weight].sum())
            table = table.with_columns(
                pl.col(weight).cast(pl.Float64) * (total / table[weight].sum())
            )
        table = table.with_columns(pl.lit(-1, dtype=pl.Int64).alias(ROW))
        held = self.data._holding(table.select([*self.data.columns, ROW]), self.data.schema)
        return _knowing_nothing(held)


def _in_units(data: Microdata, codes: np.ndarray, order_by: str | None) -> tuple[Microdata, Units]:
    """Put the records of each unit one after another, in the order of a column."""
    order = np.argsort(codes, kind="stable")
    if order_by is not None:
        data.schema.require([order_by])
        place = data.local[order_by].rank("ordinal").fill_null(data.n_records + 1).to_numpy()
        order = np.lexsort((place, codes))
    return data.take(order), Units.of(codes[order])


def _knowing_nothing(data: Microdata) -> Microdata:
    """Forget what an intruder knows about single records, which are no longer there."""
    return replace(data, knowledge=Knowledge(data.knowledge.everyone, {}))


def jointly_drawn(
    data: Microdata,
    learn: Callable[[dict[str, Column]], Joint],
    size: int | None,
    forbidden: Any,
    rng: np.random.Generator,
    impossible: tuple[Combination, ...] = (),
) -> Microdata:
    """Learn a joint model of all columns, households apart, and draw records from it.

    Records with an impossible combination are drawn again.
    """
    data.schema.require(named_columns((), impossible))
    if data.schema.household is not None:
        data = data.drop([data.schema.household])
    source = Source.of(data, by="a joint model")
    if data.n_records < _FEWEST:
        raise DataError(
            f"synthesis needs at least {_FEWEST} records to learn from", got=f"{data.n_records}"
        )
    edits = Edits(source.columns, impossible=impossible)
    model = learn(source.columns)

    def draw(n: int) -> tuple[Any, np.ndarray]:
        values, unit = model.draw(n, rng)
        return source.repaired(values, edits).local, unit

    n_drawn = size or data.n_records
    return source.finished(*without_originals(draw, n_drawn, forbidden, edits.impossible_rows))

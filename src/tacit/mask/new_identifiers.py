"""New numbers for identifiers that must stay linkable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import SchemaError
from tacit.core.families import Mask
from tacit.core.keys import encode_series
from tacit.core.method import Columns
from tacit.core.schema import Kind, Role


class NewIdentifiers(
    Mask,
    key="new-identifiers",
    title="New identification numbers",
    cites=("hundepool2012", "templ2015"),
    example={"columns": ["region"]},
):
    """Replace the numbers of households, schools or places by new ones drawn at random.

    Records that shared a number share the new one, so that users can still put households together
    or count clusters, and the numbers lead nowhere outside the file. Direct identifiers are removed
    before any plan and need no new number. When not to use it: where the number itself carries
    information that users need (a region); recode it instead.

    Missing values: stay missing. Weights: not used; a weight is no identifier and is refused.
    Households: members keep a common number; by default the household column is the one replaced.

    Notes
    -----
    The :math:`m` distinct values become 1 to :math:`m` in random order, every order with the same
    probability [hundepool2012]_, [templ2015]_. The column becomes nominal; its hierarchy and the
    edit rules that name it no longer apply. A file whose records lie in the order of the old
    numbers still gives their order away: put them in random order too.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300)
    >>> frame = tacit.Plan([mask.NewIdentifiers()]).apply(data, seed=1).frame
    >>> frame["household"].n_unique() == data.frame["household"].n_unique()
    True
    >>> frame["household"].equals(data.frame["household"])
    False
    """

    columns: Columns | None = None
    """Columns that hold numbers or codes of units; by default the household column."""
    together: bool = False
    """Number all columns from one list, so that a partner's number still leads to the partner."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with new numbers."""
        columns = self._columns(data)
        sets = [columns] if self.together else [[c] for c in columns]
        table = data.local
        for chosen in sets:
            table = table.with_columns(new_numbers([table[c] for c in chosen], rng))
        return replace(data.with_local(table), schema=_as_numbers(data, columns))

    def _columns(self, data: Microdata) -> list[str]:
        if self.columns is None and data.schema.household is None:
            raise SchemaError(
                "new numbers need a column that identifies units",
                do="name it in columns, or with with_roles(household=...)",
            )
        columns = list(self.columns or (str(data.schema.household),))
        data.schema.require(columns)
        for name in columns:
            if Role.WEIGHT in data.schema[name].roles:
                raise SchemaError("a weight does not identify units", got=repr(name))
        return columns

    def describe(self) -> str:
        """Say in plain words what was replaced."""
        what = "the household number" if self.columns is None else ", ".join(self.columns)
        together = ", all from one list" if self.together else ""
        return f"{self.title}: {what} replaced by random numbers{together}"


def new_numbers(columns: Sequence[Any], rng: np.random.Generator) -> list[Any]:
    """Replace the distinct values of Polars columns by 1, 2, ..., one list in random order."""
    import polars as pl

    alike = len({column.dtype for column in columns}) == 1
    stacked = pl.concat([c if alike else c.cast(pl.String) for c in columns])
    codes = encode_series(stacked)
    number = rng.permutation(int(codes.max(initial=-1)) + 1) + 1
    known = codes >= 0
    drawn = np.zeros(len(codes), dtype=np.int64)
    drawn[known] = number[codes[known]]
    numbered = pl.select(pl.when(pl.Series(known)).then(pl.Series(drawn))).to_series()
    lengths = np.cumsum([0] + [len(c) for c in columns])
    return [
        numbered.slice(int(start), len(column)).alias(column.name)
        for start, column in zip(lengths, columns, strict=False)
    ]


def _as_numbers(data: Microdata, columns: Sequence[str]) -> Any:
    """Return the schema in which the columns are names without order, hierarchy or rules."""
    plain = {"kind": Kind.NOMINAL, "categories": None, "hierarchy": None}
    return data.schema.replace(
        variables=tuple(
            v.replace(**plain) if v.name in columns else v for v in data.schema.variables
        ),
        constraints=tuple(
            rule for rule in data.schema.constraints if not set(columns) & set(rule.columns)
        ),
    )

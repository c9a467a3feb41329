"""Text labels in place of values, for the methods that make a column coarser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import narwhals as nw

from tacit.core.data import Microdata
from tacit.core.errors import SchemaError
from tacit.core.schema import Kind, Role


def number_label(number: float | Decimal) -> str:
    """Write a number in full, without an exponent or needless zeros.

    Examples
    --------
    >>> number_label(18.0), number_label(0.3), number_label(1e6), number_label(-0.0)
    ('18', '0.3', '1000000', '0')
    """
    exact = Decimal(str(number))
    return "0" if exact == 0 else format(exact.normalize(), "f")


def interval_label(low: float | Decimal | None, high: float | Decimal | None) -> str:
    """Write an interval that holds its lower end and not its upper one.

    Examples
    --------
    >>> interval_label(18, 30), interval_label(None, 18), interval_label(65, None)
    ('[18, 30)', '< 18', '>= 65')
    """
    if low is None or high is None:
        return f"< {number_label(high)}" if high is not None else f">= {number_label(low or 0)}"
    return f"[{number_label(low)}, {number_label(high)})"


def relabelled(
    data: Microdata,
    column: str,
    labels: nw.Expr,
    *,
    categories: Iterable[str] | None = None,
    hierarchy: Any = None,
) -> Microdata:
    """Return the data with text labels in place of a column's values.

    The column becomes ordinal where ordered `categories` are given, else nominal. Edit rules
    about the column are dropped: they compared values that are no longer there.
    """
    variable = data.schema[column]
    if Role.WEIGHT in variable.roles:
        raise SchemaError(
            "weights cannot be replaced by labels", got=repr(column), do="choose another column"
        )
    ordered = None if categories is None else tuple(categories)
    coarse = variable.replace(
        kind=Kind.NOMINAL if ordered is None else Kind.ORDINAL,
        categories=ordered,
        hierarchy=hierarchy,
    )
    schema = data.schema.replace(
        variables=tuple(coarse if v.name == column else v for v in data.schema.variables),
        constraints=tuple(c for c in data.schema.constraints if column not in c.columns),
    )
    return replace(data.with_columns(**{column: labels}), schema=schema)

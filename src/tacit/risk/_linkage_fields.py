"""Attributes that an intruder compares: numbers on a common scale on both sides.

Numbers and dates stay numbers. An ordinal attribute becomes its place in the order of categories.
Every other attribute becomes a code; where the release holds coarser or other labels that are a
function of the original ones, the intruder is taken to know that function. Labels that have
nothing in common are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.core.common_scale import as_numbers, common_codes, compare_as_numbers
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.frame import collect
from tacit.core.pairing import Pair, substantive_columns
from tacit.core.schema import Kind
from tacit.risk._external import external_fields, is_known, text_warnings

Scale = Literal["numeric", "ordinal", "nominal"]


@dataclass(frozen=True)
class LinkageField:
    """One attribute on both sides; NaN where it is missing or not known to the intruder."""

    name: str
    scale: Scale
    external: np.ndarray
    released: np.ndarray
    n_categories: int = 0
    """Number of categories of an ordinal attribute."""


def known_numbers(data: Microdata) -> list[str]:
    """Numeric columns that an intruder may know."""
    return substantive_columns(data, [Kind.NUMERIC])


def objection_without_numbers(original: Microdata, *, named: bool) -> str | None:
    """Say that there is no number to link by, where no attribute was named."""
    if named or known_numbers(original):
        return None
    return "no numeric column, and no other attribute was named"


def chosen_attributes(both: Pair, names: Sequence[str] | None, *, by: str) -> list[str]:
    """Attributes that were named, which both files must have; by default the shared numbers."""
    if names is not None:
        both.original.schema.require(names)
        gone = [name for name in names if name not in both.released.schema]
        if gone:
            raise DataError(
                f"{by}: the release has no column {gone[0]!r}", do="name attributes that it has"
            )
        return list(names)
    released = set(known_numbers(both.released))
    found = [name for name in known_numbers(both.original) if name in released]
    if not found:
        raise DataError(f"{by} needs numeric columns that both files have", do="name attributes")
    return found


def attribute_warnings(both: Pair, chosen: Sequence[str], named: bool) -> tuple[str, ...]:
    """Say which numbers of the original are not compared, or not as numbers."""
    as_text = text_warnings(both, chosen)
    lost = [] if named else [n for n in known_numbers(both.original) if n not in chosen]
    if not lost:
        return as_text
    return (f"Not compared, since the release has no such numbers: {', '.join(lost)}.", *as_text)


def linkage_fields(both: Pair, names: Sequence[str]) -> list[LinkageField]:
    """Bring attributes to a common scale on both sides."""
    before = collect(both.original.lazy.select(list(names)))
    after = collect(both.released.lazy.select(list(names)))
    return [_field(both, before[name], after[name]) for name in names]


def _field(both: Pair, before: Any, after: Any) -> LinkageField:
    name = str(before.name)
    known = is_known(both.original, name)
    if compare_as_numbers(before, after, both.kinds(name)):
        external = np.where(known, as_numbers(before), np.nan)
        return LinkageField(name, "numeric", external, as_numbers(after))
    variable = both.original.schema[name]
    categories = variable.categories
    if variable.kind is Kind.ORDINAL and categories and _within(after, categories):
        external = np.where(known, _places(before, categories), np.nan)
        released = _places(after, categories)
        return LinkageField(name, "ordinal", external, released, len(categories))
    return _nominal_field(both, name)


def _nominal_field(both: Pair, name: str) -> LinkageField:
    external, released = category_codes(both, name)
    return LinkageField(name, "nominal", _blanked(external), _blanked(released))


def category_codes(both: Pair, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Encode a column of both files together, -1 being missing.

    Where records correspond, labels of the release that are a function of the original ones are
    translated. Categories that have nothing in common are refused.
    """
    if both.rows is not None and np.any(both.rows >= 0):
        field = external_fields(both, [name], {}, coarse=True)[0]
        external, released = field.external, field.released
    else:
        before, after = (
            collect(side.lazy.select(name))[name] for side in (both.original, both.released)
        )
        external, released = common_codes(before, after)
    here, there = (np.unique(codes[codes >= 0]) for codes in (external, released))
    if len(here) and len(there) and not len(np.intersect1d(here, there)):
        raise DataError(
            f"the values of {name!r} in the release have nothing in common with the original ones",
            do="recode both files to the same labels",
        )
    return external, released


def _blanked(codes: np.ndarray) -> np.ndarray:
    return np.where(codes >= 0, codes, np.nan).astype(np.float64)


def _within(series: Any, categories: tuple[str, ...]) -> bool:
    import polars as pl

    return set(series.drop_nulls().cast(pl.String).unique()) <= set(categories)


def _places(series: Any, categories: tuple[str, ...]) -> np.ndarray:
    """Return the place of each value among the ordered categories, NaN for any other value."""
    import polars as pl

    numbers = {category: float(place) for place, category in enumerate(categories)}
    placed = series.cast(pl.String).replace_strict(numbers, default=None, return_dtype=pl.Float64)
    return np.asarray(placed.to_numpy(), dtype=np.float64).copy()

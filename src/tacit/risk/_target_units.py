"""Whom an intruder is after: everybody, people with some values, or the most prominent ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, model_validator

from tacit.core.common_scale import as_text
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.frame import collect
from tacit.core.schema import Kind
from tacit.core.value import Value


class Span(Value):
    """Numbers between two ends, both included."""

    at_least: float | None = None
    """Smallest number."""
    at_most: float | None = None
    """Largest number."""

    @model_validator(mode="after")
    def _check(self) -> Span:
        if self.at_least is None and self.at_most is None:
            raise ValueError("needs at_least or at_most")
        return self


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str | int | float | bool) else given


Wanted = Span | Annotated[tuple[str | int | float | bool, ...], BeforeValidator(_listed)]
"""Values a target unit may have: one, a list of them, or a span of numbers."""


def target_units(
    original: Microdata,
    *,
    marked: str | None,
    where: Mapping[str, Span | tuple[Any, ...]],
    share: float | None,
    largest: str | None,
    seed: int,
) -> np.ndarray:
    """Mark the original records that an intruder looks for; all conditions hold at once.

    Parameters
    ----------
    original
        The original records.
    marked
        Column that is true, or 1, for target units.
    where
        Values that target units have, by column.
    share
        Share of those that qualify, drawn at random or by the largest values of a column.
    largest
        That column.
    seed
        Seed of the draw.
    """
    chosen = np.ones(original.n_records, dtype=bool)
    if marked is not None:
        chosen &= _flags(original, marked)
    for name, wanted in where.items():
        chosen &= _satisfies(original, name, wanted)
    if share is not None:
        chosen = _part(original, chosen, share, largest, seed)
    if not chosen.any():
        raise DataError(
            "no original record is a target unit",
            do="widen the conditions on the units that the intruder is after",
        )
    return chosen


def _flags(original: Microdata, name: str) -> np.ndarray:
    original.schema.require([name])
    values = collect(original.lazy.select(name))[name]
    if values.null_count() or not set(values.unique().to_list()) <= {True, False}:
        raise DataError(
            f"the column {name!r} must be true or false on every record",
            do="mark the target units as true",
        )
    return np.asarray(values.to_numpy(), dtype=bool)


def _satisfies(original: Microdata, name: str, wanted: Span | tuple[Any, ...]) -> np.ndarray:
    """Say which records have one of the values; a missing value is none of them."""
    if isinstance(wanted, Span):
        values = original.numeric([name])[:, 0]
        low = -np.inf if wanted.at_least is None else wanted.at_least
        high = np.inf if wanted.at_most is None else wanted.at_most
        return np.asarray((values >= low) & (values <= high))
    import polars as pl

    original.schema.require([name])
    labels = as_text(collect(original.lazy.select(name))[name])
    sought = [str(as_text(pl.Series([value]))[0]) for value in wanted]
    return np.asarray(labels.is_in(sought).fill_null(False).to_numpy(), dtype=bool)


def _part(
    original: Microdata, chosen: np.ndarray, share: float, largest: str | None, seed: int
) -> np.ndarray:
    """Keep a share of the chosen records, at least one; ties by the largest are all kept."""
    at = np.flatnonzero(chosen)
    n_kept = min(len(at), max(1, round(share * len(at))))
    kept = np.zeros_like(chosen)
    if largest is None:
        kept[np.random.default_rng(seed).choice(at, n_kept, replace=False)] = True
        return kept if len(at) else chosen
    original.schema.require([largest], kinds=[Kind.NUMERIC])
    values = np.where(chosen, original.numeric([largest])[:, 0], np.nan)
    known = np.sort(values[~np.isnan(values)])
    if len(known):
        kept = values >= known[max(len(known) - n_kept, 0)]
    return np.asarray(kept)

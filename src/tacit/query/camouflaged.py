"""Sources whose numbers are replaced by camouflage vectors before anybody asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.value import Value
from tacit.query.camouflage import Camouflage
from tacit.query.source import Source

_MARK = "__camouflage"


class CamouflageRule(Value):
    """How numbers are hidden among made-up vectors."""

    relative: Annotated[float, Gt(0)] = 0.2
    """Least width of the interval of a single unit, as a share of its value."""
    least: Annotated[float, Gt(0)] = 0.1
    """Least width as a share of the mean absolute value, for values near zero."""
    insiders: Annotated[int, Ge(1)] = 1
    """How many values one user may know already."""
    strata: Annotated[int, Ge(1)] = 4
    """Into how many random strata units are divided, each hidden with weights of its own."""


Vectors = dict[str, tuple[tuple[str, ...], ...]]
"""For each number the columns in its place: for each stratum, one for each vector."""


def camouflaged(
    source: Source, rule: CamouflageRule, rng: np.random.Generator
) -> tuple[Source, Vectors]:
    """Return the source with vectors in place of its numbers, and the vectors of each number.

    The true numbers are gone: no answer can depend on them.
    """
    import polars as pl

    data = source.microdata
    table = data.local
    vectors: Vectors = {}
    for name in source.numeric:
        columns = _hidden(name, data.numeric([name])[:, 0], rule, rng)
        vectors[name] = tuple(tuple(stratum) for stratum in columns)
        series = [pl.Series(n, v).fill_nan(None) for part in columns for n, v in part.items()]
        table = table.drop(name).with_columns(series)
    parts = replace(
        source,
        data=Microdata.of(table),
        weight=source.weight_column,
        categories=source.categorical,
        numbers=tuple(n for strata in vectors.values() for names in strata for n in names),
        bins={},
    )
    return parts, vectors


def _hidden(
    name: str, values: np.ndarray, rule: CamouflageRule, rng: np.random.Generator
) -> list[dict[str, np.ndarray]]:
    """Return the vectors of each stratum: zero for the units of the others."""
    size = float(np.nanmean(np.abs(values))) if np.isfinite(values).any() else 0.0
    if size <= 0:
        raise DataError(f"{name!r} has no value to hide", do="leave it out of `numbers`")
    hidden = Camouflage.of(
        values,
        relative=rule.relative,
        minimum=rule.least * size,
        insiders=rule.insiders,
        strata=min(rule.strata, len(values)),
        rng=rng,
    )
    missing, made = np.isnan(values), []
    for stratum in range(hidden.n_strata):
        inside = (hidden.strata == stratum) | missing
        columns = np.where(inside[:, None], hidden.vectors, 0.0)
        made.append({f"{_MARK} {name} {stratum} {j}": v for j, v in enumerate(columns.T)})
    return made

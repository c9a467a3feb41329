"""Registration: categories, cutpoints, keys and scales are fixed once, before anyone asks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.errors import DataError, SchemaError
from tacit.core.hierarchy import as_hierarchy
from tacit.query.binning import Binning, Cutpoints
from tacit.query.engine import Coding, Engine, Scale, exponent
from tacit.query.keys import KEYS, keyed_frame
from tacit.query.source import MISSING, OTHER, Registered, Source, Variable
from tacit.tables._codes import as_text
from tacit.tables.perturb.record_keys import MODULUS

_MOST_CATEGORIES = 10_000
_MOST_DISTINCT = 1_000_000
_MOST_ALONE = 20
"""Categories of one record from which on a variable may be taken for an identifier."""


@dataclass(frozen=True)
class Binned:
    """How a policy bins numeric variables, and from how many units on a category is named."""

    method: Binning = "partitioned"
    minimum: int = 50
    most: int = 32
    rare: int = 0


def register(
    source: Source,
    secret: bytes,
    binned: Binned,
    vectors: Mapping[str, tuple[tuple[str, ...], ...]] | None = None,
) -> tuple[Registered, Engine]:
    """Return the public description of the data, and the engine that holds them.

    Every record needs a unit, numbers must be finite, weights above zero. Where numbers are
    camouflaged, `vectors` names the columns in place of each; they have no bins.
    """
    data = source.microdata
    frame = keyed_frame(data, secret, source.unit, source.keys)
    facts = _facts(frame, source)
    _check(source, facts)
    made = [_category(frame, source, name, binned) for name in source.categorical]
    if not vectors:
        made += [_number(frame, source, name, binned, facts) for name in source.numeric]
    n = int(facts["n"])
    engine = Engine(
        frame=frame,
        codings={variable.name: coding for variable, coding in made},
        weight=source.weight_column,
        n_records=n,
        n_units=int(facts["units"]),
        scales=_scales(source, facts),
        vectors=dict(vectors or {}),
        ranges=_ranges(source, facts),
        weight_scale=exponent(max(facts["w_max"], 1.0), n) if source.weight_column else 0,
    )
    registered = Registered(
        variables={variable.name: variable for variable, _ in made},
        numbers=tuple(vectors) if vectors else source.numeric,
        has_weight=source.weight_column is not None,
        version=_version(facts, [variable for variable, _ in made]),
    )
    return registered, engine


# -- one pass over the records -------------------------------------------------------------------


def _facts(frame: nw.LazyFrame[Any], source: Source) -> dict[str, Any]:
    columns = {f"y{j}": name for j, name in enumerate(source.numeric)}
    if source.weight_column:
        columns["w"] = source.weight_column
    asked = [nw.len().alias("n")]
    asked += [nw.col(k).sum().cast(nw.Int64).alias(k) for k in KEYS]
    asked += [nw.col(KEYS[0]).count().alias("keyed")]
    for ours, name in columns.items():
        number = nw.col(name).cast(nw.Float64)
        asked += [number.min().alias(f"{ours}_min"), number.max().alias(f"{ours}_max")]
        asked += [nw.col(name).count().alias(f"{ours}_n")]
    facts = frame.select(*asked).collect("polars").rows(named=True)[0]
    if source.one_record_per_unit or (source.unit is None and source.keys is None):
        return {**facts, "units": facts["n"]}
    units = frame.select(*KEYS).unique().select(nw.len().alias("u")).collect("polars").item()
    return {**facts, "units": units}


def _check(source: Source, facts: dict[str, Any]) -> None:
    if not facts["n"]:
        raise DataError("there are no records to serve")
    if facts["keyed"] < facts["n"]:
        raise DataError("every record needs a unit", got=f"{facts['n'] - facts['keyed']:,} without")
    for j, name in enumerate(source.numeric):
        ends = (facts[f"y{j}_min"], facts[f"y{j}_max"])
        if any(end is not None and not isfinite(end) for end in ends):
            raise DataError(f"{name!r} has values without limit", do="correct or drop the records")
    if source.weight_column and (
        facts["w_n"] < facts["n"] or not facts["w_min"] > 0 or not isfinite(facts["w_max"])
    ):
        raise DataError(f"the weight {source.weight_column!r} must be above 0 on every record")


def _scales(source: Source, facts: dict[str, Any]) -> dict[str, Scale]:
    n, heaviest = int(facts["n"]), 1.0
    if source.weight_column:
        heaviest = max(1.0, float(facts["w_max"]))
    made = {}
    for j, name in enumerate(source.numeric):
        ends = [abs(facts[f"y{j}_{end}"] or 0.0) for end in ("min", "max")]
        size = float(max(ends))
        made[name] = Scale(
            plain=exponent(size, n),
            total=exponent(size * heaviest, n),
            square=exponent(size * size * heaviest, n),
        )
    return made


def _ranges(source: Source, facts: dict[str, Any]) -> dict[str, tuple[float, float]]:
    names = {f"y{j}": name for j, name in enumerate(source.numeric)}
    names |= {"w": source.weight_column} if source.weight_column else {}
    ends = {name: (facts[f"{ours}_min"], facts[f"{ours}_max"]) for ours, name in names.items()}
    return {n: (float(low), float(high)) for n, (low, high) in ends.items() if low is not None}


def _version(facts: dict[str, Any], variables: list[Variable]) -> str:
    """Return a digest that changes when units, categories or cutpoints do."""
    known = [facts["n"], facts["units"], *(int(facts[k] or 0) % MODULUS for k in KEYS)]
    told = json.dumps([known, [v.plain() for v in variables]], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


# -- categorical variables -----------------------------------------------------------------------


def _category(
    frame: nw.LazyFrame[Any], source: Source, name: str, binned: Binned
) -> tuple[Variable, Coding]:
    import polars as pl

    grouped = frame.group_by(name).agg(nw.len().alias("n")).head(_MOST_CATEGORIES + 1)
    counted = grouped.collect("polars").to_native()
    if counted.height > _MOST_CATEGORIES:
        raise SchemaError(
            f"{name!r} has too many categories to be asked about",
            got=f"more than {_MOST_CATEGORIES:,}",
            do="leave it out of `categories`, or recode it",
        )
    has_missing = counted[name].null_count() > 0
    known = counted.filter(pl.col(name).is_not_null())
    if source.categories is None and binned.rare < 2:
        _refuse_identifier(name, known["n"].to_numpy())
    text = _text(known[name])
    order = _order(source, name, known[name], text)
    rare = {t for t, n in zip(text, known["n"], strict=True) if n < binned.rare}
    named = [label for label in order if label not in rare]
    labels = [*named, *([OTHER] if rare else []), *([MISSING] if has_missing else [])]
    if len(set(labels)) < len(labels):
        raise SchemaError(f"{name!r} has a category called {OTHER!r} or {MISSING!r}; rename it")
    place = {label: code for code, label in enumerate(labels)}
    coding = Coding(
        column=name,
        raw=tuple(known[name].to_list()),
        code=tuple(place.get(t, place.get(OTHER, -1)) for t in text),
        missing=place[MISSING] if has_missing else None,
        renamed=bool(rare),
    )
    return Variable(name, tuple(labels), nodes=_nodes(source, name, named, place)), coding


def _refuse_identifier(name: str, counts: np.ndarray) -> None:
    """Refuse a variable that nobody chose and that names most records: categories are public."""
    alone = int((counts == 1).sum())
    if alone > max(_MOST_ALONE, counts.sum() / 2):
        raise SchemaError(
            f"{name!r} names most records, as an identifier does, and categories are public",
            got=f"{alone:,} categories of one record",
            do="declare it an identifier (--identifier), or list the variables to be served in "
            "`categories`",
        )


def _text(values: Any) -> list[str]:
    import polars as pl

    if values.dtype == pl.Boolean:
        return ["true" if v else "false" for v in values.to_list()]
    return list(as_text(values).to_list())


def _order(source: Source, name: str, values: Any, text: list[str]) -> list[str]:
    """Return the categories in the order of the schema, or of the values."""
    declared = source.microdata.schema[name].categories or ()
    by_value = [t for _, t in sorted(zip(values.to_list(), text, strict=True))]
    return [*(c for c in declared if c in set(text)), *(t for t in by_value if t not in declared)]


def _nodes(
    source: Source, name: str, leaves: Sequence[str], place: dict[str, int]
) -> dict[str, tuple[int, ...]]:
    """Return the inner nodes of a variable's hierarchy as sets of categories."""
    given = source.hierarchies.get(name, source.microdata.schema[name].hierarchy)
    if given is None:
        return {}
    import polars as pl

    hierarchy = as_hierarchy(given)
    leaf = nw.from_native(pl.DataFrame({"leaf": list(leaves)}, schema={"leaf": pl.String}))
    found: dict[str, set[int]] = {}
    for level in range(1, hierarchy.n_levels):
        column = hierarchy.generalise(nw.col("leaf"), level).alias("node")
        for one, node in zip(leaves, leaf.select(column)["node"].to_list(), strict=True):
            found.setdefault(str(node), set()).add(place[one])
    return {node: tuple(sorted(codes)) for node, codes in found.items() if node not in place}


# -- numeric variables ---------------------------------------------------------------------------


def _number(
    frame: nw.LazyFrame[Any], source: Source, name: str, binned: Binned, facts: dict[str, Any]
) -> tuple[Variable, Coding]:
    ours = f"y{source.numeric.index(name)}"
    has_missing = facts[f"{ours}_n"] < facts["n"]
    edges, spans = _edges(frame, source, name, binned, int(facts[f"{ours}_n"]))
    labels = [*bin_labels(edges), *([MISSING] if has_missing else [])]
    missing = len(edges) + 1 if has_missing else None
    variable = Variable(name, tuple(labels), edges, is_number=True, spans=spans)
    return variable, Coding(column=name, edges=edges, missing=missing)


def _edges(
    frame: nw.LazyFrame[Any], source: Source, name: str, binned: Binned, n: int
) -> tuple[tuple[float, ...], frozenset[tuple[int, int]]]:
    given = source.bins.get(name)
    if given is not None and not isinstance(given, Cutpoints):
        edges = tuple(sorted({float(edge) for edge in given}))
        if not all(map(isfinite, edges)):
            raise SchemaError(f"the cutpoints of {name!r} must be finite")
        return edges, frozenset()
    if given is None:
        if n < binned.minimum:
            return (), frozenset()
        distinct, counts = _distribution(frame, name, n)
        minimum = min(max(binned.minimum, ceil(n / binned.most)), int(counts.sum()))
        given = Cutpoints.from_counts(distinct, counts, method=binned.method, minimum=minimum)
    edges = tuple(between(a[1], b[0]) for a, b in pairwise(given.bins))
    lows = [low for low, _ in given.bins]
    spans = frozenset(
        (lows.index(low), next(j for j, b in enumerate(given.bins) if b[1] == high) + 1)
        for low, high in given.nodes
    )
    return edges, spans


def _distribution(frame: nw.LazyFrame[Any], name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct values and how often each occurs, from a sample by key where n is huge."""
    values = frame.select(nw.col(name).cast(nw.Float64).alias("v"), nw.col(KEYS[0]).alias("k"))
    values = values.filter(~nw.col("v").is_null())
    share = 1.0
    if n > _MOST_DISTINCT:
        share = _MOST_DISTINCT / n
        values = values.filter(nw.col("k") < int(MODULUS * share))
    table = values.group_by("v").agg(nw.len().alias("n")).sort("v").collect("polars").to_native()
    counts = np.floor(table["n"].to_numpy() / share).astype(np.int64)
    return table["v"].to_numpy(), counts


def between(below: float, above: float) -> float:
    """Return the number of fewest digits above one value and not above another.

    Cutpoints would else be values of single units; the outermost ones their smallest and largest.

    Examples
    --------
    >>> between(41_237.5, 45_678.9)
    45000.0
    """
    if not above > below:
        return above
    start = ceil(log10(max(above - below, 1e-300))) + 1
    for digits in range(-start, 18):
        step = 10.0**-digits if digits <= 0 else 1.0 / 10.0**digits
        candidate = floor(above / step) * step
        if digits > 0:
            candidate = round(candidate, digits)
        if below < candidate <= above:
            return float(candidate)
    return above


def bin_labels(edges: Sequence[float]) -> list[str]:
    """Return bins in words; the first and the last are open.

    Examples
    --------
    >>> bin_labels([18, 65])
    ['below 18', '18 to below 65', '65 and above']
    """
    if not edges:
        return ["any"]
    shown = [f"{edge:.15g}" for edge in edges]
    inner = [f"{a} to below {b}" for a, b in pairwise(shown)]
    return [f"below {shown[0]}", *inner, f"{shown[-1]} and above"]

"""What stands for a box: a range, a label of the hierarchy, a set, or its centre."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.schema import Kind
from tacit.mask._labels import number_label, relabelled
from tacit.mask._mondrian_axes import Axis


def released(
    data: Microdata, axes: Sequence[Axis], boxes: np.ndarray, form: Literal["range", "centre"]
) -> Microdata:
    """Return the records with the common value of their boxes; box -1 is blanked on all keys."""
    release = data
    for axis in axes:
        name = axis.variable.name
        known = (boxes >= 0) & (axis.codes >= 0)
        column = (_centres if form == "centre" else _ranges)(axis, boxes, known).alias(name)
        release = release.with_local(release.local.with_columns(column))
        if form == "range":
            release = relabelled(release, name, nw.col(name))
    names = [axis.variable.name for axis in axes]
    linked = [name for name, key in data.schema.linked.items() if key in names]
    return release.with_missing(dict.fromkeys(linked, boxes < 0)) if linked else release


# -- ranges ---------------------------------------------------------------------------------------


def _ranges(axis: Axis, boxes: np.ndarray, known: np.ndarray) -> Any:
    """Return the text of each record's box on this axis."""
    import polars as pl

    if not known.any():
        return pl.Series([None] * len(boxes), dtype=pl.String)
    table = pl.DataFrame({"box": boxes[known], "code": axis.codes[known]})
    if axis.is_set:
        return _spread(_set_labels(axis, table), boxes, known)
    ends = table.group_by("box").agg(low=pl.col("code").min(), high=pl.col("code").max())
    pairs = ends.select("low", "high").unique().sort("low", "high")
    texts = [_range_label(axis, low, high) for low, high in pairs.rows()]
    labels = pairs.with_columns(label=pl.Series(texts, dtype=pl.String))
    return _spread(ends.join(labels, on=["low", "high"]).select("box", "label"), boxes, known)


def _spread(labels: Any, boxes: np.ndarray, known: np.ndarray) -> Any:
    """Give each record the label of its box."""
    import polars as pl

    table = pl.DataFrame({"box": boxes, "known": known})
    joined = table.join(labels, on="box", how="left", maintain_order="left")
    return joined.select(pl.when("known").then("label")).to_series()


def _set_labels(axis: Axis, table: Any) -> Any:
    """Write the distinct values of each box as a set."""
    import polars as pl

    texts = axis.values.cast(pl.String)
    distinct = table.unique().sort("box", "code")
    listed = distinct.with_columns(text=texts[distinct["code"]])
    return (
        listed.group_by("box", maintain_order=True)
        .agg(pl.col("text"))
        .select(
            "box",
            label=pl.when(pl.col("text").list.len() == 1)
            .then(pl.col("text").list.first())
            .otherwise(pl.concat_str(pl.lit("{"), pl.col("text").list.join(", "), pl.lit("}"))),
        )
    )


def _range_label(axis: Axis, low: int, high: int) -> str:
    if axis.labels is not None:
        return str(axis.labels[axis.climbs[low + 1 : high + 1].max(initial=0), low])
    first, last = _text(axis, low), _text(axis, high)
    if low == high:
        return first
    if axis.variable.kind is Kind.ORDINAL:
        return f"{first} to {last}"
    return f"[{first}, {last}]"


def _text(axis: Axis, code: int) -> str:
    value = axis.values[code]
    return number_label(value) if axis.variable.kind is Kind.NUMERIC else str(value)


# -- centres --------------------------------------------------------------------------------------


def _centres(axis: Axis, boxes: np.ndarray, known: np.ndarray) -> Any:
    """Return the mean of a number, the lower median of other ordered values, or the mode."""
    import polars as pl

    if axis.variable.kind is Kind.NUMERIC:
        return _means(axis, boxes, known)
    centre = np.full(len(boxes), -1, dtype=np.int64)
    if known.any():
        ordered = not (axis.is_set or axis.is_tree)
        found = (_medians if ordered else _modes)(boxes[known], axis.codes[known])
        centre[known] = found[boxes[known]]
    places = pl.Series(centre)
    places = places.set(places < 0, None)
    return axis.values.gather(places) if len(axis.values) else axis.values.extend_constant(
        None, len(boxes)
    )  # fmt: skip


def _means(axis: Axis, boxes: np.ndarray, known: np.ndarray) -> Any:
    import polars as pl

    means = np.full(len(boxes), np.nan)
    if known.any():
        values = axis.values.cast(pl.Float64).to_numpy()[axis.codes[known]]
        n_records = np.bincount(boxes[known])
        totals = np.bincount(boxes[known], values)
        means[known] = (totals / np.maximum(n_records, 1))[boxes[known]]
    return pl.Series(means).fill_nan(None)


def _medians(boxes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the lower median of each box."""
    order = np.lexsort((codes, boxes))
    n_records = np.bincount(boxes)
    starts = np.cumsum(n_records) - n_records
    middle = np.minimum(starts + (n_records - 1) // 2, len(codes) - 1)
    return np.asarray(codes[order][np.maximum(middle, 0)])


def _modes(boxes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the most frequent value of each box, the first of equals."""
    width = int(codes.max()) + 1
    pairs, counts = np.unique(boxes * width + codes, return_counts=True)
    where, value = np.divmod(pairs, width)
    order = np.lexsort((value, -counts, where))
    first = np.unique(where[order], return_index=True)
    modes = np.zeros(int(boxes.max()) + 1, dtype=np.int64)
    modes[first[0]] = value[order][first[1]]
    return modes

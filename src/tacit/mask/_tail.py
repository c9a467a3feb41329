"""Coding of a distribution's tail, shared by top and bottom coding."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
from annotated_types import Ge, Gt, Lt
from pydantic import AllowInfNan, model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError, nearest
from tacit.core.families import Mask
from tacit.core.frame import collect_few
from tacit.core.replacing import needs_conditions, replaced
from tacit.core.schema import Kind
from tacit.mask import _tail_engine as engine
from tacit.mask._labels import number_label, relabelled

Threshold = Annotated[float, AllowInfNan(False)] | str | None
Quantile = Annotated[float, Gt(0), Lt(1)] | None
Replacement = Literal["threshold", "mean", "median", "category"]
_MOST_CATEGORIES = 10_000
"""Numbers turned into categories beyond this many are no categories any more."""


class TailCode(Mask):
    """One end of one column, and what to put in place of its values."""

    side: ClassVar[Literal["top", "bottom"]]

    column: str
    """Numeric variable, or ordinal variable with declared categories."""
    threshold: Threshold = None
    """Values at or beyond this one are coded; a category for ordinal variables."""
    quantile: Quantile = None
    """Share of the (weighted) distribution at or below the threshold, instead of the threshold."""
    replacement: Replacement = "threshold"
    """What the coded values become: the threshold, the tail's mean or median, or a category."""
    label: str | None = None
    """Name of the category; by default made from the threshold."""
    at_least: Annotated[int, Ge(1)] = 3
    """Smallest tail of which a mean or median may be released."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.threshold is None) == (self.quantile is None):
            raise ValueError("needs either 'threshold' or 'quantile', not both and not neither")
        if self.label is not None and self.replacement != "category":
            raise ValueError("takes a 'label' only with replacement = 'category'")
        return self

    @property
    def is_top(self) -> bool:
        """Whether the tail is the upper one."""
        return self.side == "top"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with a coded tail."""
        by = f"{self.side} coding"
        data.schema.require([self.column], kinds=[Kind.NUMERIC, Kind.ORDINAL], by=by)
        if data.schema[self.column].kind is Kind.ORDINAL:
            return _code_categories(data, self)
        return _code_numbers(data, self)

    def describe(self) -> str:
        """Say in plain words what was coded."""
        given = self.threshold
        where = number_label(given) if isinstance(given, float) else given
        if self.quantile is not None:
            where = f"the {100 * self.quantile:g} % quantile"
        becomes = {
            "threshold": "that value",
            "mean": "their mean",
            "median": "their median",
            "category": "one category",
        }[self.replacement]
        beyond = "above" if self.is_top else "below"
        return f"{self.title}: values of {self.column} at or {beyond} {where} became {becomes}"

    def label_from(self, threshold: str) -> str:
        """Return the label of the tail's category."""
        return self.label or (f"{threshold}+" if self.is_top else f"<= {threshold}")


# -- numbers ------------------------------------------------------------------------------------


def _code_numbers(data: Microdata, tail: TailCode) -> Microdata:
    if engine.is_in_engine(data):
        return _code_in_engine(data, tail)
    values = data.numeric([tail.column])[:, 0]
    known = ~np.isnan(values)
    weights = np.ones(len(values)) if data.weights is None else data.weights
    threshold = _numeric_threshold(tail, values[known], weights[known])
    if tail.replacement == "category":
        return _with_categories(data, tail, threshold)
    inside = values >= threshold if tail.is_top else values <= threshold
    if not inside.any():
        return data
    code = _common_value(tail, threshold, values[inside], weights[inside])
    return data.with_columns(**{tail.column: _coded(data, tail, threshold, code)})


def _code_in_engine(data: Microdata, tail: TailCode) -> Microdata:
    """Code numbers where they are; nothing but the threshold and the common value comes here."""
    known = engine.column_in_engine(data, tail.column)
    if tail.quantile is None:
        threshold = _given_threshold(tail)
    else:
        threshold = engine.quantile_of(known, tail.column, tail.quantile)
    if tail.replacement == "category":
        return _with_categories(data, tail, threshold)
    inside = engine.tail_of(known, threshold, is_top=tail.is_top)
    n_inside, finite = engine.summary_of(inside)
    if not n_inside:
        return data
    code = threshold
    if tail.replacement != "threshold":
        _check_tail(tail, threshold, n_inside, finite=finite)
        code = engine.common_value(inside, tail.replacement)
    return data.with_columns(**{tail.column: _coded(data, tail, threshold, code)})


def _numeric_threshold(tail: TailCode, values: np.ndarray, weights: np.ndarray) -> float:
    if tail.quantile is not None:
        if not len(values):
            raise DataError(f"{tail.column!r} has no values to take a quantile of")
        return weighted_quantile(values, weights, tail.quantile)
    return _given_threshold(tail)


def _given_threshold(tail: TailCode) -> float:
    try:
        return float(tail.threshold)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"parameter 'threshold' must be a number for the numeric column {tail.column!r}",
            got=repr(tail.threshold),
        ) from error


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """Return the smallest value with at least this share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    # The tolerance keeps 0.07 * 100 = 7.000000000000001 from asking for an eighth record.
    position = np.searchsorted(cumulative, share * cumulative[-1] * (1 - 1e-12))
    return float(values[order[min(position, len(order) - 1)]])


def _common_value(
    tail: TailCode, threshold: float, values: np.ndarray, weights: np.ndarray
) -> float:
    """Return the one value that all records of the tail get."""
    if tail.replacement == "threshold":
        return threshold
    _check_tail(tail, threshold, len(values), finite=bool(np.all(np.isfinite(values))))
    if tail.replacement == "mean":
        return engine.mean_of(float(values @ weights), float(weights.sum()))
    below = weighted_quantile(values, weights, 0.5)
    above = -weighted_quantile(-values, weights, 0.5)
    return (below + above) / 2


def _check_tail(tail: TailCode, threshold: float, n_values: int, *, finite: bool) -> None:
    """Refuse the mean or median of a tail that would give its values away, or has none."""
    if n_values < tail.at_least:
        raise ProtectionError(
            f"the {tail.replacement} of so small a tail of {tail.column!r} would reveal its values",
            got=f"{n_values} records at or beyond {number_label(threshold)}, "
            f"at_least = {tail.at_least}",
            do="move the threshold, or use replacement = 'threshold'",
        )
    if not finite:
        raise DataError(
            f"{tail.column!r} has infinite values, of which there is no {tail.replacement}",
            do="use replacement = 'threshold'",
        )


def _coded(data: Microdata, tail: TailCode, threshold: float, code: float) -> nw.Expr:
    whole = data.lazy.collect_schema()[tail.column].is_integer()
    stays_whole = whole and tail.replacement == "threshold" and code.is_integer()
    column = nw.col(tail.column)
    inside = column >= threshold if tail.is_top else column <= threshold
    if stays_whole:
        return nw.when(inside).then(nw.lit(int(code))).otherwise(column.cast(nw.Int64))
    return nw.when(inside).then(nw.lit(code)).otherwise(column.cast(nw.Float64))


def _with_categories(data: Microdata, tail: TailCode, threshold: float) -> Microdata:
    """Return a text column whose tail is one category."""
    column = nw.col(tail.column)
    inside = column >= threshold if tail.is_top else column <= threshold
    rest = _distinct(data, tail.column, ~inside)
    label = tail.label_from(number_label(threshold))
    _check_label(label, list(rest))
    ordered = [*rest, label] if tail.is_top else [label, *rest]
    labels = {value: name for name, value in rest.items()}
    text = replaced(column, labels, nw.lit(label), by_conditions=needs_conditions(data.lazy))
    known = nw.when(~column.is_null()).then(text)
    return relabelled(data, tail.column, known, categories=ordered)


def _distinct(data: Microdata, column: str, where: nw.Expr) -> dict[str, Any]:
    """Return the values outside the tail by their labels, in order."""
    found = collect_few(
        data.lazy.filter(where).select(column).unique(),
        what=f"the values of {column!r} outside the tail",
        do="use replacement = 'threshold' or 'mean', recode the column first",
    )[column]
    values = sorted(found.drop_nulls().to_list())
    if len(values) > _MOST_CATEGORIES:
        raise DataError(
            f"{column!r} has too many different values to become a column of categories",
            got=f"{len(values)} values outside the tail",
            do="use replacement = 'threshold' or 'mean', or recode the column first",
        )
    return {number_label(v): v for v in values}


def _check_label(label: str, others: list[str]) -> None:
    if label in others:
        raise ParameterError(
            "parameter 'label' must not be one of the values that stay",
            got=repr(label),
            do="choose another label",
        )


# -- ordered categories -------------------------------------------------------------------------


def _code_categories(data: Microdata, tail: TailCode) -> Microdata:
    if tail.replacement in ("mean", "median"):
        raise SchemaError(
            f"a {tail.replacement} needs a numeric column",
            got=f"{tail.column!r}, which is ordinal",
            do="use replacement = 'threshold' or 'category'",
        )
    categories = _checked_categories(data, tail.column)
    threshold = _threshold_category(data, tail, categories)
    position = categories.index(threshold)
    inside = categories[position:] if tail.is_top else categories[: position + 1]
    outside = categories[:position] if tail.is_top else categories[position + 1 :]
    label = tail.label_from(threshold) if tail.replacement == "category" else threshold
    _check_label(label, list(outside))
    text = nw.col(tail.column).cast(nw.String)
    coded = nw.when(text.is_in(inside)).then(nw.lit(label)).otherwise(text)
    ordered = (*outside, label) if tail.is_top else (label, *outside)
    # A tail named after one of its own categories leaves the hierarchy of categories in use.
    hierarchy = data.schema[tail.column].hierarchy if label == threshold else None
    return relabelled(data, tail.column, coded, categories=ordered, hierarchy=hierarchy)


def _checked_categories(data: Microdata, column: str) -> tuple[str, ...]:
    categories = data.schema[column].categories
    if not categories:
        raise SchemaError(
            f"the order of the categories of {column!r} is not known",
            do=f"declare it with with_categories({column}=[...])",
        )
    text = nw.col(column).cast(nw.String)
    strange = data.lazy.filter(~text.is_null() & ~text.is_in(categories)).select(text.alias("v"))
    found = strange.head(1).collect("polars")["v"].to_list()
    if found:
        raise DataError(
            f"{column!r} has a value that is none of its categories",
            got=repr(found[0]),
            do="add it to the schema's categories",
        )
    return categories


def _threshold_category(data: Microdata, tail: TailCode, categories: tuple[str, ...]) -> str:
    if tail.quantile is None:
        given = tail.threshold
        threshold = number_label(given) if isinstance(given, float) else str(given)
        if threshold not in categories:
            raise ParameterError(
                f"parameter 'threshold' must be a category of {tail.column!r}",
                got=repr(threshold),
                do=nearest(threshold, categories),
            )
        return threshold
    weight = data.schema.weight
    amount = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    text = nw.col(tail.column).cast(nw.String)
    known = data.lazy.select(text.alias("category"), amount.alias("weight"))
    known = known.filter(~nw.col("category").is_null())
    counted = known.group_by("category").agg(nw.col("weight").sum())
    found = counted.collect("polars").to_native()
    if found.is_empty():
        raise DataError(f"{tail.column!r} has no values to take a quantile of")
    ranks = np.array([categories.index(c) for c in found["category"]])
    return categories[int(weighted_quantile(ranks, found["weight"].to_numpy(), tail.quantile))]

"""Global recoding."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt
from pydantic import AllowInfNan, BeforeValidator, model_validator

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Try
from tacit.mask._labels import number_label
from tacit.mask._recode_ways import recode_bins, recode_level, recode_mapping, recode_width

Finite = Annotated[float, AllowInfNan(False)]


def _texts(given: Any) -> Any:
    """Write the categories of a mapping as text, as a plan file does."""
    if not isinstance(given, Mapping):
        return given
    return {_text(old): _text(new) for old, new in given.items()}


def _text(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return value if value is None or isinstance(value, list | dict) else str(value)


class Recode(
    Mask,
    key="recode",
    title="Global recoding",
    cites=("domingoferrer2007", "willenborg2001"),
    example={"column": "age", "width": 10},
    at_scale="native",
):
    r"""Join categories, or cut numbers into classes, on all records alike.

    Missing values stay missing.
    Weights are not used.
    Households are not considered; all records are recoded by the same rule.

    When not to use it: where users need exact values of the variable, or where few classes would
    hide the very relation they study.

    Notes
    -----
    A variable :math:`X` with domain :math:`D(X)` becomes :math:`X'` with
    :math:`|D(X')| < |D(X)|` [domingoferrer2007]_. Give one of:

    - a ``mapping`` of categories, in which numbers and true/false are matched by value;
    - ``bins``, the cut points of classes ``< 18``, ``[18, 30)``, ``>= 30``;
    - a ``width`` of equal classes ``[20, 30)``, ``[30, 40)``;
    - a ``level`` of the schema's value hierarchy.

    Classes of numbers are ordered categories. A mapping that joins neighbours of an ordinal
    variable leaves it ordinal. Edit rules about the column are dropped, and its hierarchy keeps
    the levels above the chosen one.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> plan = tacit.Plan([mask.Recode(column="Age", bins=[40, 50])])
    >>> sorted(set(plan.apply(tacit.datasets.patients(), seed=1).frame["Age"]))
    ['< 40', '>= 50', '[40, 50)']
    """

    column: str
    """Variable to recode."""
    mapping: Annotated[dict[str, str], BeforeValidator(_texts)] | None = None
    """New category of each old one."""
    other: str | None = None
    """Category of the values a mapping does not name; by default they stay as they are."""
    complete: bool = False
    """Refuse data with values that the mapping does not name."""
    bins: tuple[Finite, ...] | None = None
    """Points at which numbers are cut, ascending; each class holds its lower end."""
    labels: tuple[str, ...] | None = None
    """Names of the classes of ``bins``, lowest first: one more than there are cut points."""
    width: Annotated[Annotated[float, Gt(0), AllowInfNan(False)] | None, Try(5, 10, 20)] = None
    """Width of equal classes of a number."""
    origin: Finite = 0.0
    """A number at which a class of ``width`` starts."""
    level: Annotated[Annotated[int, Ge(1)] | None, Try(1, 2, 3)] = None
    """Level of the variable's hierarchy; 1 is the finest after the values themselves."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ways = ("mapping", "bins", "width", "level")
        given = [way for way in ways if getattr(self, way) is not None]
        if len(given) != 1:
            got = " and ".join(map(repr, given)) or "none"
            raise ValueError(f"needs one of 'mapping', 'bins', 'width' or 'level', got {got}")
        belongs = {"other": "mapping", "complete": "mapping", "labels": "bins", "origin": "width"}
        for name, way in belongs.items():
            if way != given[0] and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"takes {name!r} only together with {way!r}")
        return self

    @model_validator(mode="after")
    def _check_values(self) -> Self:
        if self.mapping is not None and not self.mapping:
            raise ValueError("needs at least one category in 'mapping'")
        if self.complete and self.other is not None:
            raise ValueError("takes 'other' or 'complete', not both")
        if self.bins is not None:
            _check_bins(self.bins, self.labels)
        return self

    def describe(self) -> str:
        """Say in plain words how the values were grouped."""
        if self.mapping is not None:
            n_new = len(set(self.mapping.values()))
            how = f"{len(self.mapping)} values were joined into {n_new}"
        elif self.bins is not None:
            how = f"cut at {', '.join(map(number_label, self.bins))}"
        elif self.width is not None:
            how = f"cut into classes of width {number_label(self.width)}"
        else:
            how = f"replaced by level {self.level} of the hierarchy"
        return f"{self.title} of {self.column}: {how}"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with a coarser column."""
        data.schema.require([self.column])
        if self.mapping is not None:
            return recode_mapping(data, self.column, self.mapping, self.other, self.complete)
        if self.bins is not None:
            return recode_bins(data, self.column, self.bins, self.labels)
        if self.width is not None:
            return recode_width(data, self.column, self.width, self.origin)
        return recode_level(data, self.column, self.level or 0)


def _check_bins(bins: tuple[float, ...], labels: tuple[str, ...] | None) -> None:
    if not bins or any(high <= low for low, high in pairwise(bins)):
        raise ValueError("needs ascending cut points in 'bins'")
    if labels is not None and len(labels) != len(bins) + 1:
        raise ValueError(f"needs {len(bins) + 1} 'labels' for {len(bins)} cut points")
    if labels is not None and len(set(labels)) < len(labels):
        raise ValueError("needs different 'labels' for different classes")

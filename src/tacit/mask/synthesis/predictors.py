"""What a variable is predicted from: coded for trees, or as a matrix for linear models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from tacit.mask.synthesis.columns import Column

_MOST_BINS = 1024
"""Distinct cut points of a number at most; more would not be seen in any leaf."""
_MOST_INDICATORS = 30
"""Classes with an indicator of their own in a linear model; the others are taken together."""
_SAMPLED = 200_000


@dataclass(frozen=True)
class Coding:
    """How one column is coded as a predictor, learnt from the original."""

    column: Column
    cuts: np.ndarray
    """Cut points of a number."""
    shown: np.ndarray
    """Classes with an indicator of their own."""
    centre: float
    scale: float
    has_gaps: bool

    @classmethod
    def of(cls, column: Column) -> Self:
        """Learn cut points, frequent classes, mean and spread."""
        values = column.values
        if column.is_class:
            sizes = np.bincount(values[values >= 0], minlength=column.n_levels)
            shown = np.argsort(-sizes, kind="stable")[1 : 1 + _MOST_INDICATORS]
            return cls(column, np.empty(0), shown[sizes[shown] > 0], 0.0, 1.0, False)
        known = values[~np.isnan(values)]
        spread = float(known.std()) if len(known) else 1.0
        centre = float(known.mean()) if len(known) else 0.0
        none = np.empty(0, dtype=np.int64)
        return cls(column, _cuts(known), none, centre, spread or 1.0, len(known) < len(values))

    def named(self, name: str) -> Self:
        """Return the same coding for a column of another name, say the value of a relative."""
        return replace(self, column=replace(self.column, name=name))

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name

    @property
    def is_nominal(self) -> bool:
        """Whether any set of classes may go left."""
        return self.column.is_class and not self.column.is_ordered

    @property
    def n_codes(self) -> int:
        """Number of codes, that of missing values included."""
        return (self.column.n_levels if self.column.is_class else len(self.cuts) + 1) + 1

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Return codes from 1; 0 is missing, so that missing values can be a branch."""
        if self.column.is_class:
            return (values + 1).astype(np.int32)
        coded = np.searchsorted(self.cuts, values, side="left") + 1
        return np.where(np.isnan(values), 0, coded).astype(np.int32)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Return the columns of a linear model: standardised numbers, indicators, gaps."""
        if self.column.is_class:
            return np.asarray(values[:, None] == self.shown, dtype=np.float64)
        gaps = np.isnan(values)
        number = np.where(gaps, 0.0, (values - self.centre) / self.scale)
        return np.column_stack([number, gaps]) if self.has_gaps else number[:, None]


def _cuts(known: np.ndarray) -> np.ndarray:
    if len(known) > _SAMPLED:  # every so manieth of the sorted values tells the quantiles
        known = np.sort(known)[:: len(known) // _SAMPLED]
    distinct = np.unique(known)
    if len(distinct) > _MOST_BINS:
        shares = np.linspace(0, 1, _MOST_BINS + 1)[1:-1]
        return np.unique(np.quantile(known, shares))
    return np.asarray(distinct[:-1] + np.diff(distinct) / 2)


@dataclass(frozen=True)
class View:
    """The predictors of some records."""

    codings: tuple[Coding, ...]
    values: tuple[np.ndarray, ...]
    codes: np.ndarray
    """Predictors by records."""

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.codes.shape[1])

    @property
    def is_nominal(self) -> np.ndarray:
        """Which predictors are nominal."""
        return np.array([c.is_nominal for c in self.codings], dtype=np.bool_)

    @property
    def n_codes(self) -> np.ndarray:
        """Number of codes of each predictor."""
        return np.array([c.n_codes for c in self.codings], dtype=np.int64)

    @cached_property
    def matrix(self) -> np.ndarray:
        """The predictors as a matrix, with a constant."""
        parts = [np.ones((self.n, 1))]
        parts += [c.matrix(v) for c, v in zip(self.codings, self.values, strict=True)]
        return np.hstack(parts)

    def take(self, rows: np.ndarray) -> View:
        """Return the predictors of some of the records."""
        codes = np.ascontiguousarray(self.codes[:, rows])
        return View(self.codings, tuple(v[rows] for v in self.values), codes)

    def without_predictors(self) -> View:
        """Return the same records with nothing known about them."""
        return View((), (), np.empty((0, self.n), dtype=np.int32))

    def with_more(self, other: View) -> View:
        """Return these predictors and others of the same records."""
        codes = np.concatenate([self.codes, other.codes])
        return View(self.codings + other.codings, self.values + other.values, codes)


@dataclass
class Records:
    """Values of records by column, with the codes that have been needed so far."""

    n: int
    values: dict[str, np.ndarray] = field(default_factory=dict)
    _codes: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, np.ndarray], n: int) -> Self:
        """Hold the values of some columns."""
        return cls(n, dict(values))

    def put(self, name: str, values: np.ndarray) -> None:
        """Set or replace the values of a column."""
        self.values[name] = values
        self._codes.pop(name, None)

    def view(self, codings: Sequence[Coding]) -> View:
        """Return some columns as predictors."""
        codes = np.empty((len(codings), self.n), dtype=np.int32)
        for j, coding in enumerate(codings):
            if coding.name not in self._codes:
                self._codes[coding.name] = coding.codes(self.values[coding.name])
            codes[j] = self._codes[coding.name]
        return View(tuple(codings), tuple(self.values[c.name] for c in codings), codes)

"""Data shuffling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.method import Columns
from tacit.core.schema import Kind
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._moments import means_and_covariance, normal_draws
from tacit.mask._noise import with_columns
from tacit.mask._sorting import ascending_order, middle_ranks, order_and_ties
from tacit.mask.rank_swap import ordered_values


class Shuffle(
    RuleKeepingMask,
    key="shuffle",
    title="Data shuffling",
    cites=("muralidhar2006",),
    example={"columns": ["income", "taxes"], "given": ["age", "hours", "education"]},
    at_scale="blocks",
):
    r"""Redistribute values so that they depend on a record only through other variables.

    The values of each variable stay the same as a whole. Given the variables in `given`, the new
    values say nothing about the record's own old ones, while rank correlations among all of them
    are kept about. When not to use it: where relations are not monotone, which ranks do not carry.

    Edit rules of the schema hold on every record of the release: a value that breaks one is moved
    to its border, and only the other values then stay the same as a whole.

    Missing values: stay missing, and a record that misses a variable in `given` is placed as if it
    had the middle value. Weights: not used. Households: not considered.

    Notes
    -----
    Normal scores :math:`x^*, s^*` of the confidential and other variables, with correlations
    :math:`\rho = 2\sin(\pi\rho_s/6)` from the rank correlations :math:`\rho_s`; new scores are
    drawn from
    :math:`N(\rho_{xs}\rho_{ss}^{-1}s^*,\; \rho_{xx} - \rho_{xs}\rho_{ss}^{-1}\rho_{sx})`, and the
    value of rank :math:`i` goes to the record whose new score has rank :math:`i`
    [muralidhar2006]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> method = mask.Shuffle(columns=["income"], given=["age", "hours"], keep_rules=False)
    >>> frame = tacit.Plan([method]).apply(data, seed=1).frame
    >>> frame["income"].sort().equals(data.frame["income"].sort())
    True
    """

    columns: Columns
    """Numeric variables whose values are redistributed."""
    given: Columns
    """Numeric, ordinal or date variables that the new values depend on; they stay as they are."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        both = set(self.columns) & set(self.given)
        if both:
            raise ValueError(f"should not shuffle a variable given itself: {min(both)}")
        return self

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        data.schema.require(self.columns, kinds=[Kind.NUMERIC], by=self.key)
        kinds = [Kind.NUMERIC, Kind.ORDINAL, Kind.DATE]
        data.schema.require(self.given, kinds=kinds, by=self.key)
        if data.n_records < 3:
            raise DataError("shuffling needs at least three records", got=f"{data.n_records}")
        columns = [_Ranked.of(data, name) for name in (*self.columns, *self.given)]
        drawn = _conditional_draws(columns, len(self.columns), rng)
        shuffled = [c.reordered(d) for c, d in zip(columns, drawn.T, strict=False)]
        return with_columns(data, self.columns, np.column_stack(shuffled))


@dataclass(frozen=True)
class _Ranked:
    """A column with its ranks."""

    values: np.ndarray
    known: np.ndarray | slice
    """Records that have a value."""
    order: np.ndarray
    """Places of these by ascending value."""
    ranks: np.ndarray
    """Ranks from 1, ties and missing values at the middle rank."""

    @classmethod
    def of(cls, data: Microdata, name: str) -> _Ranked:
        values, is_known = ordered_values(data, name)
        known = slice(None) if is_known.all() else np.flatnonzero(is_known)
        order, tied = order_and_ties(values[known])
        ranks = np.full(len(values), (max(len(order), 1) + 1) / 2.0)
        ranks[known] = middle_ranks(values[known], order, tied=tied)
        return cls(values, known, order, ranks)

    def scores(self, tables: dict[int, np.ndarray]) -> np.ndarray:
        """Return normal scores of the ranks, looked up in a table for each number of values."""
        from scipy.special import ndtri

        n = max(len(self.order), 1)
        if n not in tables:  # ranks are halves of whole numbers
            tables[n] = ndtri(np.arange(1, 2 * n) / (2.0 * n))
        return np.asarray(tables[n][(2.0 * self.ranks).astype(np.int64) - 2])

    def reordered(self, scores: np.ndarray) -> np.ndarray:
        """Give the smallest value to the record with the smallest score, and so on."""
        places = ascending_order(scores[self.known])
        given = np.empty(len(places))
        given[places] = self.values[self.known][self.order]
        if len(given) == len(self.values):
            return given
        result = np.full(len(self.values), np.nan)
        result[self.known] = given
        return result


def _conditional_draws(
    columns: list[_Ranked], n_shuffled: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw new scores of the first columns given the others."""
    from tacit.mask import _moments_kernel as kernel

    tables: dict[int, np.ndarray] = {}
    scores = np.column_stack([c.scores(tables) for c in columns[n_shuffled:]])
    rho = 2.0 * np.sin(np.pi * _correlations(columns) / 6.0)
    xx, xs = rho[:n_shuffled, :n_shuffled], rho[:n_shuffled, n_shuffled:]
    slope = xs @ np.linalg.pinv(rho[n_shuffled:, n_shuffled:])
    drawn = normal_draws(xx - slope @ xs.T, len(scores), rng)
    kernel.add_products(drawn, scores, slope)
    return drawn


def _correlations(columns: list[_Ranked]) -> np.ndarray:
    """Return rank correlations with zero for constant columns."""
    _, covariance = means_and_covariance(np.column_stack([c.ranks for c in columns]))
    spread = np.sqrt(np.diag(covariance))
    spread[spread <= 0] = np.inf
    correlation = np.clip(covariance / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)

"""Data shuffling."""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.method import Columns
from tacit.core.schema import Kind
from tacit.mask._moments import normal_draws
from tacit.mask._noise import with_columns
from tacit.mask.rank_swap import rank_codes


class Shuffle(
    Mask,
    key="shuffle",
    title="Data shuffling",
    cites=("muralidhar2006",),
    example={"columns": ["income", "taxes"], "given": ["age", "hours", "education"]},
):
    r"""Redistribute values so that they depend on a record only through other variables.

    The values of each variable stay the same as a whole. Given the variables in `given`, the new
    values say nothing about the record's own old ones, while rank correlations among all of them
    are kept about. When not to use it: where relations are not monotone, which ranks do not carry.

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
    >>> method = mask.Shuffle(columns=["income"], given=["age", "hours"])
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

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with values redistributed."""
        data.schema.require(self.columns, kinds=[Kind.NUMERIC], by=self.key)
        kinds = [Kind.NUMERIC, Kind.ORDINAL, Kind.DATE]
        data.schema.require(self.given, kinds=kinds, by=self.key)
        if data.n_records < 3:
            raise DataError("shuffling needs at least three records", got=f"{data.n_records}")
        values = data.numeric(self.columns)
        ranks = np.column_stack([rank_codes(data, c) for c in (*self.columns, *self.given)])
        scores = np.column_stack([_normal_scores(column) for column in ranks.T])
        drawn = _conditional_draws(scores, len(self.columns), rng)
        shuffled = [_reordered(v, d) for v, d in zip(values.T, drawn.T, strict=True)]
        return with_columns(data, self.columns, np.column_stack(shuffled))


def _normal_scores(codes: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks, ties at their middle rank, missing at zero."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    known = codes >= 0
    scores = np.zeros(len(codes))
    if known.any():
        scores[known] = ndtri((rankdata(codes[known]) - 0.5) / known.sum())
    return scores


def _conditional_draws(scores: np.ndarray, n_shuffled: int, rng: np.random.Generator) -> np.ndarray:
    """Draw new scores of the first columns given the others."""
    from scipy.stats import rankdata

    spearman = _correlations(rankdata(scores, axis=0))
    rho = 2.0 * np.sin(np.pi * spearman / 6.0)
    xx, xs = rho[:n_shuffled, :n_shuffled], rho[:n_shuffled, n_shuffled:]
    slope = xs @ np.linalg.pinv(rho[n_shuffled:, n_shuffled:])
    mean = scores[:, n_shuffled:] @ slope.T
    noise = normal_draws(np.zeros(n_shuffled), xx - slope @ xs.T, len(scores), rng)
    return np.asarray(mean + noise)


def _correlations(ranks: np.ndarray) -> np.ndarray:
    """Return correlations with zero for constant columns."""
    centred = ranks - ranks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(length > 0, length, 1.0)
    correlation = scaled.T @ scaled
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _reordered(values: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Give the smallest value to the record with the smallest score, and so on."""
    known = np.flatnonzero(~np.isnan(values))
    result = np.full(len(values), np.nan)
    result[known[np.argsort(scores[known], kind="stable")]] = np.sort(values[known])
    return result

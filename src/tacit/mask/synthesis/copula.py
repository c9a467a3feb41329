"""The Gaussian copula: normal scores with the correlations of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tacit.mask.synthesis.columns import Column, common_classes


def copula_draws(values: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw records whose margins and rank correlations are those of complete numeric columns."""
    scores = np.column_stack([normal_scores(column) for column in values.T])
    drawn = correlated_normals(scores, n, rng)
    return np.column_stack(
        [quantiles(np.sort(values[:, j]), uniforms(drawn[:, j])) for j in range(values.shape[1])]
    )


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Return the normal scores of ranks; ties have the mean of their ranks."""
    from scipy.stats import norm, rankdata

    return np.asarray(norm.ppf(rankdata(values) / (len(values) + 1)))


def uniforms(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities below normal scores."""
    from scipy.stats import norm

    return np.asarray(norm.cdf(scores))


def quantiles(ordered: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the values below which the shares lie, between those of rising values."""
    return np.asarray(np.interp(shares * (len(ordered) - 1), np.arange(len(ordered)), ordered))


def correlated_normals(scores: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw normal scores with the correlations of the given ones."""
    spread = scores.std(axis=0)
    correlation = np.nan_to_num(np.cov(scores, rowvar=False, bias=True).reshape(2 * (len(spread),)))
    scale = np.where(spread > 0, spread, 1.0)
    correlation = correlation / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    eigenvalues, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))
    return np.asarray(rng.standard_normal((n, len(spread))) @ root.T)


@dataclass(frozen=True)
class Margin:
    """One variable: its place on the normal scale, and the way back."""

    column: Column
    order: np.ndarray
    """Classes along the scale, missing ones as class -1."""
    cuts: np.ndarray
    """Share of the records up to each class."""
    ordered: np.ndarray
    """Known numbers, rising."""
    missing: float
    """Share of missing numbers, which lie lowest."""

    @classmethod
    def of(cls, column: Column, common: int) -> Self:
        """Learn the margin; nominal classes lie along the scale by frequency, rare ones nowhere."""
        values = column.values
        none = np.empty(0)
        if not column.is_class:
            known = values[~np.isnan(values)]
            return cls(column, none, none, np.sort(known), 1 - len(known) / len(values))
        sizes = np.bincount(values + 1, minlength=column.n_levels + 1)
        sizes[1:][~common_classes(column, values, common)[:-1]] = 0
        order = np.arange(len(sizes)) if column.is_ordered else np.argsort(-sizes, kind="stable")
        return cls(column, order - 1, np.cumsum(sizes[order]) / sizes.sum(), none, 0.0)

    def shares(self, rng: np.random.Generator) -> np.ndarray:
        """Return where each original record lies; ties are spread at random."""
        values = self.column.values
        if self.column.is_class:
            place = np.empty(len(self.order), dtype=np.int64)
            place[self.order + 1] = np.arange(len(self.order))
            at = place[values + 1]
            start = np.concatenate([[0.0], self.cuts])[at]
            return np.asarray(start + rng.random(len(values)) * (self.cuts[at] - start))
        filled = np.where(np.isnan(values), -np.inf, values)
        order = np.lexsort((rng.random(len(values)), filled))
        shares = np.empty(len(values))
        shares[order] = (np.arange(len(values)) + 0.5) / len(values)
        return shares

    def values(self, shares: np.ndarray) -> np.ndarray:
        """Return the values that lie at the shares."""
        if self.column.is_class:
            at = np.searchsorted(self.cuts, shares, side="left")
            return np.asarray(self.order[np.minimum(at, len(self.order) - 1)], dtype=np.int64)
        known = np.clip((shares - self.missing) / max(1 - self.missing, 1e-12), 0, 1)
        drawn = np.full(len(shares), np.nan)
        if len(self.ordered):
            drawn = self.column.on_grid(quantiles(self.ordered, known))
        return np.where(shares < self.missing, np.nan, drawn)


@dataclass(frozen=True)
class Copula:
    """Margins and correlations of a file."""

    margins: tuple[Margin, ...]
    scores: np.ndarray

    @classmethod
    def of(cls, columns: dict[str, Column], common: int, rng: np.random.Generator) -> Self:
        """Learn a file."""
        from scipy.stats import norm

        margins = tuple(Margin.of(column, common) for column in columns.values())
        shares = np.column_stack([margin.shares(rng) for margin in margins])
        return cls(margins, norm.ppf(np.clip(shares, 1e-9, 1 - 1e-9)))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw records; each is a unit of its own."""
        drawn = uniforms(correlated_normals(self.scores, n, rng))
        values = {m.column.name: m.values(drawn[:, j]) for j, m in enumerate(self.margins)}
        return values, np.arange(n)

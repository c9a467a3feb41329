"""Noise on normal scores, which keeps each variable's distribution."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Gt

from tacit.core.data import Microdata
from tacit.core.method import Try
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._moments import normal_draws
from tacit.mask._noise import finite_columns, known_moments, with_columns


class TransformedNoise(
    RuleKeepingMask,
    key="transformed-noise",
    title="Additive noise on normal scores",
    cites=("sullivan1989", "brand2002"),
    example={"columns": ["income", "hours"], "alpha": 0.1},
):
    r"""Add noise after turning each variable into normal scores, and turn back.

    The distribution of each variable is kept up to sampling error, whatever its shape: skewed,
    discrete, with many zeros. Discrete variables keep their values. Rank correlations shrink a
    little. When not to use it: where linear covariances must be kept exactly.

    Edit rules of the schema hold on every record of the release: values that noise takes beyond one
    are moved to its border.

    Missing values: stay missing. Weights: not used; the distribution kept is that of the file.
    Households: not considered.

    Notes
    -----
    In the manner of Sullivan [sullivan1989]_, see [brand2002]_: the empirical distribution
    :math:`F_j` (ties spread at random) gives normal scores :math:`y = \Phi^{-1}(F_j(x))`; noise
    :math:`N(0, \alpha\Sigma_y)` is added and the sum divided by :math:`\sqrt{1+\alpha}`; the result
    is mapped back by the empirical quantiles :math:`F_j^{-1}(\Phi(y'))`, linearly between
    neighbours where the variable is continuous.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> frame = tacit.Plan([mask.TransformedNoise(columns=["hours"])]).apply(data, seed=1).frame
    >>> set(frame["hours"]) <= set(data.frame["hours"])
    True
    """

    alpha: Annotated[float, Gt(0), Try(0.05, 0.1, 0.3)] = 0.1
    """Variance of the noise as a share of the variance of the normal scores."""

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        values = finite_columns(data, self.columns, self.key)
        scores = np.column_stack([_normal_scores(column, rng) for column in values.T])
        _, covariance = known_moments(scores, None)
        noise = normal_draws(self.alpha * covariance, len(values), rng)
        moved = (scores + noise) / np.sqrt(1.0 + self.alpha)
        masked = [_back(m, column) for m, column in zip(moved.T, values.T, strict=True)]
        return with_columns(data, self.columns, np.column_stack(masked))


def _normal_scores(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return normal scores of the ranks; equal values share their ranks out at random."""
    from scipy.special import ndtri

    known = np.flatnonzero(~np.isnan(column))
    order = np.lexsort((rng.random(len(known)), column[known]))
    ranks = np.empty(len(known))
    ranks[order] = np.arange(len(known))
    scores = np.full(len(column), np.nan)
    scores[known] = ndtri((ranks + 0.5) / max(len(known), 1))
    return scores


def _back(scores: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Map normal scores to values with the distribution of the column."""
    from scipy.special import ndtr

    values = np.sort(column[~np.isnan(column)])
    if not len(values):
        return column
    place = ndtr(scores) * len(values) - 0.5
    is_discrete = len(np.unique(values)) < 0.5 * len(values)
    if is_discrete:
        nearest = np.clip(np.nan_to_num(np.rint(place)), 0, len(values) - 1).astype(int)
        return np.where(np.isnan(scores), np.nan, values[nearest])
    return np.asarray(np.interp(place, np.arange(len(values)), values))

"""Independent additive noise."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.data import Microdata
from tacit.core.method import Try
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._noise import finite_columns, known_moments, with_columns


class UncorrelatedNoise(
    RuleKeepingMask,
    key="uncorrelated-noise",
    title="Additive noise, independent per variable",
    cites=("domingoferrer2007", "brand2002"),
    example={"columns": ["income", "hours"], "level": 0.1},
    at_scale="blocks",
):
    r"""Add independent normal noise to each variable.

    Means are kept in expectation; variances grow and correlations shrink. When not to use it: where
    covariances matter (use correlated noise) or values must stay nonnegative (use multiplicative
    noise).

    Edit rules of the schema hold on every record of the release: values that noise takes beyond one
    are moved to its border.

    Missing values: stay missing; the spread comes from complete records. Weights: the spread is
    weighted where the schema has a weight. Households: not considered.

    Notes
    -----
    :math:`z_j = x_j + \epsilon_j` with :math:`\epsilon_j \sim N(0, \sigma^2_{\epsilon_j})` and
    :math:`\sigma_{\epsilon_j} = \text{level}\cdot s_j`, independent between variables
    [domingoferrer2007]_. Then :math:`Var(z_j) = (1 + \text{level}^2) Var(x_j)` [brand2002]_. The
    level is a share of the standard deviation: 0.1 is ten percent.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(400)
    >>> frame = tacit.Plan([mask.UncorrelatedNoise(columns=["age"])]).apply(data, seed=1).frame
    >>> bool((frame["age"] != data.frame["age"]).all())
    True
    """

    level: Annotated[float, Gt(0), Try(0.05, 0.1, 0.2, 0.5)] = 0.1
    """Standard deviation of the noise as a share of the variable's own."""
    only_outliers: Annotated[float, Ge(0), Lt(1)] = 0.0
    """Add noise only to this share of the records, those farthest from the mean; 0 means all."""

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        values = finite_columns(data, self.columns, self.key)
        mean, covariance = known_moments(values, data.weights)
        spread = np.sqrt(np.diag(covariance))
        noise = rng.standard_normal(values.shape) * spread * self.level
        if self.only_outliers:
            noise[~farthest(values, mean, covariance, self.only_outliers)] = 0.0
        return with_columns(data, self.columns, values + noise)


def farthest(
    values: np.ndarray, mean: np.ndarray, covariance: np.ndarray, share: float
) -> np.ndarray:
    """Mark the share of the records with the largest Mahalanobis distance to the mean."""
    centred = np.nan_to_num(values - mean)
    distance = np.einsum("ij,jl,il->i", centred, np.linalg.pinv(covariance), centred)
    marked = np.zeros(len(values), dtype=bool)
    n_marked = int(np.ceil(share * len(values)))
    marked[np.argsort(-distance, kind="stable")[:n_marked]] = True
    return marked

"""Additive noise with the covariance of the data."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Gt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.method import Try
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._moments import normal_draws
from tacit.mask._noise import complete_records, finite_columns, known_moments, with_columns


class CorrelatedNoise(
    RuleKeepingMask,
    key="correlated-noise",
    title="Additive noise with the covariance of the data",
    cites=("kim1986", "domingoferrer2007", "oganian2011"),
    example={"columns": ["income", "hours"], "alpha": 0.1},
    at_scale="blocks",
):
    r"""Add noise that has the correlations of the data, and scale back to keep the covariance.

    Means and, with scaling, the covariance matrix are kept in expectation, and correlations in any
    case. When not to use it: on skewed data that must stay nonnegative (use multiplicative noise),
    or on small subgroups, whose own covariances are not kept.

    Edit rules of the schema hold on every record of the release: values that noise takes beyond one
    are moved to its border, and moments are then kept only about. With ``keep_rules=False`` nothing
    is moved.

    Missing values: stay missing; moments come from complete records. Weights: moments are weighted
    where the schema has a weight. Households: not considered.

    Notes
    -----
    :math:`\epsilon \sim N(0, \alpha\Sigma)` [domingoferrer2007]_. Without scaling
    :math:`z = x + \epsilon` has covariance :math:`(1+\alpha)\Sigma`. With it [kim1986]_, by (1) of
    [oganian2011]_,

    .. math:: z = \bar x + \frac{(x - \bar x) + \epsilon}{\sqrt{1 + \alpha}}.

    With `exact` the drawn noise is first made to have mean zero, no correlation with the data and
    covariance exactly :math:`\alpha\Sigma`, so that the sample mean and covariance are kept to
    rounding error.

    Examples
    --------
    >>> import numpy as np, polars as pl, tacit
    >>> from tacit import mask
    >>> rng = np.random.default_rng(0)
    >>> table = pl.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50)})
    >>> plan = tacit.Plan([mask.CorrelatedNoise(columns=["a", "b"], exact=True)])
    >>> masked = plan.apply(table, seed=1).frame
    >>> bool(np.allclose(np.cov(masked.to_numpy().T), np.cov(table.to_numpy().T)))
    True
    """

    alpha: Annotated[float, Gt(0), Try(0.01, 0.05, 0.1, 0.5)] = 0.1
    """Variance of the noise as a share of the variance of the data."""
    scale_back: bool = True
    """Shrink the result so that the covariance of the data is kept (Kim's transformation)."""
    exact: bool = False
    """Keep the sample mean and covariance exactly, not only in expectation."""

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        from tacit.mask import _moments_kernel as kernel

        values = finite_columns(data, self.columns, self.key)
        weights = data.weights
        mean, covariance = known_moments(values, weights)
        noise = normal_draws(self.alpha * covariance, len(values), rng)
        if self.exact:
            complete = complete_records(values)
            _check_room(int(complete.sum()), values.shape[1])
            noise[complete] = self._adjusted(values[complete], noise[complete], weights, complete)
        shrink = 1.0 / np.sqrt(1.0 + self.alpha) if self.scale_back else 1.0
        kernel.add_scaled(noise, values, mean, shrink)  # Eq. (1) of oganian2011
        return with_columns(data, self.columns, noise)

    def _adjusted(
        self,
        values: np.ndarray,
        noise: np.ndarray,
        weights: np.ndarray | None,
        complete: np.ndarray,
    ) -> np.ndarray:
        """Make the drawn noise uncorrelated with the data, with covariance alpha times theirs."""
        shares = np.ones(len(values)) if weights is None else weights[complete]
        root = np.sqrt(shares / shares.sum())[:, None]
        design = root * np.column_stack([np.ones(len(values)), values])
        free = root * noise
        free = free - design @ np.linalg.lstsq(design, free, rcond=None)[0]
        centred = root * (values - (root**2 * values).sum(axis=0))
        target = self.alpha * centred.T @ centred
        return np.asarray(free @ _recolour(free.T @ free, target) / root)


def _check_room(n_complete: int, n_columns: int) -> None:
    """Refuse to promise exact moments where the noise has no room beside data and constant."""
    if n_complete <= 2 * n_columns:
        raise DataError(
            "too few complete records to keep their covariances exactly",
            got=f"{n_complete} records of {n_columns} columns",
            do=f"give at least {2 * n_columns + 1} records, or leave out exact",
        )


def _recolour(given: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the matrix that turns columns with inner products `given` into ones with `target`."""
    return np.asarray(_power(given, -0.5) @ _power(target, 0.5))


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    """Return a power of a symmetric matrix on the space where it is not zero."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    kept = eigenvalues > 1e-12 * max(eigenvalues.max(), 0.0)
    powers = np.zeros_like(eigenvalues)
    powers[kept] = eigenvalues[kept] ** exponent
    return np.asarray((vectors * powers) @ vectors.T)

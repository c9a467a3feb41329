"""Masking by random orthogonal matrices."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.method import Columns, Try
from tacit.core.progress import track
from tacit.mask._grouped import missing_patterns
from tacit.mask._noise import finite_columns, with_columns


class OrthogonalMasking(
    Mask,
    key="orthogonal-masking",
    title="Random orthogonal matrix masking",
    cites=("ting2008",),
    example={"columns": ["income", "hours"]},
):
    r"""Mix the records by a random rotation that keeps means and covariances exactly.

    Every released record is a mix of some others, near the original for a small `angle`. Sample
    mean and covariance matrix stay the same to rounding error, so regressions among the variables
    give the same coefficients. When not to use it: on variables that must stay nonnegative or whole
    numbers.

    Missing values: records are mixed with records that miss the same columns; a record alone with
    its pattern has all the columns blanked. Weights: not used; unweighted moments are kept.
    Households: not considered.

    Notes
    -----
    :math:`X_m = TX` with :math:`T` orthogonal and :math:`T1 = 1` [ting2008]_. Then
    :math:`X_m'X_m = X'X` and the column sums stay. :math:`T` is block-diagonal over random blocks
    of records, :math:`T_b = \exp(\text{angle}\cdot A)` with :math:`A` a random skew-symmetric
    matrix whose rows sum to zero, so that the cost is linear in the number of records, where one
    full matrix needs :math:`n^3`.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300)
    >>> plan = tacit.Plan([mask.OrthogonalMasking(columns=["income", "hours"])])
    >>> masked = plan.apply(data, seed=1).frame["income", "hours"].to_numpy()
    >>> bool(np.allclose(np.cov(masked.T), np.cov(data.frame["income", "hours"].to_numpy().T)))
    True
    """

    columns: Columns
    """Numeric variables masked together."""
    angle: Annotated[float, Gt(0), Try(0.1, 0.3, 1.0)] = 0.3
    """How far the records are turned, in radians: small keeps them near, large mixes them fully."""
    block_size: Annotated[int, Ge(4)] = 60
    """How many records are mixed with each other."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the mixed records."""
        values = finite_columns(data, self.columns, self.key)
        if len(values) < 2:
            raise DataError("at least two records can be mixed", got=f"{len(values)}")
        masked = np.full_like(values, np.nan)
        with track("mixing records", len(values)) as advance:
            for rows, present in missing_patterns(values):
                if len(rows) > 1 and present.any():
                    shuffled = rng.permutation(rows)
                    for block in np.array_split(shuffled, -(-len(rows) // self.block_size)):
                        turn = random_turn(len(block), self.angle, rng)
                        masked[np.ix_(block, present)] = turn @ values[np.ix_(block, present)]
                        advance(len(block))
        return with_columns(data, self.columns, masked)


def random_turn(n: int, angle: float, rng: np.random.Generator) -> np.ndarray:
    """Return a random orthogonal matrix whose rows sum to one, at most `angle` from identity."""
    from scipy.linalg import expm

    draws = rng.standard_normal((n, n))
    skew = (draws - draws.T) / 2.0
    # Projecting out the vector of ones on both sides keeps the matrix skew-symmetric.
    skew = skew - skew.mean(axis=0) - skew.mean(axis=1, keepdims=True)
    largest = np.linalg.norm(skew, 2)
    return np.asarray(expm(skew * (angle / largest))) if largest > 0 else np.eye(n)

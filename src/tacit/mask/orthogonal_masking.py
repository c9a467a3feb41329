"""Masking by random orthogonal matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.method import Try
from tacit.core.progress import track
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._grouped import patterns
from tacit.mask._noise import finite_columns, with_columns

_VALUES_AT_ONCE = 1_000_000
"""Size of the stack of matrices that is worked on at a time."""


class OrthogonalMasking(
    RuleKeepingMask,
    key="orthogonal-masking",
    title="Random orthogonal matrix masking",
    cites=("ting2008",),
    example={"columns": ["income", "hours"]},
):
    r"""Mix the records by a random rotation that keeps means and covariances exactly.

    Every released record is a mix of some others, near the original for a small `angle`. Sample
    mean and covariance matrix stay the same to rounding error, so regressions among the variables
    give the same coefficients. When not to use it: on variables that must stay nonnegative or whole
    numbers. Values that an edit rule of the schema forbids are moved to its border, and moments are
    then kept only about; with ``keep_rules=False`` nothing is moved.

    Missing values: records are mixed with records that miss the same columns; a record alone with
    its pattern has all the columns blanked, two are exchanged. Weights: not used; unweighted
    moments are kept. Households: not considered.

    Notes
    -----
    :math:`X_m = TX` with :math:`T` orthogonal and :math:`T1 = 1` [ting2008]_. Then
    :math:`X_m'X_m = X'X` and the column sums stay. :math:`T` is block-diagonal over random blocks
    of records, :math:`T_b = (I - A)^{-1}(I + A)` (Cayley's transform) with :math:`A` a random
    skew-symmetric matrix whose rows sum to zero, so that the cost is linear in the number of
    records, where one full matrix needs :math:`n^3`. An eigenvalue :math:`i\lambda` of :math:`A`
    turns a plane by :math:`2\arctan\lambda`; :math:`A` is scaled so that the largest turn is
    `angle`.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300)
    >>> method = mask.OrthogonalMasking(columns=["income", "hours"], keep_rules=False)
    >>> masked = tacit.Plan([method]).apply(data, seed=1).frame["income", "hours"].to_numpy()
    >>> bool(np.allclose(np.cov(masked.T), np.cov(data.frame["income", "hours"].to_numpy().T)))
    True
    """

    angle: Annotated[float, Gt(0), Lt(math.pi), Try(0.1, 0.3, 1.0)] = 0.3
    """How far the records are turned, in radians: small keeps them near, large mixes them fully."""
    block_size: Annotated[int, Ge(4)] = 60
    """About how many records are mixed with each other."""

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        values = finite_columns(data, self.columns, self.key)
        if len(values) < 2:
            raise DataError("at least two records can be mixed", got=f"{len(values)}")
        masked = np.full_like(values, np.nan)
        with track("mixing records", len(values)) as advance:
            for rows, present in patterns(~np.isnan(values)):
                if len(rows) < 2 or not present.any():
                    continue
                columns = np.flatnonzero(present)
                for blocks in _stacks(rng.permutation(rows), self.block_size):
                    cells = blocks[:, :, None], columns
                    masked[cells] = turned(values[cells], self.angle, rng)
                    advance(blocks.size)
        return with_columns(data, self.columns, masked)


def _stacks(rows: np.ndarray, block_size: int) -> Iterator[np.ndarray]:
    """Cut records into blocks of nearly equal size; yield stacks of blocks of the same size."""
    n_blocks = max(int(len(rows) / block_size + 0.5), 1)
    size, n_larger = divmod(len(rows), n_blocks)
    cut = n_larger * (size + 1)
    for part, length in ((rows[:cut], size + 1), (rows[cut:], size)):
        blocks = part.reshape(-1, length)
        at_once = max(_VALUES_AT_ONCE // length**2, 1)
        yield from (blocks[i : i + at_once] for i in range(0, len(blocks), at_once))


def turned(values: np.ndarray, angle: float, rng: np.random.Generator) -> np.ndarray:
    """Mix the records of each block by a random rotation that keeps their sum.

    Parameters
    ----------
    values
        Blocks by records by columns.
    angle
        The largest angle by which a rotation turns, below pi.
    """
    if values.shape[1] == 2:
        return values[:, ::-1]  # no rotation keeps the sum of two; exchanging them does
    skew = _skew_matrices(len(values), values.shape[1], rng)
    # The eigenvalues of A'A are the squares of those of A.
    largest = np.sqrt(np.linalg.eigvalsh(skew.swapaxes(1, 2) @ skew)[:, -1])
    skew *= (math.tan(angle / 2.0) / largest)[:, None, None]
    identity = np.eye(values.shape[1])
    return np.asarray(np.linalg.solve(identity - skew, values + skew @ values))


def _skew_matrices(n_blocks: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw random skew-symmetric matrices whose rows and columns sum to zero."""
    upper = np.triu_indices(size, k=1)
    skew = np.zeros((n_blocks, size, size))
    skew[:, *upper] = rng.standard_normal((n_blocks, len(upper[0])))
    skew -= skew.swapaxes(1, 2).copy()
    # Projecting out the vector of ones on both sides keeps the matrix skew-symmetric.
    means = skew.mean(axis=2)
    skew += means[:, None, :] - means[:, :, None]
    return skew

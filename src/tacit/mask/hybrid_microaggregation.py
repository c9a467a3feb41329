"""Hybrid data by microaggregation: synthetic groups with the moments of the real ones."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Columns, Try
from tacit.mask._blocks import split_into_blocks
from tacit.mask._grouped import patterns, require_records, standardised
from tacit.mask._noise import finite_columns, with_columns
from tacit.mask.mdav import mdav_groups

_MOST_AT_ONCE = 20_000
"""Larger files are first split into blocks of similar records."""


class HybridMicroaggregation(
    Mask,
    key="hybrid-microaggregation",
    title="Hybrid data by microaggregation",
    cites=("domingoferrer2010", "burridge2003"),
    example={"columns": ["income", "hours"], "k": 5},
):
    r"""Replace groups of similar records by synthetic groups with the same means and covariances.

    Means, variances and covariances of the variables are kept, up to rounding, in each group and
    in the file, and nearly in any part of the file. Small groups are near the original, large ones
    nearly fully synthetic. Whole numbers become fractions, and values can leave their range (an age
    below 0). When not to use it: where edit rules matter, since bringing records within them would
    move the moments that this method keeps; add `restore-rules` if they must hold.

    Missing values: stay missing; records with the same gaps are grouped together, and where fewer
    than `k` have them the values are blanked, which moves the moments of the file. Weights: not
    used, so weighted moments are kept only where the weights of a group are equal. Households: not
    considered. A variable that is constant in a group stays as it is there.

    Notes
    -----
    Groups of at least `k` records are formed by MDAV. With :math:`X_g = 1\bar x' + U S V'` the
    values of a group and :math:`W` a random matrix with orthonormal columns that are orthogonal to
    1, the group becomes [domingoferrer2010]_, [burridge2003]_

    .. math:: Y_g = 1 \bar x' + W S V',

    so that :math:`1'Y_g = 1'X_g` and :math:`Y_g'Y_g = X_g'X_g`.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300)
    >>> plan = tacit.Plan([mask.HybridMicroaggregation(columns=["income", "age"], k=10)])
    >>> frame = plan.apply(data, seed=1).frame
    >>> abs(frame["income"].std() / data.frame["income"].std() - 1) < 1e-9
    True
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    columns: Columns
    """Numeric variables replaced together."""
    k: Annotated[int, Ge(3), Try(5, 10, 25, 50)] = 5
    """Smallest group size; larger is safer. Two records would keep their values, or swap them."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with synthetic values."""
        values = finite_columns(data, self.columns, self.key)
        require_records(len(values), self.k)
        made = np.full_like(values, np.nan)
        for rows, present in patterns(~np.isnan(values)):
            if len(rows) >= self.k and present.any():
                part = np.ix_(rows, present)
                made[part] = hybrid_values(values[part], self._groups(values[part], rng), rng)
        return with_columns(data, self.columns, made)

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if len(values) <= _MOST_AT_ONCE:
            return mdav_groups(values, self.k)
        groups, n_groups = np.empty(len(values), dtype=np.int64), 0
        for block in split_into_blocks(standardised(values), max(_MOST_AT_ONCE // 4, self.k), rng):
            groups[block] = mdav_groups(values[block], self.k) + n_groups
            n_groups = int(groups[block].max()) + 1
        return groups


def hybrid_values(values: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each group values with its means and second moments.

    Groups of the same size are drawn at once.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    made = np.empty_like(values)
    for size in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size)
        rows = order[starts[of_size][:, None] + np.arange(size)]
        x = values[rows]
        mean = x.mean(axis=1, keepdims=True)
        # The mean of equal numbers may be off in the last digit; constants stay as they are.
        mean = np.where((x == x[:, :1]).all(axis=1, keepdims=True), x[:, :1], mean)
        made[rows] = mean + _same_moments(x - mean, rng)
    return made


def _same_moments(centred: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return centred random groups with the second moments of the given ones."""
    n_groups, size, p = centred.shape
    rank = min(size - 1, p)
    if rank == 0:
        return centred
    # Columns in units of their own: else the rounding of a large one would swamp a small one.
    scale = np.abs(centred).max(axis=1, keepdims=True)
    scale[scale == 0] = 1.0
    _, s, v = np.linalg.svd(centred / scale, full_matrices=False)
    made = _directions(n_groups, size, rank, rng) @ (s[:, :rank, None] * v[:, :rank, :]) * scale
    constant = (centred == 0).all(axis=1, keepdims=True)
    return np.where(constant, 0.0, made)


def _directions(n_groups: int, size: int, rank: int, rng: np.random.Generator) -> np.ndarray:
    """Draw for each group orthonormal columns that add up to zero, all of them equally likely."""
    noise = rng.standard_normal((n_groups, size, rank))
    q, r = np.linalg.qr(noise - noise.mean(axis=1, keepdims=True))
    # The signs of q are those of the library's method, always the same ones for the first record.
    signs: np.ndarray = np.sign(np.diagonal(r, axis1=1, axis2=2))
    return np.asarray(q * signs[:, None, :])

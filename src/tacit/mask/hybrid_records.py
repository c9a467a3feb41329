"""Hybrid data: each record mixed with the synthetic one nearest to it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.method import Try
from tacit.mask._edit_rules import RuleKeepingMask
from tacit.mask._grouped import patterns
from tacit.mask._noise import finite_columns, with_columns
from tacit.mask.synthesis.copula import copula_draws


class HybridRecords(
    RuleKeepingMask,
    key="hybrid-records",
    title="Hybrid records (synthetic and original)",
    cites=("dandekar2002b", "domingoferrer2007"),
    example={"columns": ["income", "hours"], "share": 0.5},
):
    r"""Mix each record with the synthetic record nearest to it.

    Between masking and synthesis: the more of the original is kept, the better subdomains are
    preserved and the easier a record is found. When not to use it: with a share near 1, which is
    hardly masked, or where records lie far apart, as no synthetic one is near them.

    Edit rules of the schema hold on every record of the release: values that break one are moved to
    its border.

    Missing values: stay missing; records with the same gaps are treated together. Weights: kept,
    not used. Households: not considered.

    Notes
    -----
    Synthetic records :math:`X_s` are drawn from a Gaussian copula with the margins of the original;
    each original record :math:`X` is paired with the nearest by standardised distance, and with the
    share :math:`\alpha` [dandekar2002b]_

    .. math:: X_h = \alpha X + (1 - \alpha) X_s, \qquad \text{or} \qquad
       X_h = X^{\alpha} X_s^{1 - \alpha}

    for positive variables.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300)
    >>> frame = tacit.Plan([mask.HybridRecords(columns=["income", "taxes"])]).apply(data).frame
    >>> bool((frame["income"] >= frame["taxes"]).all())
    True
    """

    calls_for: ClassVar[tuple[str, ...]] = (
        "matching-people", "replicated-uniques", "extreme-values",
    )  # fmt: skip

    share: Annotated[float, Ge(0), Le(1), Try(0.25, 0.5, 0.75)] = 0.5
    """Share of the original in the mix: 0 is synthetic, 1 original."""
    mix: Literal["sum", "product"] = "sum"
    """Mix values, or for positive variables their logarithms."""

    def _masked(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        values = finite_columns(data, self.columns, self.key)
        if self.mix == "product" and np.nanmin(values, initial=1.0) <= 0:
            raise DataError("only positive values have a product to mix", do="use mix='sum'")
        mixed = values.copy()
        for rows, present in patterns(~np.isnan(values)):
            if present.any():
                part = np.ix_(rows, present)
                mixed[part] = self._mixed(values[part], rng)
        return with_columns(data, self.columns, mixed)

    def _mixed(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if len(values) < 2:
            raise DataError(
                "a record that alone has its pattern of gaps has no like to mix with",
                do="impute its gaps, or leave columns out",
            )
        drawn = copula_draws(values, len(values), rng)
        nearest = drawn[_nearest(values, drawn)]
        if self.mix == "product":
            return np.asarray(values**self.share * nearest ** (1 - self.share))
        return np.asarray(self.share * values + (1 - self.share) * nearest)


def _nearest(values: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return for each record the nearest of the drawn ones, on standardised variables."""
    from scipy.spatial import cKDTree

    spread = values.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    return np.asarray(cKDTree(drawn / scale).query(values / scale)[1])

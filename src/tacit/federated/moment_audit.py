"""An agency's audit of products: whether all questions together tell the value of a record."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.analysis import Analysis, codes_of
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

_BLOCK = 100_000
"""Records looked at together."""
_SINGULAR = 1e-10


def require_untold(
    analysis: Analysis, earlier: Iterable[Analysis], data: Microdata, policy: Policy
) -> None:
    r"""Refuse if sums of products, asked now and before, would tell a record's value.

    Notes
    -----
    A covariance or a regression shows :math:`\sum_i c_i s_i` for two of its columns. Who knows the
    columns c has linear equations about the secret s, and enough of them give s [huth2023]_. The
    leverage of a record in the space that all columns c ever multiplied with s span is 1 if the
    equations determine its value, whatever the other agencies add: a combination that leaves only
    this record over all agencies leaves only this record among the agency's own. Refused if a
    leverage is above ``max_told``.
    """
    asked = [analysis, *earlier]
    for column in analysis.multiplied():
        together = [one for one in asked if column in one.multiplied()]
        if leverages(_equations(column, together, data)).max(initial=0.0) > policy.max_told:
            raise RefusedError(
                f"one of the agency's records has a leverage above {policy.max_told:g} in what was "
                f"multiplied with the column {column!r}, now and before: its value would be told"
            )


def leverages(equations: np.ndarray) -> np.ndarray:
    """Return how nearly each record alone is a combination of the columns of a matrix.

    Examples
    --------
    >>> leverages(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])).round(2)
    array([1. , 0.5, 0.5])
    """
    size = np.sqrt((equations**2).sum(axis=0))
    scaled = equations[:, size > 0] / size[size > 0]
    inverse = np.linalg.pinv(scaled.T @ scaled, rcond=_SINGULAR, hermitian=True)
    blocks = [scaled[i : i + _BLOCK] for i in range(0, len(scaled), _BLOCK)]
    found = [np.einsum("ij,jk,ik->i", b, inverse, b, optimize=True) for b in blocks]
    # Rounding may take a record that stands alone past 1.
    limited: np.ndarray = np.minimum(np.concatenate([np.zeros(0), *found]), 1.0)
    return limited


def _equations(column: str, asked: list[Analysis], data: Microdata) -> np.ndarray:
    """Return the coefficients of a column's values in all sums: records by different sums."""
    found: dict[tuple[str, ...], np.ndarray] = {}
    for analysis in asked:
        used = analysis.universe(data)
        within = np.ones(data.n_records, dtype=bool) if used is None else used
        times, weight = within.astype(float)[:, None], analysis.weighting()
        if weight is not None:
            times = times * _numbers(data, weight, ())
        name = (weight or "", within.tobytes().hex() if not within.all() else "")
        found["", *name] = times
        for other in analysis.multiplied():
            if other != column:
                levels = tuple(analysis.categories().get(other, ()))
                found[other, *levels, *name] = _numbers(data, other, levels) * times
    return np.column_stack(list(found.values()))


def _numbers(data: Microdata, column: str, levels: tuple[str, ...]) -> np.ndarray:
    """Return a column, or the indicators of its categories; 0 where it is missing."""
    if levels:
        indicators: np.ndarray = codes_of(data, column, levels)[:, None] == np.arange(len(levels))
        return indicators.astype(float)
    values: np.ndarray = np.nan_to_num(data.numeric([column]), nan=0.0, posinf=0.0, neginf=0.0)
    return values

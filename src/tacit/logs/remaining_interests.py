"""How much of what users asked about is left in their common logs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.measurement import Measurement
from tacit.logs.profiles import classify
from tacit.logs.release import LogRelease
from tacit.logs.taxonomy import Taxonomy


def semantic_remain(
    release: LogRelease,
    taxonomy: Taxonomy | None = None,
    *,
    levels: int | None = None,
    categories: int | None = None,
) -> Measurement:
    r"""Return the semantic remain percentage (SRP) of a released log, level by level.

    Notes
    -----
    For a user and a level, :math:`\rho` counts the queries of each category that are in her
    original log as well as in the released one, :math:`\chi` those in her original log, and
    :math:`SRP = \rho / \chi`, Eq. (4) of [erola2011]_. The value is the mean over users with
    :math:`\chi > 0` and over levels; users who were lost count as 0. Users who share no interest
    would have :math:`1/k` on average, Eq. (5).

    Parameters
    ----------
    release
        What `tacit.logs.anonymize` returned.
    taxonomy
        Classifies the queries; by default that of the release.
    levels
        Deepest level; by default that of the release.
    categories
        Categories of each term that count; by default as in the release.
    """
    method = release.method
    levels = method.levels if levels is None else levels
    found = classify(
        release.original.queries,
        release.taxonomy if taxonomy is None else taxonomy,
        levels=levels,
        categories=method.categories if categories is None else categories,
    )
    before = found.profiles(release.original.counts())
    after = _after(found, release)
    by_level = remain_by_level(before, after, found.level, levels)
    bound = 1 / method.k
    low = [f"level {level}" for level, value in enumerate(by_level, 1) if value < bound]
    return Measurement(
        key="semantic-remain",
        title="Semantic remain percentage",
        value=float(np.nanmean(by_level)) if np.isfinite(by_level).any() else float("nan"),
        better="higher",
        bounds=(0.0, 1.0),
        unit="percent",
        details={
            "by_level": [float(value) for value in by_level],
            "bound": bound,
            "classified_by_level": found.share_classified(release.original.counts()).tolist(),
        },
        explanation="Share of a user's queries whose category is also in her released log; users "
        f"without common interests would have 1/{method.k}.",
        warnings=(f"below 1/{method.k} at {', '.join(low)}",) if low else (),
    )


def _after(found: Any, release: LogRelease) -> Any:
    """Return the profile of each original user's released log; nothing for those who were lost."""
    group = release.group_of_original
    profiles = found.profiles(release.group_counts())
    after = profiles[np.maximum(group, 0)]
    after.data *= np.repeat(group >= 0, np.diff(after.indptr)).astype(after.data.dtype)
    return after


def remain_by_level(before: Any, after: Any, level: np.ndarray, levels: int) -> np.ndarray:
    """Return the mean SRP of users at level 1, 2, ...; NaN where no query has the level.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> before = csr_array(np.array([[4, 1, 3]]))
    >>> after = csr_array(np.array([[2, 2, 0]]))
    >>> remain_by_level(before, after, np.array([1, 2, 2]), 2).tolist()
    [0.5, 0.25]
    """
    common = before.minimum(after)
    means = []
    for wanted in range(1, levels + 1):
        columns = np.flatnonzero(level == wanted)
        kept = np.asarray(common[:, columns].sum(axis=1)).ravel()
        asked = np.asarray(before[:, columns].sum(axis=1)).ravel()
        has = asked > 0
        means.append(float(np.mean(kept[has] / asked[has])) if has.any() else float("nan"))
    return np.array(means)

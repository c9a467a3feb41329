"""From a query log to one in which at least k users always look alike."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tacit.core.errors import ParameterError, ProtectionError
from tacit.core.rng import fresh_seed, step_generator
from tacit.logs.cleaning import Cleaned, Cleaning, clean
from tacit.logs.microaggregation import SemanticMicroaggregation
from tacit.logs.query_log import QueryLog
from tacit.logs.release import LogRelease
from tacit.logs.taxonomy import Taxonomy

_COARSE_ENOUGH = ("drop", "month", "week", "day")
_AS_DECLARED = Cleaning()


def anonymize(
    log: Any,
    taxonomy: Taxonomy,
    *,
    k: int = 3,
    levels: int = 5,
    cleaning: Cleaning | None = _AS_DECLARED,
    seed: int | None = None,
    **options: Any,
) -> LogRelease:
    """Protect a query log: every user shares her released log with at least ``k - 1`` others.

    First the log is cleaned (queries with identifiers or of a single user go), then users with
    similar interests get one common log [erola2011]_. User identifiers are replaced by numbers in
    random order. Times and clicked addresses are left out unless `cleaning` keeps them, no finer
    than days and hosts: exact ones would tell which lines of a common log belong together.

    Parameters
    ----------
    log
        A log from `read`, or a frame with the columns ``user`` and ``query``.
    taxonomy
        Says which categories terms belong to.
    k
        Smallest number of users who share a log.
    levels
        Deepest level of categories that counts.
    cleaning
        What is removed first; None removes nothing, as in the paper.
    seed
        Secret number that makes the release repeatable; by default drawn and kept in the dossier.
    options
        Further parameters of `SemanticMicroaggregation`.

    Raises
    ------
    ProtectionError
        If fewer than ``k`` users are left; nothing is released.

    Examples
    --------
    >>> import tacit
    >>> from tacit import logs
    >>> release = logs.anonymize(
    ...     tacit.datasets.query_log(60), logs.demonstration(), k=3, levels=5, seed=7
    ... )
    >>> logs.user_k_anonymity(release.frame).value >= 3
    True
    """
    original = QueryLog.of(log)
    method = SemanticMicroaggregation(k=k, levels=levels, **options)
    if not isinstance(taxonomy, Taxonomy):
        raise ParameterError("a taxonomy is needed", got=type(taxonomy).__name__)
    if cleaning is not None:
        _check(cleaning)
    seed = fresh_seed() if seed is None else _checked_seed(seed)
    started = time.perf_counter()
    cleaned = _cleaned(original, cleaning, taxonomy)
    seconds = {"cleaning": time.perf_counter() - started}
    _check_left(cleaned, k)
    grouped = method.group(cleaned.log, taxonomy, step_generator(seed, 0))
    seconds |= grouped.seconds
    pseudonyms = step_generator(seed, 1).permutation(cleaned.log.n_users) + 1
    release = LogRelease(
        original, cleaned, cleaning, method, taxonomy, grouped.groups, grouped.lines,
        pseudonyms, grouped.shares, seed, seconds,
    )  # fmt: skip
    if not len(grouped.lines):
        raise ProtectionError("no query is left to release", do="lower k or min_users, or use fill")
    return release


def _check(cleaning: Cleaning) -> None:
    if cleaning.time not in _COARSE_ENOUGH or cleaning.url == "keep":
        raise ProtectionError(
            "exact times or addresses would tell which lines of a common log belong together",
            got=f"time = {cleaning.time!r}, url = {cleaning.url!r}",
            do='use time="day" or coarser, and url="domain" or "host"',
        )


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("seed must be a whole number, 0 or above", got=repr(seed))
    return int(seed)


def _check_left(cleaned: Cleaned, k: int) -> None:
    """Say that cleaning is to blame where it leaves fewer than k users."""
    left = cleaned.log.n_users
    if left < k <= left + cleaned.n_users_lost:
        raise ProtectionError(
            f"k = {k} needs at least {k} users with queries, and cleaning leaves fewer",
            got=f"{left} of {left + cleaned.n_users_lost}",
            do="lower k or min_users, or add users",
        )


def _cleaned(log: QueryLog, cleaning: Cleaning | None, taxonomy: Taxonomy) -> Cleaned:
    if cleaning is not None:
        return clean(log, cleaning, taxonomy)
    import polars as pl

    return Cleaned(log.with_details(pl.DataFrame()), {}, 0)


def random_groups(n_users: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return groups of at least `k` users put together at random, the yardstick of the others."""
    groups = np.empty(n_users, dtype=np.int64)
    groups[rng.permutation(n_users)] = np.minimum(np.arange(n_users) // k, n_users // k - 1)
    return groups

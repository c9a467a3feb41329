"""An intruder who knows some queries of a user and looks for her log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import ParameterError
from tacit.core.measurement import Measurement
from tacit.core.progress import track
from tacit.logs.query_log import QueryLog
from tacit.logs.release import LogRelease

_TARGETS_AT_ONCE = 64
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Hits:
    """What the intruder reached against each target."""

    probability: np.ndarray
    """Probability of picking the target's own log."""
    candidates: np.ndarray
    """Number of logs that fit best."""
    true_lines: np.ndarray
    """Share of the lines of the picked logs that the target asked herself."""


def link_by_known_queries(known: Any, own: Any, released: Any, truth: np.ndarray) -> Hits:
    """Look for the log that holds most of the known queries; rare queries weigh more.

    The intruder picks one of the best logs at random. Without any hit all logs fit equally.

    Parameters
    ----------
    known
        Which queries (columns) are known of each target (row), sparse.
    own
        How often each target asked each query, sparse.
    released
        How often each released log holds each query, sparse; one row per released user.
    truth
        Row of each target in `released`; -1 if she is not there.
    """
    present = released.copy().tocsr()
    present.data = np.ones(len(present.data))
    n_logs = present.shape[0]
    weight = np.log1p(n_logs / np.maximum(present.sum(axis=0), 1.0))
    weighted = (present.multiply(weight[None, :])).tocsr().T.tocsr()
    own = own.tocsr().copy()
    own.data = np.ones(len(own.data))
    parts = []
    with track("looking for known users", known.shape[0]) as advance:
        for start in range(0, known.shape[0], _TARGETS_AT_ONCE):
            rows = slice(start, start + _TARGETS_AT_ONCE)
            scores = (known[rows] @ weighted).toarray()
            shared = (own[rows] @ released.T).toarray()
            parts.append(_picked(scores, shared, released, truth[rows]))
            advance(len(scores))
    if not parts:
        return Hits(np.empty(0), np.empty(0), np.empty(0))
    return Hits(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _picked(
    scores: np.ndarray, shared: np.ndarray, released: Any, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    best = scores.max(axis=1, keepdims=True)
    fits = scores >= best - _TIE * np.maximum(best, 1.0)
    n_fits = fits.sum(axis=1)
    there = truth >= 0
    hit = fits[np.arange(len(truth)), np.maximum(truth, 0)] & there
    lengths = np.maximum(np.asarray(released.sum(axis=1)).ravel(), 1)
    true_share = (fits * (shared / lengths[None, :])).sum(axis=1) / n_fits
    return hit / n_fits, n_fits, true_share


def known_queries_risk(
    release: LogRelease, *, known: int = 3, targets: int = 1000, seed: int = 0
) -> Measurement:
    """Return how surely an intruder who knows some queries of a user finds her released log.

    For each of some users, drawn at random, the intruder knows a few of her distinct queries and
    picks the released log that fits them best. The value is the mean probability of picking her
    own. The same attack on the original log with new numbers for users stands beside it. In a
    release no target's probability can exceed 1/k, because ``k`` users have the same log.

    Parameters
    ----------
    release
        What `tacit.logs.anonymize` returned.
    known
        How many distinct queries of each target are known (fewer if she asked fewer).
    targets
        How many users are attacked.
    seed
        Draws targets and known queries.
    """
    group = release.group_of_original
    has_log = (group >= 0) & (release.lines_per_group > 0)[np.maximum(group, 0)]
    place = np.where(has_log, np.cumsum(has_log) - 1, -1)
    released = release.group_counts()[group[has_log]]
    attacked = _Attack(known, targets, seed, release.method.k)
    return attacked.on(release.original, released, place)


def attack_released_frame(
    original: QueryLog,
    released: Any,
    truth: Any,
    *,
    k: int,
    known: int = 3,
    targets: int = 1000,
    seed: int = 0,
) -> Measurement:
    """Run the same attack on a released file, whatever it says about itself.

    Parameters
    ----------
    original
        The original log.
    released
        A Polars frame of the released lines with the columns ``user`` and ``query``.
    truth
        A Polars frame with ``user`` (original identifier) and ``pseudonym``.
    k
        What was promised.
    known, targets, seed
        As in `known_queries_risk`.
    """
    import polars as pl
    from scipy.sparse import coo_array

    log = QueryLog.of(released.select("user", "query"))
    codes = _codes(log.queries, original.queries)
    inside = codes[log.query] >= 0
    shape = (log.n_users, len(original.queries))
    ones = np.ones(int(inside.sum()), dtype=np.int32)
    counts = coo_array((ones, (log.user[inside], codes[log.query[inside]])), shape=shape).tocsr()
    names = truth.select("user", pseudonym=pl.col("pseudonym").cast(pl.String))
    pseudonym = pl.DataFrame({"user": original.users.rename("user")}).join(
        names, on="user", how="left", maintain_order="left"
    )["pseudonym"]
    return _Attack(known, targets, seed, k).on(original, counts, _codes(pseudonym, log.users))


def _codes(wanted: Any, labels: Any) -> np.ndarray:
    """Return the place of each label, or -1."""
    import polars as pl

    place = pl.DataFrame({"label": labels.rename("label")}).with_row_index("code")
    found = pl.DataFrame({"label": wanted.rename("label")}).join(
        place, on="label", how="left", maintain_order="left"
    )
    return np.asarray(found["code"].cast(pl.Int64).fill_null(-1).to_numpy())


@dataclass(frozen=True)
class _Attack:
    """An attack with all its numbers."""

    known: int
    targets: int
    seed: int
    k: int

    def __post_init__(self) -> None:
        for name in ("known", "targets"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"{name} must be a whole number, 1 or above", got=repr(value))

    def on(self, original: QueryLog, released: Any, place: np.ndarray) -> Measurement:
        """Attack the original log and the released one with the same knowledge."""
        rng = np.random.default_rng(self.seed)
        chosen = np.sort(rng.permutation(original.n_users)[: self.targets])
        counts = original.counts()
        facts = drawn_queries(original, chosen, self.known, rng)
        before = link_by_known_queries(facts, counts[chosen], counts, chosen)
        after = link_by_known_queries(facts, counts[chosen], released, place[chosen])
        return _measurement(self.k, self.known, before, after)


def drawn_queries(log: QueryLog, targets: np.ndarray, known: int, rng: np.random.Generator) -> Any:
    """Draw the distinct queries that an intruder knows of each target, as a sparse matrix."""
    from scipy.sparse import coo_array

    own = log.counts()[targets].tocoo()
    order = np.lexsort((rng.random(len(own.row)), own.row))
    row, column = own.row[order], own.col[order]
    sizes = np.bincount(row, minlength=len(targets))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = rank < known
    shape = (len(targets), len(log.queries))
    return coo_array((np.ones(int(kept.sum())), (row[kept], column[kept])), shape=shape).tocsr()


def _measurement(k: int, known: int, before: Hits, after: Hits) -> Measurement:
    worst = float(after.probability.max(initial=0.0))
    return Measurement(
        key="known-queries",
        title=f"Users found by {known} known queries",
        value=float(after.probability.mean()) if len(after.probability) else float("nan"),
        better="lower",
        bounds=(0.0, 1.0),
        unit="percent",
        units="original",
        details={
            "targets": len(after.probability),
            "known_queries": known,
            "after": float(after.probability.mean()) if len(after.probability) else None,
            "original": float(before.probability.mean()) if len(before.probability) else None,
            "largest_probability": worst,
            "bound": 1 / k,
            "found_for_sure_in_original": float(np.mean(before.probability == 1.0)),
            "found_for_sure": float(np.mean(after.probability == 1.0)),
            "own_lines_in_picked_log_original": float(before.true_lines.mean()),
            "own_lines_in_picked_log": float(after.true_lines.mean()),
        },
        explanation=f"Mean probability that an intruder who knows {known} queries of a user picks "
        f"her log; at most 1/{k} for anyone.",
        warnings=(f"a target is found with probability {worst:.3g}, above 1/{k}",)
        if worst > 1 / k + _TIE
        else (),
    )

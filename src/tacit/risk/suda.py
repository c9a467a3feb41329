"""SUDA: special uniques, records that few keys suffice to single out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.keys import MISSING_CODE, Missing, frequencies, group_ids
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.progress import track
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._sampled_keys import Fraction, SampledKeys, sampled_keys

_MOST_KEYS = 62
"""A set of keys is held in the bits of one integer."""
_MOST_SETS = 100_000
"""Sets of keys looked at where missing values match everything, before it is refused."""
_USUAL_FRACTION = 0.01
"""Sampling fraction of the intrusion simulation where nothing is known."""
_N_WORST = 10


class Suda(
    Risk,
    key="suda",
    title="Special uniques (SUDA2)",
    cites=("elliot2002", "manning2008", "skinner2002"),
    example={"keys": ["region", "sex", "age", "marital"], "max_size": 3},
):
    r"""Score records by how few of their keys already make them unique in the file.

    Missing values: ``"strict"`` takes a missing value for a value of its own, which can make a
    record unique; ``"wildcard"`` lets it match any value, so that it neither singles a record out
    nor lets others be unique against it. Weights: give the sampling fraction of the intrusion
    simulation only. Households: not considered; records are scored one by one.

    Notes
    -----
    A minimal sample unique (MSU) of a record is a set of keys on which it is alone while it is not
    alone on any part of that set. With :math:`m` keys and MSUs of at most :math:`M` keys
    [elliot2002]_, [manning2008]_, an MSU of :math:`s` keys scores

    .. math:: \prod_{i=s}^{\min(M, m-1)} (m - i),

    and the score of a record is the sum over its MSUs. The DIS-SUDA score turns it into a
    probability: the chance that a unique match is correct, estimated by intrusion simulation
    [skinner2002]_ from :math:`n_1` uniques, :math:`n_2` pairs and the sampling fraction
    :math:`\pi` as

    .. math:: \theta = \frac{\pi n_1}{\pi n_1 + 2 (1 - \pi) n_2},

    is shared among the uniques in proportion to their scores, so that its mean over them is
    :math:`\theta` and none exceeds 1. The value is the mean over all records.

    Deviation: published programs also divide the scores by constants; such scales do not change
    the order of the records, and the DIS-SUDA score here is bounded by 1.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> found = risk.Suda(score="suda").measure(tacit.datasets.patients())
    >>> found.per_unit.tolist(), found.details["contribution"]
    ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0], {'Age': 0.667, 'State': 0.333})
    """

    default: ClassVar[bool] = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    max_size: Annotated[int, Ge(1)] | None = None
    """Largest number of keys in a minimal sample unique; by default all keys."""
    score: Literal["dis", "suda"] = "dis"
    """What each record gets: the DIS-SUDA probability, or the bare SUDA score."""
    sampling_fraction: Fraction | None = None
    """Share of the population in the file; by default from the weights, or else 0.01."""
    missing: Missing = "strict"
    """How a missing value compares: only with another missing one, or with any value."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean score of the records of the release, or of the original alone."""
        from tacit.risk._frequency_models import intrusion_probability

        keys = sampled_keys(original, release, self.keys, self.sampling_fraction, by=self.key)
        n_keys = len(keys.names)
        largest = n_keys if self.max_size is None else min(self.max_size, n_keys)
        found = minimal_sample_uniques(keys.codes, largest, missing=self.missing)
        scored = _Scored.of(found, keys, largest)
        fraction = keys.fraction if keys.is_sample else _USUAL_FRACTION
        in_file = frequencies(keys.codes, missing=self.missing)
        theta = intrusion_probability(in_file, fraction)
        dis = shared_probability(scored.scores, theta * float(np.sum(in_file == 1)))
        per_record = dis if self.score == "dis" else scored.scores
        return Measurement(
            key=self.key,
            title=self.title,
            value=float(per_record.mean()),
            better="lower",
            bounds=(0.0, 1.0 if self.score == "dis" else _largest_score(n_keys, largest)),
            unit="percent" if self.score == "dis" else "number",
            per_unit=per_record,
            details=scored.details(dis)
            | {"max_size": largest, "sampling_fraction": fraction, "intrusion": theta}
            | {"missing": self.missing, "keys_removed": keys.removed},
            explanation=scored.explanation(theta),
            warnings=keys.warnings[:1] if keys.removed else (),
        )


@dataclass(frozen=True)
class MinimalUniques:
    """Minimal sample uniques: which record, which set of keys (bit j stands for key j)."""

    records: np.ndarray
    sets: np.ndarray

    def has(self, key: int) -> np.ndarray:
        """Say which sets contain a key."""
        return np.asarray(self.sets >> key & 1, dtype=bool)

    @property
    def sizes(self) -> np.ndarray:
        """Number of keys of each set."""
        return np.asarray(np.bitwise_count(self.sets), dtype=np.int64)


def minimal_sample_uniques(
    codes: np.ndarray, max_size: int, *, missing: Missing = "strict"
) -> MinimalUniques:
    """Find all minimal sample uniques of at most `max_size` keys.

    Examples
    --------
    >>> found = minimal_sample_uniques(np.array([[0, 0], [0, 1], [1, 1], [1, 0], [2, 0]]), 2)
    >>> sorted(zip(found.records.tolist(), found.sets.tolist()))
    [(0, 3), (1, 3), (2, 3), (3, 3), (4, 1)]
    """
    n_keys = codes.shape[1]
    if n_keys > _MOST_KEYS:
        raise DataError(
            f"suda takes at most {_MOST_KEYS} keys", got=n_keys, do="name the likeliest ones"
        )
    if n_keys == 0 or max_size == 0:
        return MinimalUniques(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    if missing == "wildcard" and (codes == MISSING_CODE).any():
        return _wildcard_uniques(codes, max_size)
    return _strict_uniques(codes, max_size)


def _strict_uniques(codes: np.ndarray, max_size: int) -> MinimalUniques:
    """Search the distinct records only: there are usually far fewer of them."""
    from tacit.core._keys_kernel import first_rows
    from tacit.risk import _suda_kernel as kernel

    ids, n_classes = group_ids(codes)
    first = first_rows(ids, n_classes)
    is_single = np.bincount(ids, minlength=n_classes) == 1
    distinct = codes[first]
    # Keys with many values split groups fastest: they come last, where most sets begin.
    order = np.argsort(distinct.max(axis=0), kind="stable")
    columns = np.ascontiguousarray(distinct[:, order].T)
    rows, sets = kernel.minimal_uniques(columns, is_single, max_size)
    renamed = np.zeros_like(sets)
    for bit, key in enumerate(order):
        renamed |= (sets >> bit & 1) << int(key)
    return MinimalUniques(first[rows], renamed)


def _wildcard_uniques(codes: np.ndarray, max_size: int) -> MinimalUniques:
    """Look at every set of keys, smaller ones first; a missing value matches everything."""
    from tacit.risk import _suda_kernel as kernel

    n_keys = codes.shape[1]
    n_sets = sum(comb(n_keys, size) for size in range(1, max_size + 1))
    if n_sets > _MOST_SETS:
        raise DataError(
            "too many sets of keys to search with missing values as wildcards",
            got=f"{n_sets:,}",
            do="lower max_size, name fewer keys, or set missing to strict",
        )
    records, sets = [], []
    with track("special uniques", n_sets) as advance:
        for size in range(1, max_size + 1):
            for chosen in combinations(range(n_keys), size):
                part = codes[:, chosen]
                is_known = np.all(part != MISSING_CODE, axis=1)
                alone = np.flatnonzero((frequencies(part, missing="wildcard") == 1) & is_known)
                records.append(alone)
                sets.append(np.full(len(alone), sum(1 << key for key in chosen), dtype=np.int64))
                advance(1)
    owner, all_sets = np.concatenate(records), np.concatenate(sets)
    kept = kernel.keep_minimal(owner, all_sets, len(codes))
    return MinimalUniques(owner[kept], all_sets[kept])


def _set_score(n_keys: int, size: int, max_size: int) -> float:
    """Score of one minimal sample unique (elliot2002)."""
    return float(prod(n_keys - i for i in range(size, min(max_size, n_keys - 1) + 1)))


def _largest_score(n_keys: int, max_size: int) -> float:
    """Score of a record that is alone on as many incomparable sets as there can be."""
    scores = [comb(n_keys, s) * _set_score(n_keys, s, max_size) for s in range(1, max_size + 1)]
    return max(scores, default=0.0)


def shared_probability(scores: np.ndarray, total: float) -> np.ndarray:
    """Share a sum of probabilities in proportion to scores, none above 1.

    Examples
    --------
    >>> shared_probability(np.array([0.0, 1.0, 3.0, 8.0]), 2.0).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    shares = np.zeros(len(scores))
    scored = np.flatnonzero(scores > 0)
    if total >= len(scored):
        shares[scored] = 1.0
        return shares
    descending = scored[np.argsort(-scores[scored], kind="stable")]
    ordered = scores[descending]
    rest = np.cumsum(ordered[::-1])[::-1]
    left = total - np.arange(len(ordered))
    # the first record whose share, once all larger ones have been cut to 1, is no longer above 1
    n_cut = int(np.argmax(left * ordered <= rest))
    shares[descending[:n_cut]] = 1.0
    shares[descending[n_cut:]] = left[n_cut] * ordered[n_cut:] / rest[n_cut]
    return shares


@dataclass(frozen=True)
class _Scored:
    """Minimal sample uniques with their scores, per set and per record."""

    found: MinimalUniques
    names: list[str]
    set_scores: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, found: MinimalUniques, keys: SampledKeys, max_size: int) -> _Scored:
        n_keys = len(keys.names)
        by_size = np.array([_set_score(n_keys, size, max_size) for size in range(n_keys + 1)])
        set_scores = by_size[found.sizes]
        scores = np.bincount(found.records, weights=set_scores, minlength=keys.n_records)
        return cls(found, keys.names, set_scores, scores)

    def details(self, dis: np.ndarray) -> dict[str, Any]:
        sizes, total = self.found.sizes, float(self.set_scores.sum())
        worst = np.argsort(-self.scores, kind="stable")[:_N_WORST]
        return {
            "keys": self.names,
            "records": len(self.scores),
            "special_uniques": int(np.sum(self.scores > 0)),
            "minimal_uniques": {
                str(size): int(n) for size, n in enumerate(np.bincount(sizes)) if n
            },
            "contribution": {
                name: round(float(self.set_scores[self.found.has(j)].sum()) / (total or 1.0), 3)
                for j, name in enumerate(self.names)
            },
            "mean_dis": float(dis.mean()),
            "worst": [self._case(i, dis) for i in worst if self.scores[i] > 0],
        }

    def _case(self, record: int, dis: np.ndarray) -> dict[str, Any]:
        sets = np.sort(self.found.sets[self.found.records == record])
        smallest = sets[np.argsort(np.bitwise_count(sets), kind="stable")][:_N_WORST]
        return {
            "record": int(record),
            "score": float(self.scores[record]),
            "dis": float(dis[record]),
            "unique_on": [
                [name for j, name in enumerate(self.names) if keys >> j & 1] for keys in smallest
            ],
        }

    def explanation(self, theta: float) -> str:
        n, n_special = len(self.scores), int(np.sum(self.scores > 0))
        if n_special == 0:
            return f"None of the {n:,} records is alone on any set of the keys looked at."
        shares = {
            name: self.set_scores[self.found.has(j)].sum() for j, name in enumerate(self.names)
        }
        most = max(shares, key=lambda name: shares[name])
        fewest = int(self.found.sizes.min())
        return (
            f"{n_special:,} of {n:,} records are alone on some set of keys, {fewest} "
            f"key{'s' if fewest > 1 else ''} being enough for the worst. {most} has the largest "
            f"part in it. A unique match is estimated to be correct with probability {theta:.3g}."
        )

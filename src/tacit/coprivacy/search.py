"""Anonymous keyword search among peers who submit one another's queries (COP, Section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tacit.coprivacy.queries import Queries
from tacit.core.errors import ParameterError, nearest
from tacit.core.progress import track

Behaviour = Literal["rational", "defector", "altruist", "solitary"]
BEHAVIOURS: tuple[Behaviour, ...] = ("rational", "defector", "altruist", "solitary")
_POINTS = 100
"""Moments at which the mean entropy is kept."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What the database, the peers and the searchers got to know."""

    queries: Queries
    """The queries."""
    behaviour: np.ndarray
    """For each peer how she behaved, as a position in `BEHAVIOURS`."""
    submitted_by: np.ndarray
    """For each query the peer who submitted it."""
    asked: np.ndarray
    """For each query how many peers were asked."""
    is_nash: np.ndarray
    """For each query whether it was a coprivate exchange: an equilibrium between both peers."""
    entropy: np.ndarray
    """For each peer the entropy H(Y) of what she submitted."""
    forward_entropy: np.ndarray
    """For each peer and keyword that was forwarded, the entropy H(F) of the peers asked."""
    history: np.ndarray
    """Mean entropy of the peers as time passes."""
    _submitted: tuple[np.ndarray, np.ndarray]
    _confided: tuple[np.ndarray, np.ndarray]

    @cached_property
    def direct_entropy(self) -> np.ndarray:
        """For each peer the entropy of her own queries, had she submitted them all herself."""
        keys, counts, _ = self.queries.interests
        return _entropy_by(keys // self.queries.n_keywords, counts, self.queries.n_peers)

    @property
    def gain(self) -> np.ndarray:
        """For each peer the entropy gained against direct submission."""
        gained: np.ndarray = self.entropy - self.direct_entropy
        return gained

    @cached_property
    def own_share(self) -> np.ndarray:
        """For each peer the share of her queries that the database got from herself."""
        own = self.submitted_by == self.queries.peer
        n_direct = np.bincount(self.queries.peer[own], minlength=self.queries.n_peers)
        return _ratio(n_direct, self.queries.n_own)

    @cached_property
    def similarity(self) -> np.ndarray:
        """For each peer the cosine of her interests and what the database saw her submit.

        1 is what direct submission gives: the profile of the database is the true one.
        """
        true_keys, true_counts, _ = self.queries.interests
        keys, counts = self._submitted
        position = np.minimum(np.searchsorted(keys, true_keys), len(keys) - 1)
        seen = np.where(keys[position] == true_keys, counts[position], 0)
        n, width = self.queries.n_peers, self.queries.n_keywords
        product = np.bincount(true_keys // width, true_counts * seen, n)
        norms = np.bincount(true_keys // width, true_counts.astype(float) ** 2, n) * np.bincount(
            keys // width, counts.astype(float) ** 2, n
        )
        return _ratio(product, np.sqrt(norms))

    @cached_property
    def confidant_share(self) -> np.ndarray:
        """For each peer the largest share of her queries that any one other peer was shown."""
        keys, counts = self._confided
        most = np.zeros(self.queries.n_peers)
        np.maximum.at(most, keys // self.queries.n_peers, counts)
        return _ratio(most, self.queries.n_own)

    @property
    def coprivate_share(self) -> float:
        """Share of all queries that were coprivate exchanges."""
        return float(self.is_nash.mean())

    @property
    def nash_fraction(self) -> float:
        """Share of coprivate exchanges among the queries that their owners wanted forwarded."""
        wanted = self.asked > 0
        return float(self.is_nash[wanted].mean()) if wanted.any() else float("nan")

    def of(self, behaviour: Behaviour) -> np.ndarray:
        """Mark the peers who behaved in some way."""
        marked: np.ndarray = self.behaviour == _code(behaviour)
        return marked

    def summary(self) -> dict[str, float]:
        """Return the measures as plain numbers."""
        seen = self.queries.n_own > 0
        return {
            "peers": self.queries.n_peers,
            "queries": len(self.queries),
            "mean entropy, direct": float(self.direct_entropy[seen].mean()),
            "mean entropy, exchange": float(self.entropy[seen].mean()),
            "smallest gain of a peer": float(self.gain[seen].min()),
            "peers who gain": float((self.gain[seen] > 0).mean()),
            "queries forwarded": float((self.asked > 0).mean()),
            "coprivate exchanges": self.coprivate_share,
            "coprivate among forwarded": self.nash_fraction,
            "own queries seen from herself": float(self.own_share[seen].mean()),
            "similarity of profiles": float(self.similarity[seen].mean()),
            "shown to one peer, at most": float(self.confidant_share[seen].max()),
        }

    def __str__(self) -> str:
        return "\n".join(f"{name:<30} {value:.4g}" for name, value in self.summary().items())


def simulate_search(
    queries: Queries,
    *,
    behaviour: Mapping[Behaviour, float] | Sequence[Behaviour] | None = None,
    attempts: int = 5,
    seed: int | None = None,
) -> SearchResult:
    r"""Let peers submit their queries, or one another's, by the decision rules of the paper.

    Parameters
    ----------
    queries
        Who asks for what, in time order.
    behaviour
        How each peer behaves, or shares of the peers such as ``{"defector": 0.2}``, drawn at
        random; the others are rational. ``rational`` follows the rules; ``defector`` asks and never
        helps; ``altruist`` always helps; ``solitary`` neither asks nor helps.
    attempts
        How many peers are asked before a peer submits her query herself.
    seed
        Makes the simulation repeatable.

    Notes
    -----
    A peer i with a query x submits it herself if that does not lower :math:`H(Y^i)`; otherwise she
    asks the peer k for whom :math:`H(F^i(x))` becomes largest, which is one to whom x was forwarded
    least often, ties at random. Peer k submits x if and only if that raises :math:`H(Y^k)`;
    otherwise the next one is asked [domingoferrer2011]_. A peer who refuses has seen the query and
    counts in F. Weights: none; missing values: refused by `Queries`.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> result = coprivacy.simulate_search(coprivacy.draw_queries(200, seed=1), seed=1)
    >>> bool((result.gain > 0).all())
    True
    """
    if isinstance(attempts, bool) or not isinstance(attempts, int | np.integer) or attempts < 1:
        raise ParameterError("attempts must be a whole number above 0", got=repr(attempts))
    rng = np.random.default_rng(seed)
    codes = _behaviours(behaviour, queries.n_peers, rng)
    return _result(queries, codes, _run(queries, codes, int(attempts), rng))


def _run(queries: Queries, codes: np.ndarray, attempts: int, rng: np.random.Generator) -> Any:
    from tacit.coprivacy._search_kernel import simulate

    keys, _, pairs = queries.interests
    y_size = 1 << int(np.ceil(np.log2(2 * len(queries) + 2)))
    every = max(len(queries) // _POINTS, 1)
    with track("searching", len(queries)) as advance:
        state = simulate(
            queries.peer, queries.keyword, pairs, len(keys), queries.n_keywords, codes, attempts,
            y_size, every, rng,
        )  # fmt: skip
        advance(len(queries))
    return state


def _result(queries: Queries, codes: np.ndarray, state: Any) -> SearchResult:
    submitted_by, asked, is_nash, entropy, y_table, f_table, history = state
    f_keys, f_counts, f_n, f_S = f_table
    was_forwarded = f_n > 0
    n = f_n[was_forwarded]
    forward_entropy = np.maximum(np.log2(n) - f_S[was_forwarded] / n, 0.0)
    used = f_keys >= 0
    pair, other = np.divmod(f_keys[used], queries.n_peers)
    owner = queries.interests[0][pair] // queries.n_keywords
    confided, where = np.unique(owner * queries.n_peers + other, return_inverse=True)
    shown = np.bincount(where, f_counts[used], len(confided))
    return SearchResult(
        queries, codes, submitted_by, asked, is_nash, entropy, forward_entropy, history,
        _sorted(*y_table), (confided, shown),
    )  # fmt: skip


def _sorted(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    used = np.flatnonzero(keys >= 0)
    order = used[np.argsort(keys[used])]
    return keys[order], counts[order]


def _behaviours(
    given: Mapping[Behaviour, float] | Sequence[Behaviour] | None,
    n_peers: int,
    rng: np.random.Generator,
) -> np.ndarray:
    codes = np.zeros(n_peers, dtype=np.int8)
    if given is None:
        return codes
    if isinstance(given, Mapping):
        return _shared_out(given, codes, rng)
    if len(given) != n_peers:
        raise ParameterError("every peer needs one behaviour", got=f"{len(given)} for {n_peers}")
    return np.array([_code(name) for name in given], dtype=np.int8)


def _shared_out(
    shares: Mapping[Behaviour, float], codes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    wanted = {name: float(share) for name, share in shares.items()}
    if any(not 0 <= s <= 1 for s in wanted.values()) or sum(wanted.values()) > 1 + 1e-9:
        raise ParameterError("shares of behaviour must be from 0 to 1, together at most 1",
                             got=wanted)  # fmt: skip
    order, start = rng.permutation(len(codes)), 0
    for name, share in wanted.items():
        stop = start + round(share * len(codes))
        codes[order[start:stop]] = _code(name)
        start = stop
    return codes


def _code(name: Behaviour) -> int:
    if name not in BEHAVIOURS:
        raise ParameterError(f"no behaviour {name!r}", do=nearest(str(name), BEHAVIOURS))
    return BEHAVIOURS.index(name)


def _entropy_by(group: np.ndarray, counts: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the entropy of counts within each group; of an empty group 0."""
    total = np.bincount(group, counts, n_groups)
    c_log_c = np.bincount(group, counts * np.log2(counts), n_groups)
    safe = np.where(total > 0, total, 1.0)
    found: np.ndarray = np.maximum(np.log2(safe) - c_log_c / safe, 0.0)
    return found


def _ratio(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    ratio: np.ndarray = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)
    return ratio

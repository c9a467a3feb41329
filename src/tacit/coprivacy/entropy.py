"""Entropy as privacy, and the decisions of peers who want it large (Section 4 of the paper)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from tacit.coprivacy.game import Game
from tacit.core.errors import DataError, ParameterError

_TOLERANCE = 1e-12
DIRECT, FORWARD = "submit", "forward"
SUBMIT_FOR, IGNORE = "submit for the other", "ignore"


def entropy(counts: np.ndarray) -> np.ndarray | float:
    r"""Return Shannon's entropy in bits of relative frequencies, along the last axis.

    Parameters
    ----------
    counts
        How often each value occurred, 0 or more. Nothing at all has entropy 0.

    Notes
    -----
    :math:`H = -\sum_i p_i \log_2 p_i` [shannon1948]_, at most :math:`\log_2` of the number of
    values.

    Examples
    --------
    >>> float(entropy([1, 1, 1, 1])), float(entropy([3, 0]))
    (2.0, 0.0)
    """
    c = np.asarray(counts, dtype=float)
    if c.size and (not np.isfinite(c).all() or c.min() < 0):
        raise DataError("counts must be finite and 0 or above", do="remove missing values first")
    total = c.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        c_log_c = np.where(c > 0, c * np.log2(np.where(c > 0, c, 1.0)), 0.0).sum(axis=-1)
        found = np.where(total > 0, np.log2(total) - c_log_c / total, 0.0)
    clipped: np.ndarray = np.maximum(found, 0.0)
    return clipped if clipped.ndim else float(clipped)


Counts = Mapping[Any, int]
"""How often each query (or peer) occurred."""


def change(counts: Counts, query: Hashable) -> float:
    """Return how much the entropy of some queries rises when one more is added."""
    before = np.array(list(counts.values()), dtype=float)
    added = {**counts, query: counts.get(query, 0) + 1}
    after = np.array(list(added.values()), dtype=float)
    return float(entropy(after)) - float(entropy(before))


def submits_directly(submitted: Counts, query: Hashable) -> bool:
    """Tell whether a peer submits her query herself: her entropy towards the database stays.

    Parameters
    ----------
    submitted
        What she has submitted so far, :math:`Y^i(t)`.
    query
        Her new query.
    """
    return change(submitted, query) >= -_TOLERANCE


def best_helpers(forwarded: Mapping[str, int]) -> list[str]:
    """Return the peers to ask: those after whom the entropy of the peers asked is largest.

    Parameters
    ----------
    forwarded
        For every other peer, how often this query was forwarded to that peer, zeros included.
    """
    if not forwarded:
        raise ParameterError("there is nobody to ask", got="no peer")
    # Eq. (2) of domingoferrer2011
    worth = {peer: change(forwarded, peer) for peer in forwarded}
    best = max(worth.values())
    return [peer for peer, gain in worth.items() if gain >= best - _TOLERANCE]


def helps(submitted: Counts, query: Hashable) -> bool:
    """Tell whether a peer submits another's query: only if that raises her own entropy.

    Parameters
    ----------
    submitted
        What the peer who is asked has submitted so far, :math:`Y^k(t)`.
    query
        The query of the other.
    """
    return change(submitted, query) > _TOLERANCE


def exchange_game(requester: Counts, helper: Counts, query: Hashable) -> Game:
    r"""Build the game between a peer with a query and the peer she might ask.

    Parameters
    ----------
    requester, helper
        What both have submitted so far.
    query
        The requester's query.

    Notes
    -----
    Utilities are the entropies :math:`H(Y)` afterwards. A requester whose query is ignored submits
    it herself in the end. (forward, submit for the other) is an equilibrium if and only if direct
    submission does not raise her entropy and helping does not lower the helper's; the decision
    rules of the paper ask for strict changes, so that each of their exchanges is an equilibrium.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> game = coprivacy.exchange_game({"flu": 3, "rash": 1}, {"chess": 2}, "flu")
    >>> coprivacy.coprivacy(game).holds
    True
    """
    h1 = float(entropy(np.array(list(requester.values()), dtype=float)))
    h2 = float(entropy(np.array(list(helper.values()), dtype=float)))
    alone, helping = h1 + change(requester, query), h2 + change(helper, query)
    payoffs = [[[alone, alone], [h1, alone]], [[h2, h2], [helping, h2]]]
    players = ("requester", "helper")
    together = [{"requester": FORWARD, "helper": SUBMIT_FOR}]
    names = [[DIRECT, FORWARD], [SUBMIT_FOR, IGNORE]]
    return Game(payoffs, players=players, strategies=names, together=together)

# mypy: ignore-errors
"""The agent simulation of anonymous keyword search: one pass over the queries in time order.

Symbols (Section 4 of domingoferrer2011): N peers, M keywords; Y queries submitted by a peer, with n
their number and S the sum of c log2 c over their counts c, so that H(Y) = log2 n - S / n; F the
peers to whom a query was forwarded. A pair is a peer with one of the keywords she asks for. Counts
are kept in open hash tables: what N x M counters would hold in gigabytes is mostly zero.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compiled import njit

RATIONAL, DEFECTOR, ALTRUIST, SOLITARY = 0, 1, 2, 3
TOLERANCE = 1e-12
_FREE = -1


@njit(cache=True, nogil=True)
def _slot(keys, key):
    """Return where a key is, or the free slot where it belongs; the size is a power of two."""
    mask = len(keys) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    position = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
    while keys[position] != _FREE and keys[position] != key:
        position = (position + 1) & mask
    return position


@njit(cache=True, nogil=True)
def _grown(keys, counts):
    """Return a table of twice the size with the same content."""
    new_keys = np.full(2 * len(keys), _FREE, dtype=np.int64)
    new_counts = np.zeros(2 * len(keys), dtype=np.int32)
    for position in range(len(keys)):
        if keys[position] != _FREE:
            slot = _slot(new_keys, keys[position])
            new_keys[slot] = keys[position]
            new_counts[slot] = counts[position]
    return new_keys, new_counts


@njit(cache=True, nogil=True)
def _c_log_c(c):
    return c * np.log2(c) if c > 0 else 0.0


@njit(cache=True, nogil=True)
def _added(n, S, c):
    """Return S after one more query of count c, and the entropy then."""
    S = S - _c_log_c(c) + _c_log_c(c + 1)
    return S, max(np.log2(n + 1.0) - S / (n + 1.0), 0.0)


@njit(cache=True, nogil=True)
def _least_asked(pair, peer, level, n_peers, keys, counts, rng):
    """Draw one of the peers to whom this query was forwarded least often; return peer and slot."""
    while True:
        other = rng.integers(0, n_peers - 1)
        if other >= peer:
            other += 1
        slot = _slot(keys, pair * n_peers + other)
        if keys[slot] == _FREE or counts[slot] == level:
            return other, slot


@njit(cache=True, nogil=True)
def _count(keys, counts, key):
    slot = _slot(keys, key)
    return counts[slot] if keys[slot] != _FREE else 0


@njit(cache=True, nogil=True)
def _would_gain(n, S, H, y_keys, y_counts, peer, key):
    """Tell whether submitting a query raises a peer's entropy."""
    _, after = _added(n[peer], S[peer], _count(y_keys, y_counts, key))
    return after > H[peer] + TOLERANCE


@njit(cache=True, nogil=True)
def _submit(n, S, H, y_keys, y_counts, peer, key):
    """Let a peer submit a query; return the change of her entropy."""
    slot = _slot(y_keys, key)
    y_keys[slot] = key
    S[peer], after = _added(n[peer], S[peer], y_counts[slot])
    y_counts[slot] += 1
    n[peer] += 1
    change = after - H[peer]
    H[peer] = after
    return change


@njit(cache=True, nogil=True)
def simulate(peers, keywords, pairs, n_pairs, n_keywords, behaviour, attempts, y_size, every, rng):
    """Run the protocol; return who submitted each query and the state at the end."""
    n_queries, n_peers = len(peers), len(behaviour)
    n, S, H = np.zeros(n_peers), np.zeros(n_peers), np.zeros(n_peers)
    y_keys, y_counts = np.full(y_size, _FREE, np.int64), np.zeros(y_size, np.int32)
    f_keys, f_counts, f_used = np.full(1024, _FREE, np.int64), np.zeros(1024, np.int32), 0
    f_n, f_S = np.zeros(n_pairs, np.int64), np.zeros(n_pairs)
    submitted_by = np.empty(n_queries, np.int32)
    asked, is_nash = np.zeros(n_queries, np.int32), np.zeros(n_queries, np.bool_)
    history, total = np.zeros(n_queries // every + 1), 0.0
    for t in range(n_queries):
        i, q, pair = np.int64(peers[t]), np.int64(keywords[t]), pairs[t]
        _, after = _added(n[i], S[i], _count(y_keys, y_counts, i * n_keywords + q))
        # Direct submission unless it lowers H(Y); a solitary never forwards.
        forwards = after < H[i] - TOLERANCE and behaviour[i] != SOLITARY and n_peers > 1
        submitter = i
        while forwards and asked[t] < attempts:
            if 2 * f_used > len(f_keys):
                f_keys, f_counts = _grown(f_keys, f_counts)
            level = f_n[pair] // (n_peers - 1)
            # Eq. (2) of domingoferrer2011: H(F) is largest after the peer asked least often.
            k, slot = _least_asked(pair, i, level, n_peers, f_keys, f_counts, rng)
            f_used += f_keys[slot] == _FREE
            f_keys[slot] = pair * n_peers + k
            f_S[pair] += _c_log_c(f_counts[slot] + 1) - _c_log_c(f_counts[slot])
            f_counts[slot] += 1
            f_n[pair] += 1
            asked[t] += 1
            gains = _would_gain(n, S, H, y_keys, y_counts, k, k * n_keywords + q)
            if (gains and behaviour[k] == RATIONAL) or behaviour[k] == ALTRUIST:
                submitter, is_nash[t] = k, gains
                break
        total += _submit(n, S, H, y_keys, y_counts, submitter, submitter * n_keywords + q)
        submitted_by[t] = submitter
        if (t + 1) % every == 0:
            history[(t + 1) // every] = total / n_peers
    return (
        submitted_by,
        asked,
        is_nash,
        H,
        (y_keys, y_counts),
        (f_keys, f_counts, f_n, f_S),
        history,
    )

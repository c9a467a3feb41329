# mypy: ignore-errors
"""Longest known phrases in lists of words."""

import numpy as np

from tacit.core.compiled import njit

MULTIPLIER = np.uint64(6364136223846793005)


@njit(cache=True)
def _position(hashes, wanted):
    """Return where `wanted` is in a sorted array, or -1."""
    place = np.searchsorted(hashes, wanted)
    if place < len(hashes) and hashes[place] == wanted:
        return place
    return -1


@njit(cache=True)
def longest_phrases(words, starts, hashes, terms, longest):
    """Read each query from left to right and take the longest known phrase at each place.

    words: codes of the words of all queries, -1 where unknown; starts: where each query starts;
    hashes: sorted hashes of the known phrases; terms: their codes; longest: words of the longest.
    Returns the query and the term of each phrase found.
    """
    n_queries = len(starts) - 1
    query = np.empty(len(words), dtype=np.int32)
    term = np.empty(len(words), dtype=np.int32)
    n_found = 0
    for q in range(n_queries):
        at = starts[q]
        while at < starts[q + 1]:
            value = np.uint64(0)
            found, length = -1, 1
            for n in range(1, min(longest, starts[q + 1] - at) + 1):
                code = words[at + n - 1]
                if code < 0:
                    break
                value = value * MULTIPLIER + np.uint64(code + 1)
                place = _position(hashes, value)
                if place >= 0:
                    found, length = terms[place], n
            if found >= 0:
                query[n_found], term[n_found] = q, found
                n_found += 1
            at += length
    return query[:n_found], term[:n_found]

"""Groups of users (Algorithms 2 to 4)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tacit.core.errors import ParameterError, ProtectionError
from tacit.logs.partition import blocks, incidence_matrix, partition


def published(counts, k):
    """Algorithms 2 to 4 with the full matrix, and the leftovers as the erratum says."""
    n = len(counts)
    similar = np.minimum(counts[:, None, :], counts[None, :, :]).sum(axis=2)
    free, groups, n_groups = np.ones(n, dtype=bool), np.full(n, -1), 0
    while free.sum() >= k:
        pairs = np.where(free[:, None] & free[None, :], similar, -1)
        np.fill_diagonal(pairs, -1)
        cluster = list(np.unravel_index(np.argmax(pairs), pairs.shape))
        free[cluster] = False
        while len(cluster) < k:
            best = int(np.argmax(np.where(free, similar[cluster].sum(axis=0), -1)))
            cluster.append(best)
            free[best] = False
        groups[cluster] = n_groups
        n_groups += 1
    placed = groups.copy()
    for user in np.flatnonzero(free):
        means = [similar[user, groups == g].mean() for g in range(n_groups)]
        placed[user] = int(np.argmax(means))
    return placed


def profiles(draw):
    n = draw(st.integers(2, 30))
    columns = draw(st.integers(1, 8))
    rate = draw(st.sampled_from([0.05, 0.4, 3.0]))
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).poisson(rate, (n, columns)).astype(np.int32)


@st.composite
def cases(draw):
    counts = profiles(draw)
    return counts, draw(st.integers(2, min(len(counts), 6)))


@settings(max_examples=80)
@given(cases())
def test_greedy_equals_the_published_algorithm(case):
    counts, k = case
    assert partition(csr_array(counts), k, block=100).tolist() == published(counts, k).tolist()


@settings(max_examples=60)
@given(cases(), st.sampled_from(["greedy", "mdav"]), st.booleans())
def test_every_group_has_k_users(case, way, in_blocks):
    counts, k = case
    groups = partition(csr_array(counts), k, way=way, block=2 * k if in_blocks else 100)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.sum() == len(counts)
    if not in_blocks:
        assert sizes.max() < 2 * k


@given(cases())
def test_similarity_is_the_common_part(case):
    counts, _ = case
    matrix = incidence_matrix(csr_array(counts))
    for i, j in [(0, 1), (1, 0), (len(counts) - 1, 0)]:
        assert matrix[i, j] == np.minimum(counts[i], counts[j]).sum()
    assert (matrix == matrix.T).all()


def test_a_worked_example():
    # Users 0 and 2 have 2 + 1 = 3 in common, 1 and 3 have 2; nobody else more than 1.
    counts = np.array([[2, 1, 0], [0, 1, 2], [3, 1, 0], [0, 0, 4]], dtype=np.int32)
    assert incidence_matrix(csr_array(counts))[0].tolist() == [3, 1, 3, 0]
    assert partition(csr_array(counts), 2).tolist() == [0, 1, 0, 1]


def test_soccer_supporters_are_not_put_with_those_who_hate_sports():
    """The example of section 2.2, at some size, for both ways."""
    rng = np.random.default_rng(3)
    counts = np.zeros((60, 20), dtype=np.int32)
    counts[::2, :10] = rng.poisson(2, (30, 10))
    counts[1::2, 10:] = rng.poisson(2, (30, 10))
    for way in ("greedy", "mdav"):
        groups = partition(csr_array(counts), 3, way=way)
        for group in range(groups.max() + 1):
            assert len(set(np.flatnonzero(groups == group) % 2)) == 1


def test_blocks_hold_everybody_once_and_follow_interests():
    counts = np.zeros((40, 4), dtype=np.int32)
    counts[np.arange(40), np.arange(40) % 4] = 5
    parts = blocks(csr_array(counts), 10, np.ones(4))
    assert sorted(np.concatenate(parts)) == list(range(40))
    assert [len(p) for p in parts] == [10] * 4
    assert all(len(set(p % 4)) == 1 for p in parts)


def test_users_without_any_category_are_grouped_too():
    groups = partition(csr_array(np.zeros((7, 3), dtype=np.int32)), 3)
    assert sorted(np.bincount(groups)) == [3, 4]


@pytest.mark.parametrize("k", [0, 1, True, 2.5])
def test_bad_k_is_refused(k):
    with pytest.raises(ParameterError):
        partition(csr_array(np.eye(5, dtype=np.int32)), k)


def test_too_few_users_are_refused():
    with pytest.raises(ProtectionError, match="k = 6 needs at least 6 users"):
        partition(csr_array(np.eye(5, dtype=np.int32)), 6)


def test_bad_ways_are_refused():
    with pytest.raises(ParameterError):
        partition(csr_array(np.eye(5, dtype=np.int32)), 2, way="random")
    with pytest.raises(ParameterError):
        partition(csr_array(np.eye(5, dtype=np.int32)), 2, block=3)

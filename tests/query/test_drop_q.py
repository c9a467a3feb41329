from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import query
from tacit.core.errors import ParameterError
from tacit.query.drop_q import likely_cells, simulate_differencing

# oracles.md, from Eq. (5) of Lucero et al. (2011)
TABLE = {
    3: (0.042969, 0.057645, 0.171875, 0.5),
    4: (0.023702, 0.032017, 0.106771, 0.333333),
    5: (0.015210, 0.020611, 0.075439, 0.25),
    6: (0.010658, 0.014459, 0.057305, 0.2),
    7: (0.007913, 0.010739, 0.045614, 0.166667),
}


@pytest.mark.parametrize("k", TABLE)
def test_equation_5_and_its_bound(k):
    shares = ([0.25] * 4, [0.4, 0.3, 0.2, 0.1], [0.5, 0.5])
    found = [query.drop_q_disclosure(share, k) for share in shares]
    np.testing.assert_allclose(found, TABLE[k][:3], atol=6e-7)
    low, high = query.drop_q_bounds(4, k)
    assert high == pytest.approx(TABLE[k][3], abs=1e-6)
    assert low == pytest.approx(TABLE[k][0], abs=6e-7)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=4), st.integers(2, 5))
def test_the_sum_as_it_stands_in_the_paper(weights, k):
    shares = np.array(weights) / sum(weights)
    total = 0.0
    for x in product(range(k + 1), repeat=len(shares)):
        q = sum(x)
        if 2 <= q <= k:
            ways = factorial(q) / prod(map(factorial, x))
            total += (ways / (k - 1)) ** 2 * float(np.prod(shares ** (2 * np.array(x))))
    assert query.drop_q_disclosure(shares, k) == pytest.approx(total)


@pytest.mark.parametrize("k", TABLE)
@pytest.mark.parametrize(
    ("column", "counts"),
    [(0, [245, 245, 244, 244]), (1, [391, 293, 196, 98]), (2, [489, 489])],
)
def test_simulated_attacks_agree_to_two_decimals(column, counts, k):
    found = simulate_differencing(counts, k, 20_000, np.random.default_rng(10 * k + column))
    assert found["correct"] == pytest.approx(TABLE[k][column], abs=0.005)


def test_a_likelihood_attacker_does_better_than_the_papers_criterion():
    """attacks.md: 100 equal cells, k = 5: about a quarter right where (5) says nearly never."""
    counts = [50] * 100
    found = simulate_differencing(counts, 5, 4_000, np.random.default_rng(1))
    assert found["by_likelihood"] == pytest.approx(0.25, abs=0.05)
    assert found["correct"] < 0.01


def test_variants_of_the_universe_add_up_to_certainty():
    """Re-seeding: 10 variants, 20 equal cells, k = 5 find the target's cell almost always."""
    rng = np.random.default_rng(2)
    counts, runs = np.full(20, 250), 500
    after = counts.copy()
    after[0] -= 1
    differences = np.stack([_difference(counts, after, 5, runs, rng) for _ in range(10)])
    assert (likely_cells(differences, counts / counts.sum(), 5) == 0).mean() > 0.97
    assert (likely_cells(differences[:1], counts / counts.sum(), 5) == 0).mean() < 0.45


def _difference(before, after, k, runs, rng):
    def dropped(counts):
        return np.array(
            [
                counts - rng.multivariate_hypergeometric(counts, int(rng.integers(2, k + 1)))
                for _ in range(runs)
            ]
        )

    return dropped(before) - dropped(after)


@pytest.mark.parametrize("shares", [[], [0.5, 0.6], [-0.5, 1.5], [[1.0]]])
def test_bad_shares_are_named(shares):
    with pytest.raises(ParameterError):
        query.drop_q_disclosure(shares, 5)


@pytest.mark.parametrize("k", [1, 0, 151])
def test_bad_k_is_named(k):
    with pytest.raises(ParameterError):
        query.drop_q_disclosure([1.0], k)
    with pytest.raises(ParameterError):
        query.drop_q_bounds(3, k)
    with pytest.raises(ParameterError):
        simulate_differencing([1, 1], k, 10, np.random.default_rng(0))

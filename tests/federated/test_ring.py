"""KS's ring: the sum is right, one message tells nothing, two neighbours learn all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.core.errors import ParameterError
from tacit.federated.ring import neighbours_learn, ring_sum


@given(st.lists(st.integers(-(10**9), 10**9), min_size=3, max_size=8))
def test_the_sum_is_right(values):
    assert ring_sum(values).total == sum(values)


def test_matrices_keep_their_shape():
    parts = [np.full((2, 3), k) for k in (1.0, 2.0, 4.5)]
    assert np.array_equal(ring_sum(parts).total, np.full((2, 3), 7.5))


def test_each_agency_sees_a_uniform_number():
    """The message to agency 2 has the same distribution for v1 = 0 and v1 = a million."""
    seen = [
        np.array([ring_sum([v, 5, 7]).seen[1][-1, 0] / 2.0**64 for _ in range(600)])
        for v in (0.0, 1e6)
    ]
    for sample in seen:
        assert stats.kstest(sample, "uniform").pvalue > 1e-9
    assert stats.ks_2samp(*seen).pvalue > 1e-9


@given(st.lists(st.integers(-1000, 1000), min_size=3, max_size=6), st.data())
def test_attack_f1_neighbours_learn_the_value_between_them(values, data):
    j = data.draw(st.integers(1, len(values) - 1))
    assert neighbours_learn(ring_sum(values), j) == values[j]


def test_the_first_agency_is_protected_by_its_own_r():
    with pytest.raises(ParameterError):
        neighbours_learn(ring_sum([1, 2, 3]), 0)


@pytest.mark.parametrize("values", [[1, 2], [[1], [1, 2], [1]]], ids=["two", "shapes"])
def test_bad_rings_are_refused(values):
    with pytest.raises(ParameterError):
        ring_sum(values)

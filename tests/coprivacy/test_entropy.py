"""Entropy and the decision rules of COP, Section 4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

from tacit.coprivacy import coprivacy, entropy, exchange_game
from tacit.coprivacy.entropy import best_helpers, change, helps, submits_directly
from tacit.core.errors import DataError, ParameterError

histories = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 6), max_size=5)


def test_known_entropies():
    assert entropy([5]) == 0
    assert entropy([1, 1]) == 1
    assert entropy([]) == entropy([0, 0]) == 0
    assert entropy([[1, 1, 0], [2, 1, 1]]).tolist() == [1.0, 1.5]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(sum))
def test_entropy_is_shannons(counts):
    assert entropy(counts) == pytest.approx(scipy_entropy(counts, base=2), abs=1e-12)
    assert 0 <= entropy(counts) <= np.log2(len(counts)) + 1e-12


@pytest.mark.parametrize("wrong", [[-1, 2], [np.nan], [np.inf]])
def test_wrong_counts_are_refused(wrong):
    with pytest.raises(DataError):
        entropy(wrong)


def test_direct_submission_unless_it_lowers_the_entropy():
    assert submits_directly({}, "a")
    assert submits_directly({"a": 3}, "a")  # stays 0
    assert submits_directly({"a": 3, "b": 1}, "b")
    assert not submits_directly({"a": 3, "b": 1}, "a")


def test_a_peer_helps_only_if_her_entropy_rises():
    assert not helps({}, "a")
    assert not helps({"a": 3}, "a")
    assert helps({"a": 3}, "b")
    assert not helps({"a": 1, "b": 1}, "b")


@given(st.dictionaries(st.sampled_from(["P2", "P3", "P4", "P5"]), st.integers(0, 5), min_size=1))
def test_the_best_helper_is_the_one_asked_least(forwarded):
    """Expression (2) by its definition, against the rule that the simulation uses."""
    least = min(forwarded.values())
    assert set(best_helpers(forwarded)) >= {p for p, n in forwarded.items() if n == least}
    if len(forwarded) > 1:
        assert set(best_helpers(forwarded)) == {p for p, n in forwarded.items() if n == least}


def test_nobody_to_ask():
    with pytest.raises(ParameterError, match="nobody"):
        best_helpers({})


@given(histories, histories, st.sampled_from("abcde"))
def test_an_exchange_by_the_rules_is_coprivate(requester, helper, query):
    """COP: if Sik and Tki are best, (Sik, Tki) is a pure equilibrium and there is coprivacy."""
    verdict = coprivacy(exchange_game(requester, helper, query))
    if not submits_directly(requester, query) and helps(helper, query):
        assert verdict
    loses = change(requester, query) > 1e-6 or change(helper, query) < -1e-6
    if loses:
        assert not verdict

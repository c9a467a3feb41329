"""Anonymous search among peers: every peer gains, defectors do not, and the kernel is right."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.coprivacy import Queries, draw_queries, entropy, simulate_search
from tacit.coprivacy.entropy import helps, submits_directly
from tacit.core.errors import ParameterError


@pytest.fixture(scope="module")
def result():
    return simulate_search(draw_queries(2_000, 100, seed=1), seed=1)


# -- what COP promises -------------------------------------------------------------------------


def test_every_peer_ends_with_more_entropy_than_by_direct_submission(result):
    assert (result.gain > 0).all()
    assert result.entropy.mean() > 1.5 * result.direct_entropy.mean()


def test_the_database_sees_less_of_every_profile(result):
    assert result.similarity.max() < 1
    assert result.similarity.mean() < 0.7
    assert result.own_share.mean() < 0.5


def test_every_exchange_among_rational_peers_is_an_equilibrium(result):
    helped = result.submitted_by != result.queries.peer
    assert np.array_equal(helped, result.is_nash)
    assert 0 < result.coprivate_share < result.nash_fraction <= 1


def test_no_peer_gets_to_know_much_of_another(result):
    assert result.confidant_share.max() <= 0.1


def test_direct_submission_is_the_base_line():
    queries = draw_queries(100, 40, seed=2)
    alone = simulate_search(queries, behaviour={"solitary": 1.0}, seed=1)
    assert alone.entropy == pytest.approx(alone.direct_entropy)
    assert alone.similarity == pytest.approx(1)
    assert (alone.own_share == 1).all()
    assert np.isnan(alone.nash_fraction)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_defecting_does_not_pay(share):
    result = simulate_search(draw_queries(1_000, 60, seed=3), behaviour={"defector": share}, seed=4)
    defects, follows = result.of("defector"), result.of("rational")
    assert defects.sum() == round(1000 * share)
    assert result.entropy[follows].mean() > result.entropy[defects].mean() + 1
    assert (result.gain[follows] > 0).all()
    assert not np.isin(result.submitted_by[result.is_nash], np.flatnonzero(defects)).any()


def test_the_more_defect_the_more_must_submit_themselves():
    queries = draw_queries(1_000, 60, seed=3)
    shares = [simulate_search(queries, behaviour={"defector": d}, seed=4).own_share.mean()
              for d in (0, 0.5, 0.9)]  # fmt: skip
    assert shares[0] < shares[1] < shares[2]


def test_altruists_help_at_their_own_cost():
    result = simulate_search(draw_queries(500, 60, seed=3), behaviour={"altruist": 1.0}, seed=4)
    helped = result.submitted_by != result.queries.peer
    assert (result.asked[helped] == 1).all()
    assert result.is_nash.sum() < helped.sum()


# -- the kernel against a plain account of the same rules ----------------------------------------


def _replayed(result):
    """Check each recorded decision by the definitions, with counters instead of hash tables."""
    submitted = defaultdict(Counter)
    queries = result.queries
    for t in range(len(queries)):
        i, q, k = int(queries.peer[t]), int(queries.keyword[t]), int(result.submitted_by[t])
        is_alone = queries.n_peers == 1  # nobody to ask
        assert (result.asked[t] == 0) == (is_alone or submits_directly(submitted[i], q))
        if k != i:
            assert helps(submitted[k], q)
        submitted[k][q] += 1
    return submitted


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=120),
    st.integers(0, 100),
)
@example([(0, 0), (0, 1), (0, 0)], 0)
def test_every_decision_follows_the_rules(pairs, seed):
    queries = Queries.of([p for p, _ in pairs], [q for _, q in pairs])
    result = simulate_search(queries, seed=seed, attempts=3)
    submitted = _replayed(result)
    for peer in range(queries.n_peers):
        expected = entropy(list(submitted[peer].values()))
        assert result.entropy[peer] == pytest.approx(expected, abs=1e-9)
    assert result.asked.max() <= 3
    assert result.similarity.max() <= 1 + 1e-12


def test_decisions_of_a_larger_community_follow_the_rules():
    _replayed(simulate_search(draw_queries(60, 40, n_keywords=50, seed=5), seed=6))


def test_forwarding_is_spread_evenly():
    """Expression (2): peers asked for one query of one peer differ by at most one request.

    Peers without a history never help, so that every attempt is used, and after each the peer
    submits herself; the entropy of the peers asked is that of the most even counts.
    """
    queries = Queries.of([0] * 51 + [1, 2, 3], ["y"] + ["x"] * 50 + ["x", "y", "x"])
    result = simulate_search(queries, seed=1, attempts=2)
    n_asked = int(result.asked[:51].sum())
    assert n_asked == 2 * 49
    assert (result.submitted_by[:51] == 0).all()
    counts = [n_asked // 3 + (j < n_asked % 3) for j in range(3)]
    assert result.forward_entropy.tolist() == pytest.approx([entropy(counts)], abs=1e-9)
    assert result.confidant_share[0] == pytest.approx(max(counts) / 51)


# -- edges -------------------------------------------------------------------------------------


def test_one_peer_alone_submits_everything():
    result = simulate_search(Queries.of(["a"] * 5, list("xxyxx")), seed=1)
    assert (result.submitted_by == 0).all()
    assert result.asked.sum() == 0


def test_one_query():
    result = simulate_search(Queries.of(["a"], ["x"]))
    assert result.summary()["mean entropy, exchange"] == 0
    assert "peers who gain" in str(result)


def test_the_same_seed_gives_the_same_result():
    queries = draw_queries(100, 30, seed=1)
    a, b = simulate_search(queries, seed=5), simulate_search(queries, seed=5)
    assert np.array_equal(a.submitted_by, b.submitted_by)
    assert not np.array_equal(a.submitted_by, simulate_search(queries, seed=6).submitted_by)


def test_the_history_ends_at_the_mean(result):
    assert result.history[-1] == pytest.approx(result.entropy.mean())
    assert result.history[0] == 0


def test_behaviour_by_name():
    queries = Queries.of(["a", "b"] * 10, ["x", "y"] * 10)
    assert simulate_search(queries, behaviour=["defector", "rational"]).of("defector").tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"attempts": 0}, {"attempts": 1.5}, {"behaviour": {"defector": 2}},
     {"behaviour": {"defector": 0.6, "solitary": 0.6}}, {"behaviour": {"cheat": 0.1}},
     {"behaviour": ["rational"]}, {"behaviour": ["rational", "cheat"]}],
)  # fmt: skip
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ParameterError):
        simulate_search(Queries.of(["a", "b"], ["x", "y"]), **wrong)


@pytest.mark.slow
def test_ten_thousand_peers():
    result = simulate_search(draw_queries(10_000, 100, seed=1), seed=1)
    assert (result.gain > 0).all()

"""The intruder who knows some queries."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from tacit import logs
from tacit.core.errors import ParameterError
from tacit.logs.known_queries import (
    attack_released_frame,
    drawn_queries,
    known_queries_risk,
    link_by_known_queries,
)


def test_a_worked_example():
    # Logs: 0 has a, b; 1 has a; 2 has c. The targets are 0 (knows b), 1 (a) and 2 (nothing there).
    released = csr_array(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 2, 0]]))
    known = csr_array(np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]))
    hits = link_by_known_queries(known, released, released, np.array([0, 1, -1]))
    assert hits.candidates.tolist() == [1, 2, 3]
    assert hits.probability.tolist() == [1, 0.5, 0]
    # Target 0 is picked for sure, and both lines are hers; target 1 gets half of log 0, all of 1.
    assert hits.true_lines.tolist()[:2] == [1.0, 0.75]


def test_rare_queries_weigh_more():
    released = csr_array(np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1]]))
    # a and b fit logs 0 to 2, c fits only log 0: all three known points at log 0.
    known = csr_array(np.array([[1.0, 0, 1, 0]]))
    assert link_by_known_queries(known, released, released, np.array([0])).probability == 1


def test_no_target_is_found_with_more_than_one_in_k(release):
    for known in (1, 3, 10, 1000):
        found = known_queries_risk(release, known=known)
        assert found.details["largest_probability"] <= 1 / 3 + 1e-12
        assert found.details["found_for_sure"] == 0
        assert found.warnings == ()
    assert found.details["original"] > 0.9
    assert found.value < found.details["original"] / 3


def test_the_attack_finds_users_where_nothing_was_grouped(made_up):
    """A forged release, with new numbers and nothing else, must be broken."""
    order = np.random.default_rng(1).permutation(made_up.n_users)
    released = made_up.frame.with_columns(user=pl.Series(order[made_up.user]).cast(pl.String))
    truth = pl.DataFrame({"user": made_up.users, "pseudonym": order})
    found = attack_released_frame(made_up, released, truth, k=3, known=5)
    assert found.value > 0.8
    assert found.value == pytest.approx(found.details["original"])
    assert "above 1/3" in found.warnings[0]


def test_a_released_frame_and_its_release_give_the_same(release):
    frame = release.frame.with_columns(pl.col("user").cast(pl.String))
    attacked = attack_released_frame(release.original, frame, release.truth, k=3, seed=4)
    inside = known_queries_risk(release, seed=4)
    assert attacked.value == pytest.approx(inside.value)


def test_known_queries_are_the_targets_own(made_up):
    targets = np.array([3, 8, 20])
    facts = drawn_queries(made_up, targets, 4, np.random.default_rng(0)).toarray() > 0
    own = made_up.counts()[targets].toarray() > 0
    assert not (facts & ~own).any()
    assert facts.sum(axis=1).tolist() == np.minimum(own.sum(axis=1), 4).tolist()


@pytest.mark.parametrize("bad", [{"known": 0}, {"targets": 0}, {"known": True}, {"known": 1.5}])
def test_bad_numbers_are_refused(release, bad):
    with pytest.raises(ParameterError):
        logs.known_queries_risk(release, **bad)

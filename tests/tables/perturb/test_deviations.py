import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import tables
from tacit.core.errors import DataError, ParameterError


def test_observed_transitions_approach_the_design():
    rng = np.random.default_rng(1)
    noise = tables.CellKey(max_change=3).noise_table
    counts = rng.integers(0, 9, 60_000)
    new = counts + noise.changes(counts, rng.integers(0, 1000, len(counts)), modulus=1000)
    found = tables.observed_transitions(counts, new, largest=6, most=9)
    design = tables.transition_matrix(3, 2.002, no_small_cells=True)
    np.testing.assert_allclose(found, design, atol=0.02)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_counts_that_do_not_occur_have_no_row():
    found = tables.observed_transitions(np.array([1, 5]), np.array([0, 20]), largest=6, most=13)
    assert np.isnan(found[2]).all()
    assert found[5, 13] == 1


def test_shares_of_deviations_by_hand():
    shares = tables.deviation_shares(
        np.array([1, 2, 3, 0, 10]),
        {"a": np.array([0, 2, 3, 0, 13]), "b": np.array([3, 3, 3, 0, 10])},
    )
    assert shares.columns == ["absolute deviation", "a", "b"]
    assert shares["a"].to_list() == [50, 25, 0, 25]
    assert shares["b"].to_list() == [50, 25, 25, 0]


def test_largest_deviations_by_size():
    found = tables.largest_deviations(
        np.array([5, 25, 49, 60, 6000]), np.array([50, 26, 45, 60, 6013]), bands=(20, 50, 100)
    )
    assert found.rows() == [("20-49", 2, 4), ("50-99", 1, 0), ("at least 100", 1, 13)]
    with pytest.raises(ParameterError):
        tables.largest_deviations(np.array([1]), np.array([1]), bands=(5, 5))


@settings(max_examples=50)
@given(
    st.lists(st.integers(-13, 13), min_size=1, max_size=300),
    st.floats(0.05, 1.0),
    st.integers(1, 4),
    st.integers(0, 2**31),
)
def test_blurred_deviations_keep_every_frequency(deviations, spread, reach, seed):
    given_ = np.array(deviations)
    found = tables.blurred_deviations(
        given_, np.random.default_rng(seed), spread=spread, reach=reach
    )
    assert sorted(found.tolist()) == sorted(deviations)


def test_blurred_deviations_do_not_tell_the_true_ones():
    rng = np.random.default_rng(3)
    true = np.rint(rng.normal(0, 2, 20_000)).astype(int)
    found = tables.blurred_deviations(true, rng, spread=0.6)
    assert 0.2 < np.mean(found == true) < 0.7
    assert np.corrcoef(np.abs(found), np.abs(true))[0, 1] > 0.3
    # Also a rare deviation moves: publishing it would single out its cell.
    rare = np.r_[np.zeros(1000, int), 1, 2, 9]
    moved = [tables.blurred_deviations(rare, np.random.default_rng(s))[-1] != 9 for s in range(60)]
    assert 0.05 < np.mean(moved) < 0.95


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="whole numbers"):
        tables.blurred_deviations(np.array([0.5]), np.random.default_rng(0))
    with pytest.raises(ParameterError, match="spread"):
        tables.blurred_deviations(np.array([1, 2]), np.random.default_rng(0), spread=0)
    with pytest.raises(DataError, match="same cells"):
        tables.observed_transitions(np.array([1]), np.array([1, 2]))
    with pytest.raises(DataError, match="suppressed"):
        tables.deviation_shares(np.array([1.0]), {"a": np.array([np.nan])})
    with pytest.raises(DataError, match="0 or above"):
        tables.observed_transitions(np.array([-1]), np.array([0]))


def test_the_report_counts_what_tables_of_both_files_hold():
    """By hand: x loses one of two, y gains two; the pair tables have the cells x-1, y-1, y-2."""
    before = pl.DataFrame({"a": list("xxyyy"), "b": ["1", "1", "1", "2", None]})
    after = pl.DataFrame({"a": list("xyyyyy"), "b": ["1", "1", "1", "2", "2", None]})
    found = tables.control_report(before, after, ["a", "b"])
    assert found["variables"].to_list() == [1, 2]
    assert found["cells"].to_list() == [5, 4]
    assert found["largest deviation"].to_list() == [2, 1]
    assert found["smallest count"].to_list() == [1, 1]
    assert found["mean deviation"][1] == pytest.approx(3 / 4)
    assert tables.control_report(before, after, ["a", "b"], up_to=1).height == 1

"""PRAM: matrices that keep what they promise, and estimates that undo them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.rng import step_generator
from tacit.mask._transitions import invariant_matrix, random_matrix, transitions
from tacit.mask.pram import corrected_counts, transition_matrices


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.floats(0, 1), st.integers(0, 99))
def test_an_invariant_matrix_keeps_expected_counts_and_the_floor(counts, stay, seed):
    counts = np.array(counts, dtype=float)
    start = random_matrix(len(counts), stay, np.random.default_rng(seed))
    matrix = invariant_matrix(start, counts, stay)
    assert np.allclose(matrix.sum(axis=1), 1.0)
    assert (matrix >= -1e-12).all()
    assert np.allclose(counts @ matrix, counts)
    assert np.diag(matrix).min() >= stay - 1e-9
    assert np.diag(start).min() >= stay - 1e-12


def test_draws_follow_the_matrix():
    rng = np.random.default_rng(0)
    matrix = np.array([[0.7, 0.3, 0.0], [0.1, 0.6, 0.3], [0.0, 0.0, 1.0]])
    codes = np.repeat([0, 1, 2], 50_000)
    drawn = transitions(codes, matrix, rng)
    for k in range(3):
        seen = np.bincount(drawn[codes == k], minlength=3) / 50_000
        assert seen == pytest.approx(matrix[k], abs=0.01)


def test_invariant_pram_keeps_the_distribution_over_many_seeds():
    data = tacit.datasets.census(1000)
    plan = tacit.Plan([mask.Pram(columns=["marital"], stay=0.5)])
    was = data.frame["marital"].value_counts().sort("marital")["count"].to_numpy()
    seen = np.mean(
        [
            plan.apply(data, seed=s).frame["marital"].value_counts().sort("marital")["count"]
            for s in range(60)
        ],
        axis=0,
    )
    assert seen == pytest.approx(was, abs=5 * np.sqrt(was.max() / 60) + 1)


def test_counts_corrected_by_the_matrix_of_the_release_are_unbiased():
    data = tacit.datasets.census(4000)
    method = mask.Pram(columns=["marital"], stay=0.3, invariant=False)
    (found,) = transition_matrices(method, data, step_generator(9, 0))
    labels, matrix = found.categories, found.matrix
    was = data.frame["marital"].value_counts()
    truth = np.array([was.filter(pl.col("marital") == c)["count"].item() for c in labels])
    now = tacit.Plan([method]).apply(data, seed=9).frame["marital"].value_counts()
    released = np.array([now.filter(pl.col("marital") == c)["count"].sum() for c in labels])
    assert np.abs(corrected_counts(released, matrix) - truth).sum() < np.abs(released - truth).sum()


def test_compound_pram_makes_no_combination_that_does_not_occur():
    data = tacit.datasets.census(800)
    columns = ["marital", "education"]
    occurring = set(data.frame[columns].rows())
    together = tacit.Plan([mask.Pram(columns=columns, stay=0.3, compound=True)]).apply(data, seed=1)
    assert set(together.frame[columns].rows()) <= occurring
    assert not together.frame["marital"].equals(data.frame["marital"])


def test_strata_have_matrices_of_their_own():
    before = pl.DataFrame(
        {"s": ["x"] * 300 + ["y"] * 300, "c": ["a", "b", "c"] * 100 + ["d", "e"] * 150}
    )
    method = mask.Pram(columns=["c"], stay=0.2, within=["s"])
    after = tacit.Plan([method]).apply(before, seed=1).frame
    assert set(after.filter(pl.col("s") == "x")["c"]) <= {"a", "b", "c"}
    assert set(after.filter(pl.col("s") == "y")["c"]) <= {"d", "e"}


def test_a_matrix_by_hand_is_followed_and_checked():
    before = pl.DataFrame({"c": ["a", "b"] * 200 + [None]})
    turn = {"a": {"b": 1.0}, "b": {"a": 1.0}}
    after = tacit.Plan([mask.Pram(columns=["c"], matrix=turn)]).apply(before, seed=1).frame
    assert after["c"].to_list() == ["b", "a"] * 200 + [None]
    for wrong, error, word in [
        ({"a": {"a": 1.0}}, DataError, "no row"),
        ({"a": {"z": 1.0}, "b": {"b": 1.0}}, DataError, "'z'"),
        ({"a": {"a": 0.5}, "b": {"b": 1.0}}, ParameterError, "matrix"),
    ]:
        with pytest.raises(error, match=word):
            tacit.Plan([mask.Pram(columns=["c"], matrix=wrong)]).apply(before, seed=1)
    with pytest.raises(ParameterError, match="one column"):
        mask.Pram(columns=["c", "d"], matrix=turn)


def test_numbers_are_refused_and_a_single_category_stays():
    with pytest.raises(SchemaError, match="numeric"):
        tacit.Plan([mask.Pram(columns=["x"])]).apply(pl.DataFrame({"x": [1, 2]}))
    one = tacit.Plan([mask.Pram(columns=["c"])]).apply(pl.DataFrame({"c": ["a", "a"]}), seed=1)
    assert one.frame["c"].to_list() == ["a", "a"]


def test_a_column_without_a_single_value_stays_as_it_is():
    before = pl.DataFrame(
        {"c": [None, None], "d": ["a", None]}, schema=dict.fromkeys("cd", pl.String)
    )
    for compound in (False, True):
        method = mask.Pram(columns=["c", "d"], stay=0.0, compound=compound)
        assert tacit.Plan([method]).apply(before, seed=1).frame.equals(before)


def test_the_matrix_does_not_depend_on_the_order_of_the_records():
    data = tacit.datasets.census(300)
    turned = data.take(np.arange(300)[::-1])
    method = mask.Pram(columns=["marital", "education"], compound=True)
    here, there = (transition_matrices(method, d, step_generator(1, 0)) for d in (data, turned))
    assert here[0].columns == ("marital", "education")
    assert here[0].categories == there[0].categories
    assert np.array_equal(here[0].matrix, there[0].matrix)


def test_many_strata_are_worked_through_once():
    before = pl.DataFrame({"s": np.repeat(np.arange(5000), 4), "c": ["a", "b"] * 10_000})
    method = mask.Pram(columns=["c"], stay=0.2, within=["s"])
    after = tacit.Plan([method]).apply(before, seed=1).frame
    assert not after.equals(before)


def test_a_given_matrix_serves_strata_that_lack_a_category():
    table = pl.DataFrame({"v": ["a", "b"] * 50 + ["a"] * 50, "s": ["x"] * 100 + ["y"] * 50})
    matrix = {"a": {"a": 0.5, "b": 0.5}, "b": {"b": 1.0}}
    method = mask.Pram(columns=["v"], matrix=matrix, within=["s"])
    frame = tacit.Plan([method]).apply(table, seed=1).frame
    assert 0 < frame.filter(pl.col("s") == "y")["v"].eq("b").sum() < 50


def test_the_matrices_of_all_strata_are_those_of_the_release():
    data = tacit.datasets.census(6000)
    method = mask.Pram(columns=["marital", "education"], stay=0.3, within=["region"])
    found = transition_matrices(method, data, step_generator(5, 0))
    assert [t.stratum["region"] for t in found[:4]] != [t.stratum["region"] for t in found[1:5]]
    assert len(found) == 2 * data.frame["region"].n_unique()
    after = tacit.Plan([method]).apply(data, seed=5).frame
    for t in found:
        (name,) = t.columns
        inside = data.frame["region"] == t.stratum["region"]
        was, now = (frame.filter(inside)[name] for frame in (data.frame, after))
        for i, category in enumerate(t.categories):
            became = now.filter(was == category)
            shares = np.array([(became == c).mean() for c in t.categories])
            assert np.abs(shares - t.matrix[i]).max() < 4 * 0.5 / np.sqrt(len(became))


def test_strata_of_missing_values_and_compound_variables_have_matrices_too():
    table = pl.DataFrame({"s": ["x", None] * 30, "a": list("pq") * 30, "b": list("uvw") * 20})
    method = mask.Pram(columns=["a", "b"], within=["s"], compound=True, stay=0.1)
    found = transition_matrices(method, tacit.Microdata.of(table), step_generator(1, 0))
    assert [(t.columns, t.stratum) for t in found] == [
        (("a", "b"), {"s": "x"}),
        (("a", "b"), {"s": None}),
    ]
    assert found[0].categories == ["p | u", "p | v", "p | w"]
    assert np.allclose(found[0].matrix.sum(axis=1), 1.0)

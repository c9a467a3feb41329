"""Log-linear models and their utility."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError
from tacit.utility._log_linear import LogLinearModel, fitted, searched


def model(*generators):
    """Return a hierarchical model from its largest terms."""
    from itertools import combinations

    terms = {frozenset(c) for g in generators for size in range(1, len(g) + 1)
             for c in combinations(g, size)}  # fmt: skip
    return LogLinearModel(frozenset(terms))


def test_independence_is_the_product_of_the_margins():
    table = np.array([[10.0, 20.0], [30.0, 40.0]])
    fit = fitted(table, model((0,), (1,)))
    assert fit.expected == pytest.approx(np.outer(table.sum(axis=1), table.sum(axis=0)) / 100)
    assert fit.model.n_parameters(table.shape) == 2


def test_conditional_independence_has_a_closed_form():
    rng = np.random.default_rng(0)
    table = rng.integers(1, 30, (2, 3, 4)).astype(float)
    fit = fitted(table, model((0, 1), (1, 2)))
    ab, bc = table.sum(axis=2), table.sum(axis=0)
    expected = ab[:, :, None] * bc[None, :, :] / table.sum(axis=(0, 2))[None, :, None]
    assert fit.expected == pytest.approx(expected)
    assert fit.converged


@settings(max_examples=40)
@given(arrays(float, (2, 3, 2), elements=st.integers(0, 20).map(float)))
def test_all_two_way_margins_are_kept(table):
    table[0, 0, 0] += 1
    fit = fitted(table, model((0, 1), (1, 2), (0, 2)))
    if not fit.converged:  # zeros may put the estimate on the border, which is reached slowly
        assert (table == 0).any()
        return
    for axis in range(3):
        assert fit.expected.sum(axis=axis) == pytest.approx(table.sum(axis=axis), abs=1e-3)


def test_search_finds_the_model_that_made_the_data():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 4000)
    b = np.where(rng.random(4000) < 0.8, a, 1 - a)
    c = np.where(rng.random(4000) < 0.7, b, 2)
    d = rng.integers(0, 3, 4000)
    table = np.zeros((2, 2, 3, 3))
    np.add.at(table, (a, b, c, d), 1)
    best = searched(table, np.log(4000), 4)
    assert {frozenset(g) for g in best.model.generators} == {
        frozenset({0, 1}), frozenset({1, 2}), frozenset({3}),
    }  # fmt: skip
    saturated = fitted(table, model((0, 1, 2, 3))).log_likelihood
    assert searched(table, 0.0, 4).log_likelihood == pytest.approx(saturated, abs=1e-3)


def test_swapping_more_costs_more():
    data = tacit.datasets.census(2000)
    measure = utility.LogLinearUtility(columns=["sex", "marital", "education"])
    values = [
        measure.measure(
            data,
            tacit.Plan([mask.DataSwap(columns=["marital"], rate=rate)]).apply(data, seed=1),
        ).value
        for rate in (0.02, 0.1, 0.4)
    ]
    assert 0 > values[0] > values[1] > values[2]


def test_a_constant_file_has_lost_most_though_its_likelihood_is_largest():
    data = tacit.datasets.census(2000)
    constant = data.frame.with_columns(pl.all().first())
    measure = utility.LogLinearUtility(columns=["sex", "marital", "education"])
    swapped = tacit.Plan([mask.DataSwap(columns=["marital"], rate=1.0)]).apply(data, seed=1)
    lost, moved = measure.measure(data, constant), measure.measure(data, swapped)
    assert lost.details["du_llm"] > 0, "one full cell is certain"
    assert lost.value < moved.value < 0
    assert lost.details["margins"] > 0 > lost.details["relations"]
    assert lost.value == -lost.details["margins"] + lost.details["relations"]
    assert moved.value == moved.details["du_llm"], "swapping keeps the margins: the paper's value"


def test_uneven_categories_do_not_make_up_for_lost_relations():
    """By hand: relations gone, and one variable more uneven; the two changes must not cancel."""
    before = pl.DataFrame({"a": list("xxyy") * 25, "b": list("uuvv") * 25})
    after = pl.DataFrame({"a": list("xxxxxxxxxy") * 10, "b": list("uv") * 50})
    found = utility.LogLinearUtility().measure(before, after)
    even, uneven = np.log(2), -(0.9 * np.log(0.9) + 0.1 * np.log(0.1))
    assert found.details["margins"] == pytest.approx(100 * (even - uneven))
    kept = found.details["relations"] + 100 * even  # what the sample shows of a relation by chance
    assert 0 <= kept < 12
    assert found.value < found.details["du_llm"]


def test_a_sample_is_scaled_to_the_original():
    data = tacit.datasets.census(4000)
    half = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    measure = utility.LogLinearUtility(columns=["sex", "marital", "education"])
    found = measure.measure(data, half)
    assert abs(found.details["per_record"]) < 0.05


def test_fixed_parameters_rule_out_new_combinations():
    before = pl.DataFrame({"a": list("xxyy") * 20, "b": list("uuvv") * 20})
    after = before.with_columns(b=pl.Series(list("uvuv") * 20))
    kept = utility.LogLinearUtility(columns=["a", "b"], likelihood="fitted", criterion="aic")
    found = kept.measure(before, after)
    assert found.value == -np.inf
    assert found.details["impossible_records"] == 40
    refitted = utility.LogLinearUtility(columns=["a", "b"]).measure(before, after)
    assert refitted.value == pytest.approx(-80 * np.log(2))


def test_too_large_a_table_is_refused():
    data = tacit.datasets.census(300)
    with pytest.raises(DataError, match="too large"):
        utility.LogLinearUtility(columns=["age", "hours", "income", "region"]).measure(data, data)


def test_missing_values_are_a_category():
    frame = pl.DataFrame({"a": ["x", None, "x", None], "b": ["u", "v", "u", "v"]})
    found = utility.LogLinearUtility(columns=["a", "b"]).measure(frame, frame)
    assert found.value == 0.0
    assert found.details["cells"] == 4

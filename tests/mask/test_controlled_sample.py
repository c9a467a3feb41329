"""Controlled sampling: right inclusion probabilities, and totals that come out right."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.mask.controlled_sample import draw_balanced, inclusion_probabilities


def weighted_total(frame, column):
    return float((frame["weight"] * frame[column]).sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80), st.integers(1, 80), st.integers(0, 6), st.integers(0, 999))
def test_the_size_is_always_exact(n, wanted, n_totals, seed):
    rng = np.random.default_rng(seed)
    wanted = min(n, wanted)
    pi = inclusion_probabilities(rng.lognormal(size=n), wanted)
    assert pi.sum() == pytest.approx(wanted)
    assert ((pi > 0) & (pi <= 1)).all()
    drawn = draw_balanced(rng.normal(size=(n, n_totals)), pi, rng)
    assert drawn.sum() == wanted
    assert drawn[pi == 1].all()


def test_every_unit_is_drawn_as_often_as_its_probability_says():
    rng = np.random.default_rng(0)
    x = rng.lognormal(size=(25, 2))
    pi = inclusion_probabilities(x[:, 0], 10)
    n_draws = 4000
    seen = np.mean([draw_balanced(x, pi, np.random.default_rng(s)) for s in range(n_draws)], axis=0)
    error = 4.5 * np.sqrt(pi * (1 - pi) / n_draws)
    assert (np.abs(seen - pi) <= error + 1e-12).all()


def test_estimated_totals_are_nearly_exact_and_far_better_than_by_chance():
    data = tacit.datasets.census(3000)
    columns = ["income", "age", "hours"]

    def errors(method):
        found = []
        for seed in range(10):
            frame = tacit.Plan([method]).apply(data, seed=seed).frame
            was = [weighted_total(data.frame, c) for c in columns]
            now = [weighted_total(frame, c) for c in columns]
            found.append(np.array(now) / was - 1)
        return np.sqrt(np.mean(np.square(found), axis=0))

    controlled = errors(mask.ControlledSample(fraction=0.2, balance=columns))
    by_chance = errors(mask.Sample(fraction=0.2))
    assert (controlled < 0.006).all()
    assert (controlled < by_chance / 4).all()


def test_the_error_is_a_rounding_that_vanishes_as_the_file_grows():
    def error(n):
        rng = np.random.default_rng(n)
        x = rng.lognormal(size=(n, 4))
        pi = np.full(n, 0.25)
        found = [
            np.abs(4 * x[draw_balanced(x, pi, rng)].sum(axis=0) / x.sum(axis=0) - 1).max()
            for _ in range(10)
        ]
        return np.mean(found)

    assert error(200) < 0.06
    assert error(2000) < 0.008
    assert error(20_000) < 0.002


def test_counts_of_categories_are_kept_to_a_few_records():
    data = tacit.datasets.census(2000).drop(["weight"])
    method = mask.ControlledSample(fraction=0.25, counts=["sex", "education"])
    frame = tacit.Plan([method]).apply(data, seed=3).frame
    for column in ("sex", "education"):
        was = dict(data.frame[column].value_counts().iter_rows())
        now = dict(frame[column].value_counts().iter_rows())
        assert max(abs(now.get(k, 0) - n / 4) for k, n in was.items()) < 4


def test_weights_are_divided_by_the_inclusion_probability():
    data = tacit.datasets.census(800, missing=0.05)
    method = mask.ControlledSample(size=200, balance=["age"], proportional_to="weight")
    release = tacit.Plan([method]).apply(data, seed=1)
    assert release.data.n_records == 200
    assert np.array_equal(release.rows, np.sort(release.rows))
    weights = data.weights
    pi = inclusion_probabilities(weights, 200)
    assert np.allclose(release.data.weights, (weights / pi)[release.rows])
    assert release.data.weights.sum() == pytest.approx(weights.sum(), rel=0.01)
    kept = tacit.Plan([method.replace(reweight=False)]).apply(data, seed=1)
    assert np.allclose(kept.data.weights, weights[kept.rows])


def test_households_come_whole():
    data = tacit.datasets.census(1500)
    method = mask.ControlledSample(fraction=0.3, balance=["income"], whole_households=True)
    release = tacit.Plan([method]).apply(data, seed=1)
    sizes = dict(data.frame["household"].value_counts().iter_rows())
    drawn = dict(release.frame["household"].value_counts().iter_rows())
    assert all(sizes[h] == n for h, n in drawn.items())
    assert len(drawn) == round(0.3 * len(sizes))
    was, now = (weighted_total(f, "income") for f in (data.frame, release.frame))
    assert now == pytest.approx(was, rel=0.02)


def test_totals_that_depend_on_each_other_do_no_harm():
    rng = np.random.default_rng(0)
    x = rng.lognormal(size=(300, 1))
    pi = np.full(300, 0.5)
    drawn = draw_balanced(
        np.hstack([x, 2 * x, x + 1, np.zeros((300, 1)), np.ones((300, 1))]), pi, rng
    )
    assert drawn.sum() == 150
    assert 2 * x[drawn].sum() == pytest.approx(x.sum(), rel=0.05)


def test_the_whole_file_can_be_drawn():
    data = tacit.datasets.census(20)
    release = tacit.Plan([mask.ControlledSample(fraction=1.0, balance=["age"])]).apply(data, seed=1)
    assert release.rows.tolist() == list(range(20))


def test_bad_input_is_refused():
    data = tacit.datasets.census(30)
    with pytest.raises(ParameterError, match="fraction"):
        mask.ControlledSample(balance=["age"])
    with pytest.raises(DataError, match="31 records"):
        tacit.Plan([mask.ControlledSample(size=31)]).apply(data)
    with pytest.raises(DataError, match="0 records"):
        tacit.Plan([mask.ControlledSample(fraction=0.001)]).apply(data)
    with pytest.raises(DataError, match="above 0"):
        tacit.Plan([mask.ControlledSample(size=5, proportional_to="income")]).apply(data)
    with pytest.raises(SchemaError, match="numeric"):
        tacit.Plan([mask.ControlledSample(size=5, balance=["sex"])]).apply(data)
    wide = pl.DataFrame({"c": [str(i) for i in range(500)]})
    with pytest.raises(DataError, match="too many categories"):
        tacit.Plan([mask.ControlledSample(size=5, counts=["c"])]).apply(wide)

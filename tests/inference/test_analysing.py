"""One analysis over all data sets of a release."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import inference, mask
from tacit.core.errors import DataError, ParameterError
from tacit.inference.analysing import learnt_from, n_learnt_from


@pytest.fixture(scope="module")
def release():
    data = tacit.datasets.census(600).drop(["household"])
    return tacit.Plan([mask.Synthesise(m=3)]).apply(data, seed=1)


def test_a_regression_is_combined_with_the_rule_of_the_method(release):
    found = inference.analyse(release, inference.Regression("income", ["age", "sex"]))
    assert found.rule == "simple"
    each = [
        inference.Regression("income", ["age", "sex"]).like(release.original)(d)
        for d in release.data_sets
    ]
    assert found.estimates == pytest.approx(np.mean([e.values for e in each], axis=0))


def test_a_model_of_statsmodels_is_run_over_the_data_sets(release):
    api = pytest.importorskip("statsmodels.api")

    def fit(frame):
        x = api.add_constant(frame.select("age", "hours").to_numpy().astype(float))
        return api.OLS(frame["income"].to_numpy(), x).fit()

    found = inference.analyse(release, fit, rule="simple")
    own = inference.analyse(
        tacit.Plan([mask.Synthesise(m=3)]).apply(release.original.drop(["weight"]), seed=1),
        inference.Regression("income", ["age", "hours"]),
    )
    assert len(found.names) == len(own.names) == 3
    assert np.all(found.errors > 0)


def test_nonsense_is_refused(release):
    with pytest.raises(ParameterError, match="params and bse"):
        inference.analyse(release, lambda frame: 3)
    plain = tacit.Plan([mask.Sample(fraction=0.5)]).apply(release.original, seed=1)
    with pytest.raises(ParameterError, match="does not say"):
        inference.analyse(plain, inference.Mean(columns=["age"]))
    with pytest.raises(DataError, match="different quantities"):
        inference.analyse(
            release,
            lambda f: inference.Estimates([f"{f['age'].sum()}"], np.ones(1), np.ones(1)),
        )


def test_sizes_are_compared_with_those_who_were_asked():
    """The population is in the file, but only the sample tells how sure an estimate is."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"x": rng.normal(size=900), "asked": np.arange(900) < 300})
    plan = tacit.Plan(
        [mask.FullySynthetic(background=["x"], sampled="asked", size=600, m=2, methods={})]
    )
    release = plan.apply(frame.with_columns(y=pl.col("x") + 1.0), seed=1)
    assert n_learnt_from(release) == 300
    assert learnt_from(release).n_records == 300


def test_steps_before_synthesis_count(release):
    plan = tacit.Plan([mask.Sample(fraction=0.5), mask.Synthesise(m=2), mask.RandomOrder()])
    made = plan.apply(release.original, seed=1)
    assert n_learnt_from(made) == made.steps[-3].n_records == 300


def test_a_total_is_that_of_the_original_however_many_records_are_drawn():
    frame = tacit.datasets.census(800).frame.select("age", "hours")
    total = inference.Total(["hours"])
    for size in (200, 800, 3200):
        plan = tacit.Plan([mask.Synthesise(m=2, size=size)])
        both = inference.compare(plan.apply(frame, seed=1), total)
        assert both.original.values[0] == pytest.approx(frame["hours"].sum())
        assert abs(both.standardised[0]) < 4
    known = inference.analyse(plan.apply(frame, seed=1), inference.Total(["hours"], 8_000))
    assert known.estimates[0] == pytest.approx(10 * frame["hours"].sum(), rel=0.05)

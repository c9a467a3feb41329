"""Analyses that are hurt."""

import tacit
from tacit import mask, utility
from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard
from tacit.report._hurt import MOST_PER_MEASURE, hurt_analyses


def card(**details):
    return Scorecard((), (Measurement("u", "Some measure", 1.0, "lower", details=details),), {}, {})


def test_each_kind_of_change_is_said_in_its_words():
    rows = [
        {"what": "mean of x", "original": 10.0, "release": 12.0, "overlap": 0.5},
        {"what": "mean of y", "original": 10.0, "release": 8.0, "relative": 0.2},
        {"what": "mean of z", "original": 10.0, "release": None, "relative": 1.0},
        {"what": "six", "difference": 2.0, "limit": 0.0, "group": "interest"},
    ]
    changes = [h.change.replace("\N{NO-BREAK SPACE}", " ") for h in hurt_analyses(card(worst=rows))]
    assert changes == [
        "10 became 12, intervals overlap by 50 %",
        "10 became 8 (−20 %)",
        "no value left",
        "2 too few",
    ]


def test_undefined_numbers_are_said_not_shown():
    rows = [{"what": "v", "original": float("nan"), "release": float("inf"), "loss": 1.0}]
    assert hurt_analyses(card(worst=rows))[0].change == "not defined became ∞"


def test_tables_and_coefficients():
    found = hurt_analyses(
        card(
            tables=[{"columns": ["a", "b"], "hellinger": 0.1, "total_variation": 0.25}],
            coefficients=[
                {"name": "kept", "overlap": 1.0},
                {"name": "age", "original": 1.0, "release": 2.0, "overlap": 0.0},
            ],
        )
    )
    assert [h.what for h in found] == ["Table of a by b", "Coefficient of age"]


def test_every_measure_contributes_a_few_and_identity_nothing():
    data = tacit.datasets.census(600)
    measures = [
        utility.AnalyticalValidity(), utility.ProbabilisticLoss(), utility.SubdomainMeans(),
        utility.SurveyEstimates(), utility.ContingencyLoss(),
        utility.LogLinearUtility(columns=["sex", "marital", "education"], criterion="aic"),
        utility.RegressionOverlap(response="income", predictors=["age", "sex"]),
    ]  # fmt: skip
    assert hurt_analyses(tacit.Plan().apply(data, seed=1).measure(measures)) == []
    plan = tacit.Plan(
        [
            mask.RankSwap(columns=["income", "age"], p=30),
            mask.Pram(columns=["marital", "sex"], stay=0.5),
        ]
    )
    found = hurt_analyses(plan.apply(data, seed=1).measure(measures))
    titles = [h.measure for h in found]
    assert set(titles) == {m.title for m in measures}
    assert max(titles.count(t) for t in titles) <= MOST_PER_MEASURE
    assert all(h.what and h.change for h in found)

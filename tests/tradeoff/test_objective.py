"""Axes and conditions: measures, keys, functions, and which way is good."""

import math

import pytest

import tacit
from tacit import mask, risk, utility
from tacit.core.errors import ParameterError, UnknownMethodError
from tacit.core.measurement import Measurement
from tacit.tradeoff.objective import Condition, Objective, identity, measured


@pytest.fixture(scope="module")
def release():
    data = tacit.datasets.census(200)
    return tacit.Plan([mask.RankSwap(columns=["income"], p=10)]).apply(data, seed=1)


def test_a_loss_on_an_axis_of_utility_changes_its_sign(release):
    loss = utility.InformationLoss(columns=["income"])
    axis = Objective.of(loss, "higher", "utility")
    value, raw = axis.value(release.original, release)
    assert value == -loss.measure(release.original, release).value < 0
    assert raw == {"Information loss": -value}


def test_a_risk_that_is_better_when_higher_is_turned(release):
    axis = Objective.of("k-anonymity", "lower", "risk")
    assert axis.value(release.original, release)[0] == -1.0


def test_several_measures_are_averaged_and_named(release):
    axis = Objective.of([lambda o, r: 1.0, lambda o, r: 3.0], "lower", "risk")
    assert axis.value(release.original, release)[0] == 2.0


def test_a_function_may_return_a_measurement(release):
    def loss(original, released):
        return Measurement("x", "X", 0.25, "lower")

    assert Objective.of(loss, "higher", "utility").value(release.original, release)[0] == -0.25
    assert measured(loss, release.original, release) == (0.25, "lower")


@pytest.mark.parametrize("wrong", [3, None, []])
def test_what_is_no_measure_is_refused(wrong):
    with pytest.raises(ParameterError):
        Objective.of(wrong, "lower", "risk")


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(UnknownMethodError, match="k-anonymity"):
        Objective.of("k-anonymty", "lower", "risk")


def test_a_function_that_returns_no_number_is_refused(release):
    with pytest.raises(ParameterError, match="must return a number"):
        Objective.of(lambda o, r: "many", "lower", "risk").value(release.original, release)


def test_conditions():
    least, most = Condition(risk.KAnonymity(), at_least=5), Condition(lambda o, r: 0, at_most=0.05)
    assert least.is_met(5)
    assert not least.is_met(4)
    assert most.shortfall(0.10) == pytest.approx(1.0)
    assert most.shortfall(0.05) == 0.0
    assert least.shortfall(math.nan) == math.inf
    assert least.words == "k-anonymity at least 5"
    assert Condition("k-anonymity", at_least=3).is_met(3)


@pytest.mark.parametrize("limits", [{}, {"at_least": 1, "at_most": 2}, {"at_most": math.inf}])
def test_a_condition_has_one_limit(limits):
    with pytest.raises(ParameterError):
        Condition(risk.KAnonymity(), **limits)


def test_identity_tells_parameters_apart():
    axes = [Objective.of(risk.KAnonymity(k=k), "lower", "risk") for k in (3, 3, 5)]
    told = [identity([axis], ()) for axis in axes]
    assert told[0] == told[1] != told[2]
    assert identity([axes[0]], (Condition(risk.KAnonymity(), at_least=2),)) != told[0]

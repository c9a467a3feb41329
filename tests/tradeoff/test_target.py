"""Targets: words, conditions, refusals."""

import numpy as np
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import ParameterError, SchemaError, UnknownColumnError
from tacit.tradeoff import Analysis, Target
from tacit.tradeoff.target import KeptAnalysis, Linkable


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("k >= 5", {"k": 5, "linkable": None}),
        ("k = 3 on the keys", {"k": 3}),
        ("k ≥ 4; linkable <= 10 %", {"k": 4, "linkable": 0.1}),
        ("at most 5 % linkable", {"k": None, "linkable": 0.05}),
        ("at most 2,5 percent linkable", {"linkable": 0.025}),
        ("linkable at most 0.2", {"linkable": 0.2}),
    ],
)
def test_words_are_understood(words, expected):
    found = Target.of(words)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    "words",
    [
        "keep the regression of Last income on Age, State and Sex",
        "Last income ~ Age + State + Sex",
        "regression of Last income on Age, State, Sex",
    ],
)
def test_analyses_are_understood(words):
    expected = Analysis(response="Last income", predictors=("Age", "State", "Sex"))
    assert Target.of(words).keep == (expected,)


@pytest.mark.parametrize(
    "words", ["", ";", "be safe", "k >= many", "at most 200 % linkable", "k=1"]
)
def test_other_words_are_refused(words):
    with pytest.raises(ParameterError):
        Target.of(words)


def test_conditions_measure_what_the_words_say():
    data = tacit.datasets.patients(300)
    target = Target.of("k >= 3; at most 40 % linkable; keep Income ~ Age")
    release = tacit.Plan([mask.LocalSuppression(k=3, missing="strict")]).apply(data, seed=1)
    k, linkable, kept = target.conditions(data)
    assert k.value(data, release) == risk.KAnonymity().measure(data, release).value >= 3
    assert k.is_met(3)
    assert not linkable.is_met(0.41)
    assert 0 <= kept.value(data, release) <= 1


def test_an_analysis_that_cannot_be_run_is_lost():
    data = tacit.datasets.patients(100)
    kept = KeptAnalysis(analysis=Analysis(response="Income", predictors=["Age"]))
    assert kept(data, data) == 1.0
    assert kept(data, data.drop(["Age"])) == 0.0


def test_linkable_is_the_strongest_intruder():
    data = tacit.datasets.patients(300)
    release = tacit.Plan([mask.Recode(column="Age", width=20)]).apply(data, seed=1)
    keys = data.schema.keys
    parts = [
        risk.IdentificationRisk(keys=keys).measure(data, release).value,
        risk.ProbabilisticLinkage(attributes=keys).measure(data, release).value,
        risk.DistanceLinkage(attributes=keys).measure(data, release).value,
    ]
    parts.append(float(np.mean(1 / risk.KAnonymity().measure(data, release).per_unit)))
    assert Linkable().measure(data, release).value == pytest.approx(max(parts))


def test_boxes_that_no_measure_can_read_are_taken_as_found():
    """Mondrian with k = 5: an intruder finds the box; the share linked is at least boxes / n."""
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.Mondrian(k=5)]).apply(data, seed=1)
    sizes = risk.KAnonymity().measure(data, release).per_unit
    found = Linkable().measure(data, release)
    assert found.value >= np.mean(1 / sizes) - 1e-12
    assert found.details["classes"] > 0.1


def test_targets_need_keys_and_known_columns():
    data = tacit.datasets.patients(20)
    with pytest.raises(SchemaError, match="no column is one"):
        Target().conditions(data.with_roles(keys=[]))
    with pytest.raises(UnknownColumnError):
        Target.of("k >= 2; keep Salary ~ Age").conditions(data)
    assert Target(k=None, linkable=None).conditions(data) == ()

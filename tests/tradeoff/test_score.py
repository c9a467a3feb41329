"""The score of DF07: its formula, its weights, and its parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import mask, risk, utility
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.tradeoff import Score

percent = st.floats(0, 100)


@given(percent, percent, percent, percent)
def test_the_published_formula(il, dld, pld, within):
    """Score = (IL + ((0.5 DLD + 0.5 PLD) + ID) / 2) / 2, section Score construction of DF07."""
    expected = (il + ((0.5 * dld + 0.5 * pld) + within) / 2) / 2
    found = Score().combine(loss=il, distance=dld, probabilistic=pld, interval=within)
    assert found == pytest.approx(expected)


def test_by_hand():
    """(20 + ((15 + 5) + 40) / 2) / 2 = 25."""
    assert Score().combine(loss=20, distance=30, probabilistic=10, interval=40) == 25.0


def test_weights_of_the_user():
    parts = {"loss": 10.0, "distance": 80.0, "probabilistic": 40.0, "interval": 20.0}
    assert Score(loss_weight=0).combine(**parts) == pytest.approx(40.0)
    assert Score(loss_weight=0, linkage_weight=1).combine(**parts) == pytest.approx(60.0)
    only_distance = Score(loss_weight=0, linkage_weight=1, distance_weight=1)
    assert only_distance.combine(**parts) == pytest.approx(80.0)


@pytest.mark.parametrize("weight", [-0.1, 1.1, "half"])
def test_bad_weights(weight):
    with pytest.raises(ParameterError):
        Score(loss_weight=weight)


@pytest.fixture(scope="module")
def release():
    data = tacit.datasets.census(300)
    return tacit.Plan([mask.RankSwap(columns=["age", "hours", "income"], p=10)]).apply(data, seed=2)


def test_parts_are_those_of_the_measures(release):
    names = ["age", "hours", "income"]
    found = Score(attributes=names).measure(release.original, release)
    d = release.original
    assert found.details["IL"] == pytest.approx(
        100 * utility.InformationLoss(columns=names).measure(d, release).value
    )
    for part, measure in (
        ("DLD", risk.DistanceLinkage),
        ("PLD", risk.ProbabilisticLinkage),
        ("ID", risk.IntervalDisclosure),
    ):
        expected = 100 * measure(attributes=names).measure(d, release).value
        assert found.details[part] == pytest.approx(expected)
    parts = found.details
    linked = 0.5 * parts["DLD"] + 0.5 * parts["PLD"]
    assert found.value == pytest.approx((parts["IL"] + (linked + parts["ID"]) / 2) / 2)


def test_several_intruders_are_averaged(release):
    sets = [["age"], ["age", "income"]]
    both = Score(attributes=["age", "income"], known=sets).risk.measure(release.original, release)
    alone = [
        Score(attributes=["age", "income"], known=[s]).risk.measure(release.original, release)
        for s in sets
    ]
    expected = sum(a.details["DLD"] for a in alone) / 2
    assert both.details["DLD"] == pytest.approx(expected)


def test_doing_nothing_scores_a_half():
    data = tacit.datasets.census(200)
    found = Score(attributes=["income", "hours", "age"]).measure(data, data)
    assert found.details["IL"] == pytest.approx(0.0)
    assert 40 <= found.value <= 50


def test_files_without_numbers_are_refused():
    data = tacit.datasets.patients()
    with pytest.raises(SchemaError):
        Score(attributes=["State"]).measure(data, data)
    words = tacit.Microdata.of(data.local.select("State", "Diagnosis"))
    with pytest.raises(DataError, match="has none"):
        Score().measure(words, words)

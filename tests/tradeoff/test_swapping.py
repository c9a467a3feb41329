"""Data swapping as a decision problem, equations (1) to (5) of KS."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk, tradeoff
from tacit.core.errors import ParameterError
from tacit.tradeoff import ModelUtility, SwappingDistortion, SwappingRisk, swap_candidates
from tacit.tradeoff.swapping import swapped_attributes

A = ["x", "y", "z"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, 400)
    y = (x + (rng.random(400) < 0.3)) % 3
    z = rng.integers(0, 12, 400)
    frame = pl.DataFrame({"x": x, "y": y, "z": z}).cast(pl.String)
    return tacit.Microdata.of(frame).with_roles(keys=A)


def test_enumeration():
    """8 attributes: 8 alone and 28 pairs, each at 4 rates."""
    names = [f"v{i}" for i in range(8)]
    assert len(swap_candidates(mask.DataSwap, names, [0.01, 0.02, 0.05, 0.1])) == 36 * 4


def test_constraints_on_unswapped_attributes():
    found = swap_candidates(
        mask.DataSwap, A, [0.1], sizes=[1], constraints=[None, "equal", "different"]
    )
    assert len(found) == 3 * (1 + 2 + 2)
    steps = [c.places[0][0] for c in found]
    assert all(not set(s.columns) & set(s.equal or ()) for s in steps)
    only = swap_candidates(
        mask.DataSwap, A, [0.1], sizes=[1], constraints=["equal"], constrained=["z"]
    )
    assert [s.places[0][0].columns for s in only] == [("x",), ("y",)]


def test_no_swap_no_distortion(data):
    """oracles.md: no swap gives DD = 0 and DU_llm = 0."""
    for distance in ("hellinger", "total-variation", "entropy"):
        assert SwappingDistortion(A, distance).measure(data, data).value == pytest.approx(0.0)
    assert ModelUtility(A).measure(data, data).value == 0.0


def test_risk_looks_at_what_the_plan_swapped(data):
    release = tacit.Plan([mask.DataSwap(columns=["z"], rate=0.5)]).apply(data, seed=1)
    expected = risk.SwappingRisk(columns=A, swapped=["z"]).measure(data, release).value
    assert SwappingRisk(A).measure(data, release).value == expected
    assert swapped_attributes(release.plan) == ("z",)
    assert swapped_attributes(None) == ()


def test_total_variation_by_hand():
    before = tacit.Microdata.of(pl.DataFrame({"x": list("aabb"), "y": list("ppqq")}))
    after = tacit.Microdata.of(pl.DataFrame({"x": list("abab"), "y": list("ppqq")}))
    found = SwappingDistortion(["x", "y"], "total-variation").measure(before, after)
    assert found.value == pytest.approx(0.5)
    entropy = SwappingDistortion(["x", "y"], "entropy").measure(before, after)
    assert entropy.value == pytest.approx(np.log(2)) or entropy.value == pytest.approx(1.0)


def test_the_decision(data):
    """The optimal release (4) is the most useful one within the bound, found by looking at all."""
    candidates = swap_candidates(mask.DataSwap, A, [0.05, 0.3])
    front = tradeoff.search(
        data,
        candidates,
        risk=SwappingRisk(A),
        utility=SwappingDistortion(A),
        budget=tradeoff.Effort(evaluations=len(candidates), replicates=1),
        seed=1,
    )
    assert len(front.tried) == len(candidates)
    alpha = np.median([p.risk for p in front.tried])
    best = front.best(max_risk=alpha)
    allowed = [p for p in front.tried if p.risk <= alpha]
    assert best.utility == max(p.utility for p in allowed)


def test_bad_input():
    with pytest.raises(ParameterError, match="no method for swapping"):
        swap_candidates(mask.Mdav, A, [0.1])
    for wrong in ({"rates": []}, {"sizes": [4]}, {"sizes": [0]}):
        with pytest.raises(ParameterError):
            swap_candidates(mask.DataSwap, A, **{"rates": [0.1], **wrong})
    with pytest.raises(ParameterError):
        SwappingDistortion(A, "euclid")

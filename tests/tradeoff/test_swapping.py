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
    assert entropy.value == pytest.approx(1.0)  # from two cells to four: one bit


# -- a file of six records, worked out on paper ---------------------------------------------------

BEFORE = {"x": list("aaabbb"), "y": list("pppqqp")}
AFTER = {"x": list("aabbab"), "y": list("pppqqp")}
"""The x of records 3 and 5 was exchanged. Cells before: ap 3, bq 2, bp 1; after: ap 2, bp 2, bq 1,
aq 1."""


def six(columns):
    return tacit.Microdata.of(pl.DataFrame(columns))


def test_risk_1_by_hand():
    """Unswapped are records 1, 2, 4, 6; their cells ap, ap, bq, bp hold 2, 2, 1, 2: all small."""
    found = risk.SwappingRisk(columns=["x", "y"], swapped=["x"]).measure(six(BEFORE), six(AFTER))
    assert found.value == pytest.approx(4 / 4)
    ones = risk.SwappingRisk(columns=["x", "y"], swapped=["x"], smallest=1)
    assert ones.measure(six(BEFORE), six(AFTER)).value == pytest.approx(1 / 4)
    # Not swapped at all: of six records the two of bq and the one of bp stand in small cells.
    none = risk.SwappingRisk(columns=["x", "y"]).measure(six(BEFORE))
    assert none.value == pytest.approx(3 / 6)


def test_distortion_2_by_hand():
    """Tables (ap, aq, bp, bq): 3, 0, 1, 2 before and 2, 1, 2, 1 after, of 6."""
    p, q = np.array([3, 0, 1, 2]) / 6, np.array([2, 1, 2, 1]) / 6
    expected = {
        "total-variation": 2 / 6,
        "hellinger": np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2),
        # H before: 1.459148 bits; after: 1.918296 bits
        "entropy": 1.918296 - 1.459148,
    }
    for distance, value in expected.items():
        found = SwappingDistortion(["x", "y"], distance).measure(six(BEFORE), six(AFTER))
        assert found.value == pytest.approx(value, abs=1e-6), distance


def test_utility_3_by_hand():
    """The model of independence of x and y, BIC's choice for six records.

    Fitted to the margins before, x 3:3 and y 4:2, its cells are 1/3, 1/6, 1/3, 1/6. Both tables
    have these margins, so both have the log-likelihood 4 ln(1/3) + 2 ln(1/6): no utility is lost
    although the table changed.
    """
    found = ModelUtility(["x", "y"], largest=1).measure(six(BEFORE), six(AFTER))
    assert found.value == pytest.approx(0.0, abs=1e-9)
    # The model is fitted again: y 1:5 after instead of 4:2 changes its part of the log-likelihood.
    other = six({"x": list("aabbab"), "y": list("pqqqqq")})
    changed = ModelUtility(["x", "y"], largest=1).measure(six(BEFORE), other)
    after, before = np.log(1 / 6) + 5 * np.log(5 / 6), 4 * np.log(4 / 6) + 2 * np.log(2 / 6)
    assert changed.details["du_llm"] == pytest.approx(after - before, abs=1e-6)
    assert changed.value == pytest.approx(-abs(after - before), abs=1e-6)  # any change is a loss


def test_order_5_and_optimum_4_by_hand():
    """b beats c; a and b do not compare. Within a risk of 0.25 the most useful is b."""
    a, b, c = (tradeoff.Point(n, r, u) for n, r, u in (("a", 0.1, 1), ("b", 0.2, 3), ("c", 0.2, 2)))
    assert c.precedes(b)
    assert not a.precedes(b)
    assert not b.precedes(a)
    front = tradeoff.Frontier.of([c, b, a])
    assert front.points == (a, b)
    assert front.best(max_risk=0.25) is b
    assert front.best(max_risk=0.15) is a


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

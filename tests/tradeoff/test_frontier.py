"""The frontier under the partial order (5) of KS."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import ParameterError, ProtectionError
from tacit.tradeoff import Frontier, Point
from tacit.tradeoff.frontier import better, maximal, ranks

points = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda t: Point(str(t), t[0], t[1])),
    min_size=1,
    max_size=25,
)


@given(points)
def test_maximal_elements_by_definition(given_points):
    """No release of the frontier is beaten; every release is reached by one of the frontier."""
    front = maximal(given_points)
    for p in front:
        better = [
            q for q in given_points
            if p.precedes(q) and (q.risk < p.risk or q.utility > p.utility)
        ]  # fmt: skip
        assert better == []
    for p in given_points:
        assert any(p.precedes(q) for q in front)
    assert [p.risk for p in front] == sorted(p.risk for p in front)
    assert len({(p.risk, p.utility) for p in front}) == len(front)


@given(points)
def test_ranks_are_layers(given_points):
    layer = ranks(given_points)
    assert {given_points[i].label for i in range(len(layer)) if layer[i] == 0} == {
        p.label for p in maximal(given_points)
    }
    assert min(layer) == 0


def front():
    return Frontier.of([Point("a", 1, 10), Point("b", 3, 20), Point("c", 5, 25), Point("d", 4, 15)])


def test_best_by_bound_is_equation_4():
    assert front().best(max_risk=4).label == "b"
    assert front().best(min_utility=11).label == "b"
    assert front().best(max_risk=5, min_utility=21).label == "c"


def test_best_by_a_function_of_the_user():
    assert front().best(by=lambda p: p.utility - 10 * p.risk).label == "a"
    assert front().best(by=lambda p: p.utility, max_risk=3).label == "b"


def test_a_bound_that_nothing_meets_is_refused():
    with pytest.raises(ProtectionError, match="risk from 1 to 5"):
        front().best(max_risk=0.5)
    with pytest.raises(ParameterError, match="say what best means"):
        front().best()


def test_conditions_come_first():
    bad = Point("bad", 0, 99, shortfalls={"k": 0.5})
    good = Point("good", 5, 1, shortfalls={"k": 0.0})
    found = Frontier.of([bad, good])
    assert [p.label for p in found] == ["good"]
    alone = Frontier.of([bad, Point("worse", 0, 99, shortfalls={"k": 0.9})])
    assert [p.label for p in alone] == ["bad"]
    with pytest.raises(ProtectionError):
        alone.best(max_risk=1)


def test_noise_that_cannot_be_told_apart():
    a = Point("a", 1.0, 5.0, risk_interval=(0.8, 1.2), utility_interval=(4, 6))
    b = Point("b", 1.1, 5.5, risk_interval=(0.9, 1.3), utility_interval=(5, 6))
    c = Point("c", 3.0, 5.0)
    found = Frontier.of([a, b, c])
    assert found.like(a) == [b]


def test_covering_a_curve():
    curve = [Point("x", 3, 19), Point("y", 6, 25)]
    assert front().covers(curve) == (True, True)
    assert front().covers([Point("z", 2, 20)]) == (False, False)
    assert front().covers([Point("b", 3, 20)]) == (True, False)


def test_hypervolume_by_hand():
    """Corner (6, 0): 5*10 + 3*10 + 1*5 = 85."""
    assert front().hypervolume(max_risk=6, min_utility=0) == 85


def test_numbers_must_be_numbers():
    with pytest.raises(ParameterError, match="are numbers"):
        Frontier.of([Point("x", math.nan, 1)])


def test_a_point_without_plan_cannot_be_released():
    with pytest.raises(ParameterError, match="no plan"):
        front().release(front().points[0])


def test_printing_names_the_releases():
    assert str(front()).splitlines()[1].endswith("a")


def test_the_better_ones_are_taken_all_along_a_layer():
    """Of ten on the frontier four are kept: both ends and two between, not the four safest."""
    front = [Point(str(i), i, i) for i in range(10)]
    beaten = [Point("x", 20, 1)]
    assert [p.label for p in better([*beaten, *front], 4)] == ["0", "3", "6", "9"]
    assert [p.label for p in better([*beaten, *front], 11)][-1] == "x"
    assert better([], 3) == []

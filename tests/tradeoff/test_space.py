"""Spaces of plans: counting, addressing, refusing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import ParameterError
from tacit.tradeoff import Between, Candidate, Try, Varied
from tacit.tradeoff.space import Space


def test_declared_values_are_open_and_given_ones_fixed():
    step = Varied(mask.PartitionedMdav, columns=["a"], k=4)
    assert dict(step.spaces) == {"variables_per_group": Try(2, 3, 4)}
    assert step.filled([0.99]).variables_per_group == 4
    assert step.filled([0.0]).k == 4


def test_a_parameter_that_may_be_left_out_is_left_out():
    assert "diversity" not in Varied(mask.Generalise).spaces
    given = Varied(mask.Generalise, diversity=Try(2, 3))
    assert given.filled([0.0] * len(given.spaces)).diversity == 2


def test_the_key_of_a_method_will_do():
    assert Varied("rank-swap", columns=["a"], p=3).filled([]) == mask.RankSwap(columns=["a"], p=3)


def test_sizes_are_counted():
    alternatives = [None, Varied(mask.Mdav, columns=["a"], k=Between(3, 6))]
    space = Space.of([[Varied(mask.RankSwap, columns=["a"]), alternatives], mask.RandomOrder()])
    assert space.size == 5 * (1 + 4) + 1
    plans = [p.to_toml() for p in space.every()]
    assert len(plans) == len(set(plans)) == 26


def test_a_range_without_steps_cannot_be_counted():
    assert Space.of([Varied(mask.RankSwap, columns=["a"], p=Between(1.0, 2.0))]).size == math.inf


@given(st.integers(1, 5), st.integers(6, 40), st.floats(0, 1), st.booleans())
def test_ranges_stay_inside(low, high, u, log):
    whole, real = Between(low, high, log=log), Between(float(low), float(high), log=log)
    assert whole.at(u) in range(low, high + 1)
    assert isinstance(whole.at(u), int)
    assert low * (1 - 1e-6) <= real.at(u) <= high * (1 + 1e-6)


_numbers = st.lists(st.floats(0, 1), min_size=3, max_size=3)
_options = st.lists(st.tuples(st.integers(0, 99), _numbers), min_size=2, max_size=2)


@given(st.integers(0, 500), _options)
def test_every_address_leads_to_a_plan(which, options):
    space = Space.of(
        [
            [Varied(mask.RankSwap, columns=["a"]), [None, mask.RandomOrder()]],
            Varied(mask.VMdav, columns=["a"]),
        ]
    )
    plan = space.plan(which, [(i, tuple(u)) for i, u in options])
    assert 1 <= len(plan) <= 2
    assert plan.to_toml() in {p.to_toml() for p in space.every()}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Between(2, 2),
        lambda: Between(0, 2, log=True),
        lambda: Between(1, math.inf),
        lambda: Between(1, 2, step=5),
        lambda: Varied(tacit.risk.KAnonymity),
        lambda: Varied(mask.RankSwap, columns=["a"], q=1),
        lambda: Varied(mask.RankSwap, columns=["a"], p=Try(-1, -2)),
        lambda: Candidate([]),
        lambda: Candidate(["mdav"]),
        lambda: Candidate([[]]),
        lambda: Space.of([]),
        lambda: Space.of([mask.RankSwap]),
        lambda: Space.of("mdav"),
    ],
)
def test_bad_spaces_are_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()

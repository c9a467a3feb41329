"""Singling out: a copy is open, independent people are near the baseline."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError

ATTACK = risk.SinglingOut(attacks=150, width=4)


def test_a_copy_lets_every_condition_succeed():
    data = tacit.datasets.census(400)
    assert ATTACK.measure(data, data.frame.drop("person_id")).value == 1


def test_synthetic_records_are_safer_than_a_swapped_file():
    data = tacit.datasets.census(1500).drop(["household"])
    made = tacit.Plan([mask.Synthesise()]).apply(data, seed=1)
    swapped = tacit.Plan([mask.RankSwap(columns=["income"], p=2)]).apply(data, seed=1)
    assert ATTACK.measure(data, made).value < ATTACK.measure(data, swapped).value


def test_files_of_other_people_do_no_better_than_the_release():
    first, second = (tacit.datasets.census(1500, seed=s) for s in (1, 2))
    found = ATTACK.measure(first, second.frame)
    assert found.value < 0.5
    assert found.interval[0] <= found.value <= found.interval[1]


def test_nobody_can_be_singled_out_of_a_crowd():
    frame = pl.DataFrame({"x": ["a", "b"] * 50, "y": np.ones(100)})
    found = risk.SinglingOut(attacks=20).measure(frame)
    assert found.value == 0
    assert found.details["conditions"] == 0
    with pytest.raises(DataError, match="at least one record"):
        ATTACK.measure(frame, frame.clear())

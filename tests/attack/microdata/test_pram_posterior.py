"""The posterior of PRAM: categories that mostly stay are known, redrawn ones are not."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, mask


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"ill": rng.choice(["a", "b", "c"], 3000, p=[0.4, 0.35, 0.25])})
    return tacit.Microdata.of(frame).with_roles(confidential=["ill"])


def run(data, stay):
    other = (1 - stay) / 2
    matrix = {k: {c: stay if k == c else other for c in "abc"} for k in "abc"}
    step = mask.Pram(columns=["ill"], invariant=False, matrix=matrix)
    return attack.PramPosterior().run(tacit.Plan([step]).apply(data, seed=1))


def test_what_stays_is_named(data):
    found = run(data, 0.9)
    assert found.leaked
    assert found.success.value == pytest.approx(0.9, abs=0.02)  # the released value is likeliest


def test_what_is_drawn_anew_is_guessed(data):
    found = run(data, 1 / 3)
    assert not found.leaked
    assert found.success.value == pytest.approx(0.4, abs=0.04)

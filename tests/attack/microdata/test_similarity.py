"""Similarity: different numbers that are all alike."""

import numpy as np
import polars as pl

import tacit
from tacit import attack


def file(spread, n=400):
    rng = np.random.default_rng(4)
    group = np.arange(n) // 8
    income = 1000.0 * rng.integers(1, 20, n // 8)[group] + spread * rng.random(n)
    frame = pl.DataFrame({"g": group.astype(str), "income": income})
    return tacit.Microdata.of(frame).with_roles(keys=["g"], confidential=["income"])


def test_close_numbers_are_known_though_all_differ():
    data = file(10.0)
    assert attack.Homogeneity().run((data, data)).success.n == 0
    found = attack.Similarity().run((data, data))
    assert (found.success.value, found.success.n) == (1.0, 400)
    assert found.leaked


def test_classes_with_spread_allow_no_claim():
    data = file(10_000.0)
    assert attack.Similarity().run((data, data)).success.n == 0


def test_ranges_of_exchanged_numbers_are_guesses():
    data, other = file(10.0), file(10.0)
    moved = other.local.with_columns(pl.Series("g", np.roll(other.local["g"].to_numpy(), 8)))
    found = attack.Similarity().run(attack.MicrodataTarget(data, other.with_local(moved)))
    exchanged = attack.MicrodataTarget(
        data,
        data.with_local(
            data.local.with_columns(
                pl.Series("income", np.roll(data.local["income"].to_numpy(), 80))
            )
        ),
    )
    assert found.success.value == 1.0  # new names of classes change nothing
    wrong = attack.Similarity().run(exchanged)
    assert wrong.success.n > 0
    assert not wrong.leaked

"""Background knowledge: two values in a class, one of them ruled out."""

import numpy as np
import polars as pl

import tacit
from tacit import attack


def file(values_per_class, n=400):
    rng = np.random.default_rng(3)
    group = np.arange(n) // 8
    start = rng.integers(0, 6, n // 8)[group]
    ill = (start + np.arange(n) % values_per_class) % 6
    frame = pl.DataFrame({"g": group.astype(str), "ill": ill.astype(str)})
    return tacit.Microdata.of(frame).with_roles(keys=["g"], confidential=["ill"])


def test_two_values_are_one_too_few():
    data = file(2)
    found = attack.BackgroundKnowledge().run((data, data))
    assert (found.success.value, found.success.n) == (1.0, 400)
    assert found.leaked
    assert found.baseline.value < 0.4  # one of five values that are left


def test_four_values_withstand_one_exclusion_and_not_three():
    data = file(4)
    held = attack.BackgroundKnowledge().run((data, data))
    assert held.success.n == 0
    assert not held.leaked
    known = attack.Knowledge(excluded=3)
    assert attack.BackgroundKnowledge().run((data, data), known).success.value == 1.0


def test_claims_about_exchanged_values_are_no_better_than_guesses():
    """Classes get the values of other classes: two each, one ruled out, claims are mostly wrong."""
    data = file(2)
    moved = data.local.with_columns(pl.Series("ill", np.roll(data.local["ill"].to_numpy(), 8 * 13)))
    found = attack.BackgroundKnowledge().run(attack.MicrodataTarget(data, data.with_local(moved)))
    assert found.success.n > 100
    assert found.success.low <= found.baseline.high
    assert not found.leaked


def test_nothing_ruled_out_is_no_attack():
    data = file(2)
    known, attacks = attack.Knowledge(excluded=0), [attack.BackgroundKnowledge()]
    report = attack.audit((data, data), known, attacks=attacks)
    assert "rule out nothing" in report.left_out["background-knowledge"]

"""Attribute inference: own records are learnt by heart, exchanged ones are not."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack


@pytest.fixture(scope="module")
def data():
    """Illness depends a little on the keys, which are almost unique."""
    rng = np.random.default_rng(8)
    age, place = rng.integers(0, 90, 800), rng.integers(0, 40, 800)
    ill = np.where(rng.random(800) < 0.3 + 0.4 * (age > 45), "yes", "no")
    frame = pl.DataFrame({"age": age, "place": place.astype(str), "ill": ill})
    return tacit.Microdata.of(frame).with_roles(keys=["age", "place"], confidential=["ill"])


def redrawn(data):
    """Return records whose illness is drawn again from the same relation."""
    rng = np.random.default_rng(9)
    age = data.local["age"].to_numpy()
    ill = np.where(rng.random(len(age)) < 0.3 + 0.4 * (age > 45), "yes", "no")
    numbered = data.numbered()
    return numbered.with_local(numbered.local.with_columns(pl.Series("ill", ill)))


def test_a_file_as_it_is_is_learnt_by_heart(data):
    found = attack.AttributeInference().run((data, data))
    assert found.success.value > 0.95
    assert found.baseline.value < 0.75
    assert found.leaked


def test_what_everybody_could_infer_is_no_leak(data):
    """The relation is kept and useful; own values are not told."""
    found = attack.AttributeInference().run(attack.MicrodataTarget(data, redrawn(data)))
    assert found.success.value > 0.5
    assert not found.leaked


def test_a_hold_out_is_the_control_of_synthetic_records(data):
    inside, outside = data.take(np.arange(400)), data.take(np.arange(400, 800))
    known = attack.Knowledge(holdout=outside)
    copied = attack.AttributeInference().run((inside, inside), known)
    assert copied.leaked
    fresh = redrawn(data).take(np.arange(400, 800)).drop([])
    target = attack.MicrodataTarget(
        inside, tacit.Microdata.of(fresh.local.drop("__tacit_row__")).with_schema(inside.schema)
    )
    assert not attack.AttributeInference().run(target, known).leaked


def test_constant_values_are_no_news(data):
    same = data.with_local(data.local.with_columns(pl.lit("yes").alias("ill")))
    assert not attack.AttributeInference().run((same, same)).leaked

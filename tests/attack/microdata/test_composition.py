"""Composition: two safe releases that are not safe together."""

import numpy as np
import polars as pl

import tacit
from tacit import attack


def releases(second_values, n=480):
    """Two releases, each with classes of four values; they meet in one value only."""
    rng = np.random.default_rng(3)
    ill = np.array(list("abcdefgh"))[np.arange(n) % 8]
    frame = pl.DataFrame({"g": ["x"] * n, "ill": ill})
    data = tacit.Microdata.of(frame).with_roles(keys=["g"], confidential=["ill"])
    numbered = data.numbered()
    value = np.arange(n) % 8
    one = np.where(value < 4, "first", "second")  # abcd and efgh
    crossed = np.where(
        value % 4 == 0, "p", np.where(value % 4 == 1, "q", np.where(value % 4 == 2, "r", "s"))
    )
    two = {"crossed": crossed, "same": one, "random": rng.choice(["u", "v"], n)}[second_values]
    made = [numbered.with_local(numbered.local.with_columns(pl.Series("g", g))) for g in (one, two)]
    return attack.MicrodataTarget(data, made[0], None, (made[1],))


def test_classes_that_cross_leave_one_value():
    found = attack.Composition().run(releases("crossed"))
    assert (found.success.value, found.baseline.value) == (1.0, 0.0)
    assert found.leaked


def test_the_same_classes_tell_nothing_more():
    assert attack.Composition().run(releases("same")).success.value == 0.0


def test_classes_at_random_tell_nothing_more():
    found = attack.Composition().run(releases("random"))
    assert found.success.n == 480
    assert not found.leaked


def test_one_release_is_not_attacked():
    target = releases("same")
    alone = attack.MicrodataTarget(target.original, target.released)
    report = attack.audit(alone, attacks=[attack.Composition()])
    assert "only one release" in report.left_out["composition"]

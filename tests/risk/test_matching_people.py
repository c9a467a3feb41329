"""People who find themselves: by hand and against brute force."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import risk
from tacit.core.errors import DataError


def people(keys, income, ill):
    frame = pl.DataFrame({"k": keys, "income": income, "ill": ill})
    return tacit.Microdata.of(frame).with_roles(keys=["k"], confidential=["income", "ill"])


def test_by_hand():
    original = people(["a", "a", "b", "c"], [100.0, 200.0, 300.0, None], ["x", "x", "y", "y"])
    release = people(["a", "b", "b", "c"], [100.5, 300.0, 150.0, None], ["x", "x", "y", "y"]).frame
    found = risk.MatchingPeople(tolerance=0.01).measure(original, release)
    assert found.per_unit.tolist() == [True, False, False, False]
    assert risk.MatchingPeople(tolerance=0.001).measure(original, release).value == 0


@given(seed=st.integers(0, 10_000))
def test_as_brute_force_finds(seed):
    rng = np.random.default_rng(seed)

    def file(n):
        return people(
            rng.choice(["a", "b"], n),
            rng.integers(1, 9, n).astype(float),
            rng.choice(["x", "y"], n),
        )

    original, release = file(15), file(12)
    found = risk.MatchingPeople(tolerance=0.2).measure(original, release.frame)
    expected = [
        any(k == a and i == c and abs(y - x) <= 0.2 * x + 1e-12 for a, y, c in release.frame.rows())
        for k, x, i in original.frame.rows()
    ]
    assert found.per_unit.tolist() == expected


def test_nothing_to_find_is_refused():
    original = people(["a"], [1.0], ["x"])
    with pytest.raises(DataError, match="none of the confidential"):
        risk.MatchingPeople().measure(original, original.frame.select("k"))

"""MDAV on a graphics processor forms the groups of the processor, ties and all."""

import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.numpy_device import numpy_device

import tacit
from tacit import mask
from tacit.core.progress import listening
from tacit.mask.mdav import mdav_groups


@pytest.fixture(autouse=True, scope="module")
def _device():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", numpy_device)
        yield


@pytest.mark.parametrize(("n", "k"), [(3, 3), (8, 3), (9, 3), (12, 3), (700, 3), (2500, 10)])
def test_groups_are_the_same(n, k):
    values = np.random.default_rng(n).standard_normal((n, 4))
    before = values.copy()
    found = mdav_groups(values, k, device="gpu")
    assert np.array_equal(found, mdav_groups(values, k))
    assert np.array_equal(values, before)


@settings(max_examples=60)
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(5, 60), st.integers(1, 3)),
        elements=st.integers(-3, 3).map(float),
    ),
    k=st.integers(2, 5),
    standardise=st.booleans(),
)
def test_ties_are_broken_the_same_way(values, k, standardise):
    found = mdav_groups(values, k, standardise=standardise, device="gpu")
    assert np.array_equal(found, mdav_groups(values, k, standardise=standardise))


def test_equal_records_too():
    values = np.ones((50, 2))
    assert np.array_equal(mdav_groups(values, 4, device="gpu"), mdav_groups(values, 4))


def test_a_plan_gives_the_same_release_with_missing_values_and_strata():
    rng = np.random.default_rng(1)
    x = [None if rng.random() < 0.1 else float(v) for v in rng.standard_normal(200)]
    table = pl.DataFrame({"x": x, "y": rng.standard_normal(200), "s": ["a", "b"] * 100})
    parameters = {"columns": ["x", "y"], "k": 3, "within": ["s"]}
    releases = [
        tacit.Plan([mask.Mdav(**parameters, device=device)]).apply(table, seed=1).frame
        for device in ("cpu", "gpu")
    ]
    assert releases[0].equals(releases[1])


def test_progress_is_reported():
    heard = []

    class Listener:
        def task(self, title, total):
            from contextlib import nullcontext

            return nullcontext(heard.append)

    with listening(Listener()):
        mdav_groups(np.random.default_rng(0).standard_normal((300, 2)), 3, device="gpu")
    assert 300 - 9 < sum(heard) <= 300

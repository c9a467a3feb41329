"""Agencies in one process."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import ParameterError
from tacit.federated import COUNTS, Policy, StoppedError, secure_sum, simulate
from tacit.federated.analysis import analysis_from


@settings(max_examples=15)
@given(st.integers(3, 6), st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_a_secure_sum_is_the_sum(k, length, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(0, 1e6, (k, length))
    assert np.allclose(secure_sum(vectors), vectors.sum(axis=0), rtol=1e-12, atol=1e-9)


def test_matrices_and_counts():
    parts = [np.full((3, 4), k) for k in (1, 2, 4)]
    assert np.array_equal(secure_sum(parts, encoding=COUNTS), np.full((3, 4), 7))


def test_different_shapes_are_refused():
    with pytest.raises(ParameterError):
        secure_sum([[1], [1, 2], [1]])


def test_parts_in_order_and_by_name_give_the_same(parts):
    named = simulate(parts, "count")
    assert simulate(list(parts.values()), "count")["n"] == named["n"]
    assert named.agencies == tuple(parts)


def test_an_analysis_comes_with_or_without_parameters(parts):
    analysis = analysis_from({"analysis": "count"})
    assert simulate(parts, analysis)["n"] == simulate(parts, "count")["n"]
    with pytest.raises(ParameterError):
        simulate(parts, analysis, variables=["age"])


def test_policies_by_name(parts):
    with pytest.raises(StoppedError, match="agency-01: fewer than 1000"):
        simulate(parts, "count", policy={"agency-01": Policy(min_records=1000)})


def test_pandas_frames_work(parts):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(p.to_dict(as_series=False)) for p in parts.values()]
    assert simulate(frames, "count")["n"] == sum(len(p) for p in parts.values())

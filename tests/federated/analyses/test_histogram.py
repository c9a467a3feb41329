"""Histograms and quantiles by bins."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import ParameterError
from tacit.federated import Policy, StoppedError, simulate


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_counts_are_the_pooled_ones(seed):
    rng = np.random.default_rng(seed)
    parts = [pl.DataFrame({"v": rng.integers(0, 4, 60).astype(float)}) for _ in range(3)]
    answer = simulate(
        parts, "histogram", variable="v", edges=[0.5, 1.5, 2.5], policy=Policy(min_cell=1)
    )
    assert answer["counts"] == np.bincount(pl.concat(parts)["v"].cast(pl.Int64)).tolist()


def test_small_pooled_bins_are_joined_with_a_neighbour():
    parts = [pl.DataFrame({"v": [0.0] * 20 + [5.0] * 2 + [9.0] * 20}) for _ in range(3)]
    lax = {f"agency-{i}": Policy(min_cell=2) for i in (1, 2)} | {"agency-3": Policy(min_cell=2)}
    answer = simulate(parts, "histogram", variable="v", edges=[1, 6], policy=lax)
    assert answer["counts"] == [60, 6, 60]
    with pytest.raises(StoppedError, match="a bin of this agency has a cell of fewer than 3"):
        simulate(parts, "histogram", variable="v", edges=[1, 6])


def test_quantiles_lie_in_the_right_bins():
    rng = np.random.default_rng(5)
    parts = [pl.DataFrame({"v": rng.normal(0, 1, 400)}) for _ in range(3)]
    edges = np.linspace(-1.6, 1.6, 17).tolist()
    answer = simulate(parts, "quantiles", variable="v", edges=edges, probabilities=[0.1, 0.5, 0.9])
    pooled = pl.concat(parts)["v"].to_numpy()
    for found in answer["quantiles"]:
        true = np.quantile(pooled, found["p"])
        assert found["between"][0] <= true <= found["between"][1]
        assert found["value"] == pytest.approx(true, abs=0.05)


def test_a_quantile_outside_the_edges_is_refused():
    parts = [pl.DataFrame({"v": np.arange(40.0)}) for _ in range(3)]
    with pytest.raises(StoppedError, match="outside the edges"):
        simulate(parts, "quantiles", variable="v", edges=[30.0, 35.0], probabilities=[0.1])


@pytest.mark.parametrize(
    "given_",
    [
        {"edges": []},
        {"edges": [2, 1]},
        {"edges": [1.0, float("inf")]},
    ],
    ids=["none", "falling", "infinite"],
)
def test_bad_edges_are_refused(given_, parts):
    with pytest.raises(ParameterError):
        simulate(parts, "histogram", variable="age", **given_)
    with pytest.raises(ParameterError):
        simulate(parts, "quantiles", variable="age", edges=[1], probabilities=[1.0])

"""A quantile found in the engine is the one found by sorting."""

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core import engine_quantile
from tacit.core.engine_quantile import VALUE, WEIGHT, weighted_quantile_in_engine
from tacit.mask._tail import weighted_quantile


def lazy(values, weights):
    table = pl.DataFrame({VALUE: values, WEIGHT: weights})
    return nw.from_native(duckdb.from_arrow(table.to_arrow())).lazy()


@pytest.mark.parametrize("share", [0.001, 0.5, 0.93, 0.9999])
@pytest.mark.parametrize("few", [1, 40])
def test_skewed_values_with_ties_and_weights(share, few, monkeypatch):
    monkeypatch.setattr(engine_quantile, "_FEW", few)
    rng = np.random.default_rng(5)
    values = np.where(rng.random(3000) < 0.3, 0.0, rng.lognormal(5, 3, 3000).round(2))
    weights = rng.integers(1, 9, 3000).astype(float)
    found = weighted_quantile_in_engine(lazy(values, weights), share)
    assert found == weighted_quantile(values, weights, share)


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=30),
    st.floats(0.01, 0.99),
)
def test_any_values(values, share):
    weights = np.ones(len(values))
    expected = weighted_quantile(np.array(values), weights, share)
    assert weighted_quantile_in_engine(lazy(values, weights), share) == expected

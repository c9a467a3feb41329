"""Means and deviations."""

import numpy as np
import polars as pl
import pytest

from tacit.federated import Policy, StoppedError, simulate


def test_the_result_is_the_pooled_one():
    rng = np.random.default_rng(1)
    parts = [pl.DataFrame({"a": rng.normal(1e9, 1e-2, 30), "b": rng.random(30)}) for _ in range(4)]
    parts[0] = parts[0].with_columns(b=pl.when(pl.int_range(30) < 5).then(None).otherwise("b"))
    answer = simulate(parts, "mean", variables=["a", "b"])
    pooled = pl.concat(parts).drop_nulls()
    assert answer["n"] == len(pooled)
    for name in "ab":
        assert answer["means"][name] == pytest.approx(pooled[name].mean(), rel=1e-15)
        assert answer["deviations"][name] == pytest.approx(pooled[name].std(), rel=1e-6)


def test_a_mark_on_one_record_is_refused():
    parts = [pl.DataFrame({"mark": [1.0] + [0.0] * 30}) for _ in range(3)]
    with pytest.raises(StoppedError, match="differ from all the others"):
        simulate(parts, "mean", variables=["mark"])


def test_few_records_are_refused():
    parts = [pl.DataFrame({"a": np.arange(5.0)}) for _ in range(3)]
    with pytest.raises(StoppedError, match="fewer than 10 complete records"):
        simulate(parts, "mean", variables=["a"])
    assert simulate(parts, "mean", variables=["a"], policy=Policy(min_records=5))["n"] == 15

"""Counts of records and values."""

import polars as pl
import pytest

from tacit.federated import StoppedError, simulate


def test_records_and_values_are_counted():
    parts = [pl.DataFrame({"a": [None] * k + ["x"] * 20}) for k in range(3)]
    answer = simulate(parts, "count", variables=["a"])
    assert answer["n"] == 63
    assert answer["known"] == {"a": 60}


def test_an_empty_agency_refuses():
    parts = [pl.DataFrame({"a": [1.0] * n}) for n in (20, 20, 0)]
    with pytest.raises(StoppedError, match="agency-3: fewer than 10"):
        simulate(parts, "count")

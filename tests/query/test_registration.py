"""Categories, cutpoints and scales are fixed once."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import query
from tacit.core.errors import SchemaError
from tacit.query.registration import Binned, between, bin_labels, register
from tacit.query.source import Source

SECRET = b"a long and secret phrase"
NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@given(NUMBERS, NUMBERS)
def test_a_cutpoint_lies_between(a, b):
    low, high = sorted((a, b))
    cut = between(low, high)
    assert low < cut <= high or low == high == cut


def test_few_digits():
    assert between(41_237.5, 45_678.9) in (42_000.0, 45_000.0)
    assert between(0.12345, 0.12999) == pytest.approx(0.129, abs=0.0011)
    assert bin_labels([]) == ["any"]


def test_bins_hold_enough_and_are_not_extremes(people):
    schema, engine = register(Source(people, unit="id"), SECRET, Binned(minimum=100, most=8))
    income = schema.variables["income"]
    held = np.histogram(people["income"], [-np.inf, *income.edges, np.inf])[0]
    assert held.min() >= 100
    assert len(held) <= 8
    assert engine.one_record_per_unit


def test_own_cutpoints_and_rare_categories(people):
    frame = people.with_columns(region=pl.when(pl.col("id") < 4).then(pl.lit("X"))
                                .when(pl.col("id") < 7).then(pl.lit("Y"))
                                .otherwise(pl.col("region")))  # fmt: skip
    source = Source(frame, unit="id", bins={"age": [65, 18]})
    schema, _ = register(source, SECRET, Binned(rare=10))
    assert schema.variables["age"].edges == (18.0, 65.0)
    assert schema.variables["region"].labels == ("N", "S", "W", "other")
    server = query.Server(query.Source(frame, unit="id"), query.Policy(name="p", rare=10))
    table = server.ask({"method": "crosstab", "by": ["region"]}).frame
    assert table.filter(pl.col("region") == "other")["count"].item() == 7
    narrowed = server.ask(
        {"method": "crosstab", "by": ["sex"], "universe": {"region": "other"}}
    ).frame["count"].sum()  # fmt: skip
    assert narrowed == 7


def test_the_version_follows_units_and_categories(people):
    versions = {
        register(Source(frame, unit="id"), SECRET, Binned())[0].version
        for frame in (people, people.reverse(), people.head(1999))
    }
    assert len(versions) == 2


def test_a_forgotten_identifier_is_refused(people):
    """Names of categories are public: whoever forgets to declare the names of people learns it."""
    named = people.with_columns(name=pl.format("Person {}", "id"))
    with pytest.raises(SchemaError, match="'name' names most records") as error:
        register(Source(named, unit="id"), SECRET, Binned())
    assert "--identifier" in str(error.value)
    chosen, _ = register(Source(named, unit="id", categories=["name"]), SECRET, Binned())
    assert len(chosen.variables["name"].labels) == people.height
    pooled, _ = register(Source(named, unit="id"), SECRET, Binned(rare=10))
    assert pooled.variables["name"].labels == ("other",)

"""What every masking method must do, whoever wrote it.

A new method needs no test here: it is found in the registry and tried with its own ``example``.
"""

import json
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.bundle import input_digest
from tacit.core.errors import SchemaError
from tacit.core.schema import Kind, Role

every_mask = pytest.mark.parametrize("method", tacit.methods("mask"), ids=lambda m: m.key)


def applied(method, data, seed=1):
    return tacit.Plan([method(**method.example)]).apply(data, seed=seed)


def touched(method, data):
    """Columns that a mask may change: those its parameters name, or else the keys; and weights."""
    named = set(re.findall(r"\w+", json.dumps(method(**method.example).as_dict())))
    columns = named & set(data.columns) or set(data.schema.keys) | set(data.schema.linked)
    if "reweight" in method.model_fields:
        columns |= set(data.schema.names(Role.WEIGHT))
    return columns


def check_consistent(release):
    """Check that a release is what its schema says."""
    data, table = release.data, release.data.local
    assert release.frame.columns == data.columns
    assert not set(release.original.schema.identifiers) & set(data.columns)
    assert len(release.rows) == data.n_records
    assert np.all((release.rows >= -1) & (release.rows < release.original.n_records))
    for variable in data.schema.variables:
        column = table[variable.name]
        if variable.kind is Kind.NUMERIC:
            assert column.dtype.is_numeric(), variable.name
            assert not (column.dtype.is_float() and column.is_nan().any()), variable.name
        if variable.kind is Kind.ORDINAL and variable.categories is not None:
            values = set(column.drop_nulls().cast(pl.String))
            assert values <= set(variable.categories), variable.name
    assert data.broken_constraints() is not None
    assert release.newly_broken is not None


@pytest.fixture
def usable(census, accepted):
    """Function that returns data a method accepts: with missing values, or else without."""

    def usable(method):
        with_gaps = census(missing=0.05)
        return census() if accepted(applied, method, with_gaps) is None else with_gaps

    return usable


@every_mask
def test_example_gives_a_consistent_release(method, census, usable):
    check_consistent(applied(method, census()))
    check_consistent(applied(method, usable(method)))


@every_mask
def test_example_does_something(method, census):
    data = census()
    release = applied(method, data)
    before = data.drop(data.schema.identifiers).frame
    assert not release.frame.equals(before)


@every_mask
def test_input_is_untouched(method, usable):
    data = usable(method)
    digest, copy, schema = input_digest(data), data.frame.clone(), data.schema
    applied(method, data)
    assert input_digest(data) == digest
    assert data.frame.equals(copy)
    assert data.schema == schema


@every_mask
def test_same_seed_same_output(method, usable):
    first, second = (applied(method, usable(method), seed=8) for _ in range(2))
    assert first.frame.equals(second.frame)
    assert np.array_equal(first.rows, second.rows)


@every_mask
def test_random_numbers_come_from_the_generator_alone(method, census):
    np.random.seed(1)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    applied(method, census())
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@every_mask
def test_other_columns_are_equal(method, usable):
    data = usable(method)
    release = applied(method, data)
    real = release.rows >= 0
    original = data.local[release.rows[real]]
    released = release.frame.filter(real)
    for column in set(release.data.columns) - touched(method, data):
        assert released[column].equals(original[column]), column


@every_mask
def test_works_without_weights_households_and_roles(method, census, accepted):
    bare = census().drop(["weight", "household", "person_id"])
    check_consistent(applied(method, bare))
    release = accepted(applied, method, bare.frame)
    if release is not None:
        check_consistent(release)


@every_mask
def test_edge_cases_work_or_are_refused(method, edge, accepted):
    release = accepted(applied, method, edge)
    if release is not None:
        check_consistent(release)


@every_mask
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    missing=st.sampled_from([0.0, 0.3, 0.8]),
)
def test_any_data_work_or_are_refused(method, accepted, n, seed, missing):
    data = tacit.datasets.census(n, seed=seed, missing=missing)
    release = accepted(applied, method, data, seed)
    if release is not None:
        check_consistent(release)


@every_mask
def test_a_column_that_is_not_there_is_named(method, census):
    named = touched(method, census()) & set(map(str, _texts(method.example)))
    if not named:
        pytest.skip("the example names no column")
    column = min(named)
    with pytest.raises(SchemaError, match=f"no column '{column}'"):
        applied(method, census().drop([column]))


def _texts(value):
    if isinstance(value, dict):
        return [t for v in value.values() for t in _texts(v)]
    if isinstance(value, list | tuple):
        return [t for v in value for t in _texts(v)]
    return [value] if isinstance(value, str) else []

"""What every generator promises."""

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import datasets
from tacit.core.data import Microdata
from tacit.core.digest import frame_digest
from tacit.core.errors import ParameterError
from tacit.core.hierarchy import ANY

GENERATORS = [datasets.patients, datasets.census, datasets.establishments, datasets.query_log]


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_gives_same_records_and_another_seed_others(make):
    assert frame_digest(make(300, seed=4).frame) == frame_digest(make(300, seed=4).frame)
    assert frame_digest(make(300, seed=4).frame) != frame_digest(make(300, seed=5).frame)


@pytest.mark.parametrize("make", GENERATORS)
def test_the_default_seed_is_fixed(make):
    assert frame_digest(make(50).frame) == frame_digest(make(50).frame)


@pytest.mark.parametrize("make", GENERATORS)
def test_result_is_microdata_over_polars_with_roles(make):
    data = make(50)
    assert isinstance(data, Microdata)
    assert isinstance(data.frame, pl.DataFrame)
    assert data.schema.identifiers
    assert data.schema.confidential
    assert all(v.roles for v in data.schema.variables)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_sizes_keep_columns_and_types(make, n):
    tiny, large = make(n).frame, make(400).frame
    assert tiny.schema == large.schema
    if make is datasets.query_log:
        assert tiny["user"].n_unique() == n
    else:
        assert len(tiny) == n


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("bad", [-1, 2.5, "10", True, float("nan")])
def test_bad_sizes_are_refused(make, bad):
    name = "n_users" if make is datasets.query_log else "n"
    with pytest.raises(ParameterError, match=rf"^{name} must be a whole number"):
        make(bad)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("bad", [-1, None, 1.5, "x"])
def test_bad_seeds_are_refused(make, bad):
    with pytest.raises(ParameterError, match="seed"):
        make(5, seed=bad)


@pytest.mark.parametrize("make", GENERATORS)
def test_numpy_integers_are_sizes_too(make):
    assert frame_digest(make(np.int64(20)).frame) == frame_digest(make(20).frame)


@pytest.mark.parametrize("make", GENERATORS)
def test_no_edit_rule_is_broken(make):
    assert not any(make(5000).broken_constraints().values())


@pytest.mark.parametrize("make", GENERATORS)
def test_every_value_of_a_coded_column_is_in_its_tree(make):
    data = make(3000)
    for variable in data.schema.variables:
        if variable.hierarchy is None or variable.name == "query":
            continue
        hierarchy = variable.hierarchy
        levels = [
            data.lazy.select(hierarchy.generalise(_column(variable.name), level))
            .collect("polars")
            .to_native()
            .to_series()
            for level in range(hierarchy.n_levels)
        ]
        assert set(levels[-1]) == {ANY}
        if hierarchy.n_levels > 2:
            assert ANY not in set(levels[1])
        distinct = [level.n_unique() for level in levels]
        assert distinct == sorted(distinct, reverse=True)


def _column(name):
    import narwhals as nw

    return nw.col(name)


@pytest.mark.parametrize("make", GENERATORS)
def test_every_ordinal_value_is_a_declared_category(make):
    data = make(3000)
    for variable in data.schema.variables:
        if variable.categories:
            assert set(data.local[variable.name]) <= set(variable.categories)


@pytest.mark.parametrize("make", GENERATORS)
def test_schema_survives_toml(make):
    schema = make(20).schema
    assert type(schema).from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize("make", GENERATORS)
def test_documentation_says_synthetic_and_what_it_resembles(make):
    assert "ynthetic" in make.__doc__
    assert "resembling" in make.__doc__


def test_a_million_census_records_come_in_seconds():
    started = time.perf_counter()
    assert datasets.census(1_000_000).local.height == 1_000_000
    assert time.perf_counter() - started < 60  # about 1 s; the two cores may be shared


@given(n=st.integers(0, 200), seed=st.integers(0, 2**64))
@settings(max_examples=25, deadline=None)
def test_any_size_and_seed_work(n, seed):
    for make in GENERATORS:
        data = make(n, seed=seed)
        assert not any(data.broken_constraints().values())
        assert all(data.local[c].null_count() == 0 for c in data.schema.keys)


def test_nothing_depends_on_the_clock():
    folder = Path(datasets.__file__).parent
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "today()" not in text
        assert ".now(" not in text

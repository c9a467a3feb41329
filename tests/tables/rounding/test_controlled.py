import time
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import tables
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables import Dimension, Sensitive, Table
from tacit.tables._grid import grid_codes, grid_relations


def _rounded(table, **options):
    method = tables.ControlledRounding(**options)
    return method.protect(table, Sensitive.none(table.n_cells))


def _two_way(rows, columns, seed, high=40):
    rng = np.random.default_rng(seed)
    dimensions = (
        Dimension.flat("a", [f"a{i}" for i in range(rows)]),
        Dimension.flat("b", [f"b{i}" for i in range(columns)]),
    )
    return _full(rng.integers(0, high, (rows, columns)).astype(float), dimensions)


def _full(values, dimensions):
    for axis, dimension in enumerate(dimensions):
        values = np.moveaxis(
            np.tensordot(dimension.contains.toarray(), values, axes=(1, axis)), 0, axis
        )
    return Table(
        value=values.ravel(), relations=grid_relations(dimensions), dimensions=dimensions,
        codes=grid_codes(dimensions), variable="v",
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from([3, 5, 10]))
def test_tables_of_two_dimensions_always_round_and_add_up(rows, columns, seed, base):
    table = _two_way(rows, columns, seed)
    found = _rounded(table, base=base)
    assert np.all(table.relations @ found.published == 0)
    assert np.all(found.published % base == 0)
    assert np.all(np.abs(found.published - table.value) < base)
    whole = table.value % base == 0
    assert np.all(found.published[whole] == table.value[whole])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_rounding_is_the_nearest_there_is(seed):
    """Brute force over every way to round the leaves of a 2 by 3 table."""
    table, base = _two_way(2, 3, seed), 5
    leaves = np.flatnonzero(~table.is_total)
    low = np.floor(table.value / base)
    choices = [{low[i], np.ceil(table.value[i] / base)} for i in leaves]
    best = np.inf
    for units in product(*choices):
        inner = np.array(units).reshape(2, 3) * base
        full = _full(inner, table.dimensions).value
        if np.all(np.abs(full - table.value) < base):
            best = min(best, np.abs(full - table.value).sum())
    assert _rounded(table, base=base).notes["distance"] == pytest.approx(best)


@pytest.mark.parametrize("block", [20_000, 50])
def test_hierarchies_add_up_whole_or_in_blocks(block):
    rng = np.random.default_rng(7)
    region = Dimension.nested(
        "region",
        {"Total": ["N", "S", "W"]} | {r: [f"{r}{i}" for i in range(4)] for r in "NSW"},
    )
    nace = Dimension.nested("nace", {"Total": ["A", "B"], "A": ["A1", "A2"], "B": ["B1", "B2"]})
    size = Dimension.flat("size", ["1", "2", "3"])
    table = _full(rng.integers(0, 60, (12, 4, 3)).astype(float), (region, nace, size))
    found = _rounded(table, base=10, block=block, steps=1)
    assert np.all(table.relations @ found.published == 0)
    assert np.all(found.published % 10 == 0)
    assert np.all(np.abs(found.published - table.value) < 20)
    assert (found.notes["in blocks"]) == (block == 50)


@pytest.mark.parametrize("block", [20_000, 5])
def test_linked_tables_add_up_and_agree(block):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {name: rng.choice(list(codes), 300) for name, codes in
         (("region", "ABCD"), ("sex", "mf"), ("age", "123456"))}
    )  # fmt: skip
    pairs = (["region", "sex"], ["region", "age"], ["age", "sex"])
    linked = tables.link({"-".join(by): tables.tabulate(frame, by) for by in pairs})
    found = _rounded(linked, base=5, steps=1, block=block)
    assert np.all(linked.relations @ found.published == 0)
    for part in found.split().values():
        assert np.all(part.original.relations @ part.published == 0)


def test_steps_help_where_no_zero_restricted_table_adds_up():
    """Three ones that add up to 3 with frozen parts cannot be rounded to base 2 within one step."""
    table = _full(np.ones(3), (Dimension.flat("a", ["x", "y", "z"]),))
    frozen = np.zeros(4, dtype=bool)
    with pytest.raises(DataError, match="not additive"):
        _rounded(table.replace(value=np.array([4.0, 1, 1, 1])), base=2)
    frozen[table.cell(a="x")] = True
    with pytest.raises(ProtectionError, match="as they are"):
        _rounded(table.replace(frozen=frozen), base=2)


def test_multiples_may_move_when_asked(small):
    found = _rounded(small, base=7, keep_multiples=False, steps=1)
    assert np.all(small.relations @ found.published == 0)
    assert np.all(found.published >= 0)


def test_infeasible_rounding_is_refused_with_advice():
    # 0 = x - y is impossible when both must go to different multiples: frozen total of 10 and
    # parts 1 and 9 that may become 0 or 5 and 5 or 10 only; 5 + 5 works, so freeze one part.
    table = _full(np.array([5.0, 2.0, 2.0]), (Dimension.flat("a", ["x", "y", "z"]),))
    frozen = np.zeros(4, dtype=bool)
    frozen[table.cell(a="x")] = True
    found = _rounded(table.replace(frozen=frozen), base=5)
    assert found.published[table.cell(a="x")] == 5
    assert np.all(table.relations @ found.published == 0)


def test_bad_parameters_are_named():
    with pytest.raises(ParameterError):
        tables.ControlledRounding(base=5, steps=-1)


def test_a_large_table_is_searched_within_its_time():
    """Three dimensions, far more cells than a block: additive, near, and in time."""
    rng = np.random.default_rng(7)
    dimensions = tuple(Dimension.flat(n, [f"{n}{i}" for i in range(k)]) for n, k in
                       (("a", 20), ("b", 20), ("c", 6)))  # fmt: skip
    values = rng.integers(0, 40, (20, 20, 6)) * (rng.random((20, 20, 6)) < 0.6)
    table = _full(values.astype(float), dimensions)
    _rounded(_two_way(4, 4, 1), base=5, block=1)  # compiled before the clock starts
    began = time.perf_counter()
    found = _rounded(table, base=10, steps=1, block=500, seconds=2)
    assert time.perf_counter() - began < 2 + 60  # the machine may be busy
    assert found.notes["in blocks"]
    assert not found.notes["optimal"]
    assert not np.any(table.relations @ found.published)
    assert np.abs(found.published - table.value).max() < 20
    whole = table.value % 10 == 0
    np.testing.assert_array_equal(found.published[whole], table.value[whole])
    assert found.published.min() >= 0


@pytest.mark.parametrize("block", [1, 10_000])
def test_a_table_without_zero_restricted_rounding_is_refused(block):
    """Three dimensions of three codes, base 2; with multiples free it can be done."""
    cells = [[[0, 0, 1], [0, 1, 0], [0, 0, 0]],
             [[1, 0, 0], [1, 0, 1], [0, 1, 0]],
             [[1, 1, 0], [1, 0, 0], [0, 0, 0]]]  # fmt: skip
    dimensions = tuple(Dimension.flat(n, [f"{n}{i}" for i in range(3)]) for n in "abc")
    table = _full(np.array(cells, dtype=float), dimensions)
    with pytest.raises(ProtectionError, match="steps=1"):
        _rounded(table, base=2, block=block, seconds=2)
    found = _rounded(table, base=2, block=block, seconds=2, steps=1, keep_multiples=False)
    assert not np.any(table.relations @ found.published)

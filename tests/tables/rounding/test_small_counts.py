import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import tables
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables import Dimension, Sensitive


def _table(seed, n=300):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2", "S3"], n),
            "age": rng.choice([f"{a:02d}" for a in range(12)], n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    nested = {"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}
    return tables.tabulate(frame, ["region", "age", "sex"], hierarchies={"region": nested})


def _rounded(table, **options):
    method = tables.SmallCountRounding(**options)
    return method.protect(table, Sensitive.none(table.n_cells))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(2, 6))
def test_no_small_count_is_left_anywhere_and_all_sums_hold(seed, n, base):
    table = _table(seed, n)
    found = _rounded(table, base=base)
    assert np.all(table.relations @ found.published == 0)
    assert not np.any((found.published > 0) & (found.published < base))
    leaves = ~table.is_total
    large = leaves & ((table.value >= base) | (table.value == 0))
    np.testing.assert_array_equal(found.published[large], table.value[large])


def test_sums_stay_closer_than_by_nearest_or_by_lot():
    table = _table(1)
    leaves = ~table.is_total
    searched = np.abs(_rounded(table).published - table.value)
    rng = np.random.default_rng(2)
    count = table.value[leaves]
    for up in (count >= 2, rng.random(len(count)) < count / 3):
        rounded = np.where((count > 0) & (count < 3), np.where(up, 3, 0), count)
        change = rounded.sum() - count.sum()
        assert searched[0] <= max(abs(change), 1)
    assert searched[0] <= 1
    assert searched.mean() < 0.9


def test_more_sweeps_do_not_hurt():
    table = _table(5)
    squares = [
        ((_rounded(table, sweeps=sweeps).published - table.value) ** 2).sum() for sweeps in (0, 12)
    ]
    assert squares[1] <= squares[0]


def test_the_same_table_rounds_the_same():
    assert np.array_equal(_rounded(_table(3)).published, _rounded(_table(3)).published)


def test_a_table_without_small_counts_stays(full_table):
    table = full_table([5, 0, 9], Dimension.flat("a", ["x", "y", "z"]))
    assert np.array_equal(_rounded(table).published, table.value)


def test_what_it_cannot_protect_is_refused(full_table, small):
    with pytest.raises(DataError, match="tables of counts"):
        _rounded(small)
    table = full_table([5, 1, 9], Dimension.flat("a", ["x", "y", "z"]))
    cells = np.zeros(4, dtype=bool)
    cells[table.cell(a="x")] = True
    with pytest.raises(ProtectionError, match=r"\(x\)"):
        tables.SmallCountRounding().protect(table, Sensitive.by("hand", cells, 1.0))
    frozen = np.zeros(4, dtype=bool)
    frozen[table.cell(a="y")] = True
    with pytest.raises(ProtectionError, match="as they are"):
        _rounded(table.replace(frozen=frozen))
    with pytest.raises(ParameterError):
        tables.SmallCountRounding(base=1)


def test_frozen_sums_are_not_changed(full_table):
    table = full_table([2, 2, 2, 9], Dimension.flat("a", list("wxyz")))
    with pytest.raises(ProtectionError, match=r"as they are.*\(Total\)"):
        # 15 less 6 and plus a multiple of 3 is never 15 with twos at 0 or 3 ... but 0, 3, 3 is.
        _rounded(full_table([2, 2, 9], Dimension.flat("a", list("xyz"))).freeze([0]))
    kept = _rounded(table.freeze([0])).published
    assert kept[0] == 15


def test_more_protection_than_the_base_gives_is_refused(full_table):
    table = full_table([5, 1, 9], Dimension.flat("a", ["x", "y", "z"]))
    cells = np.arange(4) == table.cell(a="y")
    with pytest.raises(ProtectionError, match="raise the base"):
        tables.SmallCountRounding().protect(table, Sensitive.by("hand", cells, 2.5))


def test_linked_tables_are_refused_in_words():
    frame = pl.DataFrame({"a": list("xxyyy"), "b": list("pqpqq"), "c": list("mnmnm")})
    linked = tables.link({k: tables.tabulate(frame, ["a", k]) for k in ("b", "c")})
    with pytest.raises(DataError, match="linked"):
        _rounded(linked)

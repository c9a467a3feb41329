"""JJ files: there and back, and every mistake named by its line."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import ReadError
from tacit.io import read_jj, write_jj

SMALL = """0
4
0 60 60 s 0 100 0 0 0
1 10 10 u 0 100 2 3 1
2 20 20 m 0 100 0 0 0
3 30 30 z 0 100 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""


@pytest.fixture
def written(tmp_path):
    def written(text):
        path = tmp_path / "table.jj"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_a_small_file_is_read(written):
    table = read_jj(written(SMALL))
    assert table.value.tolist() == [60, 10, 20, 30]
    assert table.relations.toarray().tolist() == [[-1, 1, 1, 1]]
    found = table.sensitive()
    assert found.primary.tolist() == [1]
    assert (found.below[1], found.above[1]) == (2, 3)
    assert table.flags("forced").tolist() == [False, False, True, False]
    assert table.flags("frozen").tolist() == [False, False, False, True]
    assert table.bounds[1].tolist() == [100] * 4
    table.check_additive()


def test_a_sliding_level_is_never_lost(written):
    """It becomes levels on both sides: what passes them is at least as wide as was asked."""
    table = read_jj(written(SMALL.replace("2 3 1\n", "2 3 9\n")))
    found = table.sensitive()
    assert (found.below[1], found.above[1]) == (4, 5)


def test_the_leading_zero_may_be_left_out(written):
    assert read_jj(written(SMALL.removeprefix("0\n"))).n_cells == 4


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1 10 10 u", "1 ten 10 u", "line 4 of table.jj: expected a number"),
        ("2 20 20 m", "2 20 20 q", "line 5 of table.jj: no such status"),
        ("2 20 20 m", "1 20 20 m", "its number twice"),
        ("3 (1)\n", "7 (1)\n", "a cell that is not there"),
        ("0 4 :", "0 3 :", "a relation is written"),
        ("0 4 :", "5 4 :", "must be zero"),
        ("\n0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)", "", "the file ends, 1 relations are missing"),
        ("0 60 60 s 0 100 0 0 0", "0 60 60 s 0 100", "a cell has 9 entries"),
    ],
)
def test_mistakes_are_named_by_their_line(written, old, new, said):
    with pytest.raises(ReadError, match=said):
        read_jj(written(SMALL.replace(old, new)))


def test_a_pattern_from_a_file_is_protected_like_any_table(written):
    text = SMALL.replace("2 20 20 m", "2 20 20 s").replace("3 30 30 z", "3 30 30 s")
    made = read_jj(written(text)).protect(tables.SuppressOptimal())
    assert made.suppressed.tolist() == [False, True, True, False]
    assert made.audit().passed


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8), st.integers(0, 7))
def test_there_and_back(tmp_path_factory, parts, k):
    from scipy.sparse import csr_array

    value = np.array([sum(parts), *parts])
    row = csr_array(np.array([[-1.0] + [1.0] * len(parts)]))
    unsafe = np.zeros(len(value), bool)
    unsafe[k % len(value)] = True
    table = tables.Table(value, row, unsafe=unsafe).with_levels(unsafe, below=1.5, above=2.5)
    path = tmp_path_factory.mktemp("jj") / "t.jj"
    write_jj(table, path)
    again = read_jj(path)
    assert np.allclose(again.value, value, rtol=1e-14)
    assert (again.relations != row).nnz == 0
    assert again.sensitive().primary.tolist() == table.sensitive().primary.tolist()
    assert again.sensitive().above.tolist() == table.sensitive().above.tolist()


def test_levels_of_a_rule_are_written(tmp_path):
    frame = pl.DataFrame({"r": list("AABB"), "x": [90, 5, 40, 50]})
    table = tacit.tabulate(frame, "r", "x")
    found = table.sensitive(tables.PPercent(p=10))
    write_jj(table, tmp_path / "t.jj", found)
    again = read_jj(tmp_path / "t.jj")
    assert again.sensitive().primary.tolist() == found.primary.tolist()
    assert np.allclose(again.sensitive().above, found.above)

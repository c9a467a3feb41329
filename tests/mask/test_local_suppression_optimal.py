"""The integer program against trying every suppression, and against the greedy search."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import ParameterError
from tacit.mask._local_suppression_optimal import suppress_optimally


def compatible(codes, row):
    return ((codes == row) | (codes == -1) | (row == -1)).all(axis=1).sum()


def is_safe(codes, k):
    return all(compatible(codes, row) >= k for row in codes)


def fewest(codes, k):
    """Blank more and more cells of the records at risk until some choice is safe."""
    rare = [i for i in range(len(codes)) if compatible(codes, codes[i]) < k]
    cells = [(i, j) for i in rare for j in range(codes.shape[1]) if codes[i, j] >= 0]
    for number in range(len(cells) + 1):
        for chosen in itertools.combinations(cells, number):
            tried = codes.copy()
            for i, j in chosen:
                tried[i, j] = -1
            if is_safe(tried, k):
                return number
    return None


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=2, max_size=5),
    st.integers(2, 3),
)
def test_no_choice_of_fewer_cells_is_safe(rows, k):
    codes = np.array(rows)
    if len(codes) < k:
        return
    blank = suppress_optimally(codes, [[0, 1]], k, np.ones(2))
    assert is_safe(np.where(blank, -1, codes), k)
    assert blank.sum() == fewest(codes, k)


def test_it_is_never_worse_than_the_greedy_search():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = pl.DataFrame({c: rng.integers(0, 3, 12) for c in "abc"})

        def cells(search, table=table):
            method = mask.LocalSuppression(keys=["a", "b", "c"], k=3, search=search)
            return sum(tacit.Plan([method]).apply(table, seed=1).frame.null_count().row(0))

        assert cells("optimal") <= cells("greedy")
        assert cells("auto") == cells("optimal")


def test_costs_and_several_combinations_are_heeded():
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    dear = suppress_optimally(codes, [[0, 1, 2]], 2, np.array([np.inf, 1.0, 1.0]))
    assert not dear[:, 0].any()
    pairs = suppress_optimally(codes, [[0, 1], [1, 2]], 2, np.ones(3))
    released = np.where(pairs, -1, codes)
    assert is_safe(released[:, [0, 1]], 2)
    assert is_safe(released[:, [1, 2]], 2)


def test_large_files_and_the_strict_reading_are_refused():
    table = pl.DataFrame({"a": list(range(500))})
    with pytest.raises(ParameterError, match="small files"):
        tacit.Plan([mask.LocalSuppression(keys=["a"], search="optimal")]).apply(table)
    strict = mask.LocalSuppression(keys=["a"], search="optimal", missing="strict")
    with pytest.raises(ParameterError, match="wildcards"):
        tacit.Plan([strict]).apply(table.head(10))

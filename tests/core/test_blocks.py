"""Blocks: similar records together, equal ones always, none too small, whatever the order."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import mask
from tacit.core import blocks
from tacit.core.blocks import N_BUCKETS, Numbering, Partition, checked_size, record_numbers
from tacit.core.blocks import too_large as too_large_leaves
from tacit.core.errors import ParameterError


def points(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"x": rng.lognormal(0, 1, n), "y": rng.normal(0, 1, n)})


def test_leaves_are_boxes_of_the_size_wanted():
    table = points()
    partition = Partition.of(table, [], ["x", "y"], 100)
    leaf = partition.leaves(table)
    sizes = np.bincount(leaf, minlength=partition.n_leaves)
    assert sizes.max() <= 100
    assert sizes.min() >= 50
    spread = table.with_columns(leaf=pl.Series(leaf)).group_by("leaf").agg(pl.col("y").std())
    assert spread["y"].mean() < 0.5 * table["y"].std()


def test_the_order_of_the_records_does_not_matter():
    table = points()
    shuffled = table.sample(fraction=1, shuffle=True, seed=3)
    leaves = Partition.of(table, [], ["x", "y"], 100).leaves(table)
    again = Partition.of(shuffled, [], ["x", "y"], 100).leaves(table)
    assert np.array_equal(leaves, again)


def test_huge_files_are_sampled_enough_for_their_many_blocks(monkeypatch):
    """With few sampled records in a block, many blocks would be far too large."""
    monkeypatch.setattr(blocks, "SAMPLED", 200)  # as if 100,000 records were a billion
    table, size = points(100_000), 400

    def n_too_large(share):
        part = table.gather_every(share)
        partition = Partition.of(part, [], ["x", "y"], blocks.TARGET * size / share)
        counts = np.bincount(partition.leaves(table), minlength=partition.n_leaves)
        return len(too_large_leaves(counts, size))

    share = blocks.sample_share(table.height, size)
    assert share == 20
    assert n_too_large(share) == 0
    assert n_too_large(table.height // 200) > 10


def test_columns_that_must_not_be_mixed_are_cut_first():
    table = points(900).with_columns(region=pl.Series(["a", "b", None] * 300))
    leaf = Partition.of(table, ["region"], ["x"], 120).leaves(table)
    mixed = table.with_columns(leaf=pl.Series(leaf)).group_by("leaf").agg(
        pl.col("region").n_unique()
    )  # fmt: skip
    assert mixed["region"].max() == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "ab", "ü", "z"]), st.sampled_from([None, 0.0, -1e300, 7.0])
        ),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 10),
)
def test_equal_records_share_a_leaf_and_new_values_find_one(rows, largest):
    table = pl.DataFrame(rows, schema={"t": pl.String, "v": pl.Float64}, orient="row")
    partition = Partition.of(table, [], ["t", "v"], largest)
    leaf = table.with_columns(leaf=pl.Series(partition.leaves(table)))
    assert leaf.group_by("t", "v").agg(pl.col("leaf").n_unique())["leaf"].max() == 1
    new = pl.DataFrame({"t": ["aa", "zz", None], "v": [1e308, float("inf"), None]})
    assert np.all(partition.leaves(new) < partition.n_leaves)


def test_no_columns_make_one_leaf():
    table = points(10)
    partition = Partition.of(table, [], [], 3)
    assert partition.n_leaves == 1
    assert partition.leaves(table).tolist() == [0] * 10


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.integers(8, 60))
def test_no_block_is_too_small(counts, size):
    counts = np.array(counts)
    rng = np.random.default_rng(1)
    buckets = {
        leaf: np.bincount(rng.integers(0, N_BUCKETS, counts[leaf]), minlength=N_BUCKETS)
        for leaf in too_large_leaves(counts, size)
    }
    numbering = Numbering.of(counts, buckets, size)
    sizes = np.zeros(numbering.n_blocks + 1, dtype=int)
    for leaf, first, last, block in zip(
        numbering.leaf, numbering.first, numbering.last, numbering.block, strict=True
    ):
        inside = buckets[leaf][first : last + 1].sum() if leaf in buckets else counts[leaf]
        sizes[block] += inside
    assert sizes.sum() == counts.sum()
    filled = sizes[: numbering.n_blocks]
    assert filled.max(initial=0) <= 4 * size
    if counts.sum() >= size // 4:
        assert filled.min() >= size // 4


def test_a_leaf_of_equal_records_stays_whole():
    counts = np.array([1000])
    one_bucket = np.zeros(N_BUCKETS, dtype=int)
    one_bucket[77] = 1000
    assert Numbering.of(counts, {0: one_bucket}, 100).n_blocks == 1


def test_numbers_of_records_depend_on_values_and_salt_only():
    narrow = pl.DataFrame({"a": pl.Series([1, 2, 1], dtype=pl.Int8), "b": ["x", "y", "x"]})
    wide = narrow.with_columns(pl.col("a").cast(pl.Int64))
    assert np.array_equal(record_numbers(narrow, 5), record_numbers(wide, 5))
    assert record_numbers(narrow, 5)[0] == record_numbers(narrow, 5)[2]
    assert record_numbers(narrow, 5)[0] != record_numbers(narrow, 6)[0]


@pytest.mark.parametrize("size", [0, 79, True, 2.5])
def test_blocks_too_small_for_the_method_are_refused(size):
    with pytest.raises(ParameterError, match="eight groups"):
        checked_size(size, mask.Mdav(columns=["x"], k=10))

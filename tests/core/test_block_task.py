"""What happens to one block: its order tells nothing, its random numbers are its own."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.block_task import BLOCK, BlockTask, Sampler, each_block
from tacit.core.data import ROW
from tacit.core.errors import DataError

DATA = tacit.datasets.census(300)
BLOCK_OF_RECORDS = DATA.local.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
NOISE = mask.UncorrelatedNoise(columns=["income"])


def task(method=NOISE, seed=1, **changes):
    return BlockTask(method, DATA.schema, (*DATA.columns, ROW), seed, (0, 0), **changes)


def test_the_order_of_arrival_does_not_matter():
    shuffled = BLOCK_OF_RECORDS.sample(fraction=1, shuffle=True, seed=2)
    assert task().on(3, BLOCK_OF_RECORDS).equals(task().on(3, shuffled))


def test_records_come_out_in_the_order_of_the_file_not_of_their_values():
    out = task().on(3, BLOCK_OF_RECORDS.reverse())
    assert out[ROW].is_sorted()
    assert not out["income"].is_sorted()


def test_each_block_and_each_seed_has_random_numbers_of_its_own():
    noises = [task(seed=s).on(b, BLOCK_OF_RECORDS)["income"] for s, b in ((1, 0), (1, 1), (2, 0))]
    assert not noises[0].equals(noises[1])
    assert not noises[0].equals(noises[2])


def test_blocks_come_out_with_the_types_of_the_prototype():
    schema, types = task(mask.Mdav(columns=["age"], k=3)).prototype(BLOCK_OF_RECORDS)
    assert types["age"] == pl.Float64
    assert schema.columns == DATA.columns
    made = task(mask.Mdav(columns=["age"], k=3), types=types).on(0, BLOCK_OF_RECORDS)
    assert dict(made.schema) == types


def test_a_method_that_makes_records_is_refused():
    with pytest.raises(DataError, match="makes new records"):
        task(_Doubling()).prototype(BLOCK_OF_RECORDS)


class _Doubling:
    key = "doubling"

    def apply(self, data, rng):
        return data.take(np.repeat(np.arange(data.n_records), 2))


def test_batches_are_gathered_into_whole_blocks():
    table = pl.DataFrame({BLOCK: [0, 0, 1, 1, 1, 4], "x": range(6)})
    batches = [table[:1], table[1:3], table[3:4], table[4:]]
    found = list(each_block(batches, lambda number, part: (number, part["x"].to_list())))
    assert found == [(0, [0, 1]), (1, [2, 3, 4]), (4, [5])]


def test_a_sample_is_a_share_of_the_records():
    kept = Sampler(5, salt=3)(BLOCK_OF_RECORDS)
    assert 30 < kept.height < 90

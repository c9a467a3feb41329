"""The carrier on one machine: nothing of the records is left on the disk, order is kept."""

import os
import subprocess
import sys

import duckdb
import narwhals as nw
import numpy as np
import polars as pl

import tacit
from tacit.core import block_duckdb
from tacit.core.block_duckdb import DuckDbCarrier, counted, counted_buckets
from tacit.core.block_task import BUCKET, LEAF
from tacit.core.data import ROW

FRAME = pl.DataFrame({"x": [3, 1, 2], "t": ["c", None, "ü"]})


def test_records_are_numbered_in_their_order_and_come_back():
    data = tacit.Microdata.of(duckdb.from_arrow(FRAME.to_arrow()))
    carrier = DuckDbCarrier.of(data)
    entered = carrier.enter(data)
    assert entered.rows.tolist() == [0, 1, 2]
    assert carrier.leave(entered, data).frame.pl().equals(FRAME)


def test_the_folder_is_private_and_gone_when_frames_in_memory_are_done():
    data = tacit.Microdata.of(FRAME)
    carrier = DuckDbCarrier.of(data)
    assert carrier.folder.stat().st_mode & 0o077 == 0
    assert carrier.leave(carrier.enter(data), data).local["x"].to_list() == [3, 1, 2]
    assert not carrier.folder.exists()


def test_what_lies_between_the_original_and_the_result_is_removed():
    data = tacit.Microdata.of(duckdb.from_arrow(FRAME.to_arrow()))
    carrier = DuckDbCarrier.of(data)
    entered = carrier.enter(data)
    between = carrier.assigned(entered, lambda table: table)
    assert between.collect("polars").to_native().height == 3
    released = carrier.leave(entered, data)
    assert len(list(carrier.folder.rglob("*.parquet"))) == 2
    assert released.n_records == entered.n_records == 3


def test_a_program_leaves_nothing_behind(tmp_path):
    code = """
import duckdb, tacit
from tacit import mask
plan = tacit.Plan([mask.Mdav(columns=["x"], k=2)])
release = plan.apply(duckdb.sql("select i as x from range(40) t(i)"), seed=1, blocks=20)
frame = release.frame
del release
print(len(frame.fetchall()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=300,
    )  # fmt: skip
    assert done.stdout.strip() == "40", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_it_works_within_the_memory_of_the_data():
    connection = duckdb.connect(config={"memory_limit": "300MB", "threads": 1})
    data = tacit.Microdata.of(connection.sql("select 1 as x"))
    carrier = DuckDbCarrier.of(data)
    found = carrier.connection.sql("select current_setting('memory_limit')").fetchall()[0][0]
    assert found.startswith("28")  # 300 MB in MiB


def test_counts_of_numbers():
    carrier = DuckDbCarrier.of(tacit.Microdata.of(FRAME))
    entered = carrier.enter(tacit.Microdata.of(FRAME))
    assert counted(entered.lazy, ROW, 5).tolist() == [1, 1, 1, 0, 0]


def test_buckets_of_several_leaves_are_counted_in_a_few_queries(monkeypatch):
    monkeypatch.setattr(block_duckdb, "_LEAVES_AT_A_TIME", 2)
    staged = pl.DataFrame({LEAF: [0, 1, 1, 2, 3, 3, 3], BUCKET: [5, 9, 9, 1, 0, 65535, 0]})
    lazy = nw.from_native(duckdb.from_arrow(staged.to_arrow())).lazy()
    found = counted_buckets(lazy, [1, 2, 3, 4])
    assert {leaf: np.flatnonzero(n).tolist() for leaf, n in found.items()} == {
        1: [9], 2: [1], 3: [0, 65535], 4: [],
    }  # fmt: skip
    assert found[3][[0, 65535]].tolist() == [2, 1]


def test_an_empty_file_keeps_its_columns():
    data = tacit.Microdata.of(duckdb.from_arrow(FRAME.clear().to_arrow()))
    entered = DuckDbCarrier.of(data).enter(data)
    assert entered.n_records == 0
    assert entered.columns == ["x", "t"]

"""Fingerprints: equal for equal records, different for anything else."""

import datetime as dt
import decimal
import hashlib
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import digest
from tacit.core.digest import file_digest, frame_digest

DAY = dt.date(2020, 1, 1)
DIFFERENT = {
    "base": pl.DataFrame({"a": [1, 0], "b": ["x", "y"]}),
    "null for 0": pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
    "null for text": pl.DataFrame({"a": [1, 0], "b": ["x", None]}),
    "empty text": pl.DataFrame({"a": [1, 0], "b": ["x", ""]}),
    "value": pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
    "name": pl.DataFrame({"a": [1, 0], "c": ["x", "y"]}),
    "type": pl.DataFrame({"a": [1, 0], "b": ["x", "y"]}, schema_overrides={"a": pl.Int32}),
    "float": pl.DataFrame({"a": [1.0, 0.0], "b": ["x", "y"]}),
    "bool": pl.DataFrame({"a": [True, False], "b": ["x", "y"]}),
    "bool with null": pl.DataFrame({"a": [True, None], "b": ["x", "y"]}),
    "rows in another order": pl.DataFrame({"a": [0, 1], "b": ["y", "x"]}),
    "columns in another order": pl.DataFrame({"b": ["x", "y"], "a": [1, 0]}),
    "fewer rows": pl.DataFrame({"a": [1], "b": ["x"]}),
    "no rows": pl.DataFrame({"a": [1], "b": ["x"]}).clear(),
    "fewer columns": pl.DataFrame({"a": [1, 0]}),
    "no columns": pl.DataFrame(),
    "text cut elsewhere": pl.DataFrame({"a": [1, 0], "b": ["xy", ""]}),
    "text cut there": pl.DataFrame({"a": [1, 0], "b": ["", "xy"]}),
    "dates": pl.DataFrame({"a": [DAY, DAY]}),
    "other dates": pl.DataFrame({"a": [DAY, DAY + dt.timedelta(1)]}),
    "zoned": pl.DataFrame({"a": [dt.datetime(2020, 1, 1)]}).select(
        pl.col("a").dt.replace_time_zone("UTC")
    ),
    "moments": pl.DataFrame({"a": [dt.datetime(2020, 1, 1)]}),
    "nothing": pl.DataFrame({"a": [None, None]}),
    "decimals": pl.DataFrame({"a": [decimal.Decimal("1.5"), None]}),
    "other decimals": pl.DataFrame({"a": [decimal.Decimal("2.5"), None]}),
    "wide": pl.DataFrame({"a": pl.Series([2**70, None], dtype=pl.Int128)}),
    "other wide": pl.DataFrame({"a": pl.Series([2**70 + 1, None], dtype=pl.Int128)}),
    "categories": pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Categorical)}),
    "other categories": pl.DataFrame({"a": pl.Series(["p", "q"], dtype=pl.Categorical)}),
    "enum": pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"]))}),
    "enum in another order": pl.DataFrame({"a": pl.Series(["y", "x"], dtype=pl.Enum(["y", "x"]))}),
}


def test_anything_that_differs_gives_another_digest():
    digests = {name: frame_digest(frame) for name, frame in DIFFERENT.items()}
    same = [(a, b) for a, b in combinations(digests, 2) if digests[a] == digests[b]]
    assert same == []


@pytest.mark.parametrize("name", DIFFERENT)
def test_equal_frames_have_equal_digests(name):
    frame = DIFFERENT[name]
    assert frame_digest(frame) == frame_digest(frame.clone())
    assert len(frame_digest(frame)) == 64


def test_chunks_do_not_matter():
    one = pl.DataFrame({"a": [1, None, 3], "b": ["x", "yy", None]})
    parts = pl.concat([one[:1], one[1:]], rechunk=False)
    assert frame_digest(parts) == frame_digest(one)
    assert frame_digest(one[::-1][::-1]) == frame_digest(one)


def test_the_value_behind_a_gap_does_not_matter():
    values = pl.Series("a", [1, 2]).set(pl.Series([False, True]), None)
    masked = pl.DataFrame(
        [
            pl.select(pl.when(pl.Series([True, False])).then(pl.Series("a", [1, 9])))
            .to_series()
            .alias("a")
        ]
    )
    assert frame_digest(masked) == frame_digest(pl.DataFrame([values]))


def test_text_longer_than_a_block(monkeypatch):
    frame = pl.DataFrame({"a": [f"v{i}" for i in range(100)]})
    whole = frame_digest(frame)
    monkeypatch.setattr(digest, "_BLOCK", 7)
    assert frame_digest(frame) == whole


def test_digests_do_not_change_between_versions():
    """A dossier written today must be replayed in years."""
    frame = pl.DataFrame({"a": [1, None], "b": ["Zoë", None], "c": [0.5, None], "d": [True, None]})
    assert frame_digest(frame) == (
        "7ee56a8d97987cc6740907522fb84a5fa421067105ad5cf71c1a825c700e16a7"
    )


def test_files(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"tacit" * 100_000)
    assert file_digest(path) == hashlib.sha256(b"tacit" * 100_000).hexdigest()
    path.write_bytes(b"")
    assert file_digest(path) == hashlib.sha256(b"").hexdigest()


VALUES = st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=6)


@given(VALUES, VALUES)
@settings(max_examples=200, deadline=None)
def test_texts_collide_only_when_equal(first, second):
    one = pl.DataFrame({"a": pl.Series(first, dtype=pl.String)})
    two = pl.DataFrame({"a": pl.Series(second, dtype=pl.String)})
    assert (frame_digest(one) == frame_digest(two)) == (first == second)

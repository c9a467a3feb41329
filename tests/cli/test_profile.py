"""Counts per column."""

import datetime

import polars as pl
import pytest

from tacit.cli.profile import profiles
from tacit.core.data import Microdata

FRAME = pl.DataFrame(
    {
        "number": [1, 1, 2, None],
        "amount": [0.5, 0.5, 0.5, 0.5],
        "word": ["a", "b", None, None],
        "flag": [True, False, True, None],
        "day": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)],
        "nothing": [None] * 4,
    },
    schema_overrides={"nothing": pl.String},
)
EXPECTED = {
    "number": ("integer", "numeric", 1, 2, 1),
    "amount": ("decimal", "numeric", 0, 1, 0),
    "word": ("text", "nominal", 2, 2, 2),
    "flag": ("true/false", "nominal", 1, 2, 1),
    "day": ("date", "date", 0, 4, 4),
    "nothing": ("text", "nominal", 4, 0, 0),
}


@pytest.mark.parametrize("column", EXPECTED)
def test_a_column_is_counted(column):
    found = {p.name: p for p in profiles(Microdata.of(FRAME))}[column]
    counted = (found.type, found.kind, found.missing, found.distinct, found.unique)
    assert counted == EXPECTED[column]


def test_columns_of_a_file_without_records():
    empty = profiles(Microdata.of(FRAME.clear()))
    assert [(p.missing, p.distinct, p.unique) for p in empty] == [(0, 0, 0)] * 6


def test_a_column_may_be_called_like_a_count():
    frame = pl.DataFrame({"n": [1, 1], "count": [1, 2]})
    assert [p.distinct for p in profiles(Microdata.of(frame))] == [1, 2]

"""Fixtures of the reading and writing tests: a frame of every type."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest


@pytest.fixture
def people() -> pl.DataFrame:
    """Records of every type, with missing values, dates before 1970 and text of all scripts."""
    return pl.DataFrame(
        {
            "number": [1, None, 3, -4],
            "amount": [1.5, None, 1 / 3, -2e-7],
            "name": ["Ångström", None, '日本, "語"', "007"],
            "employed": [True, None, False, True],
            "born": [dt.date(1950, 1, 2), None, dt.date(2020, 12, 31), dt.date(1931, 5, 6)],
            "seen": [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1999, 12, 31), None],
            "code": ["01234", "00000", None, "99999"],
        }
    )


@pytest.fixture
def text_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of the given text or bytes and return its path."""

    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write

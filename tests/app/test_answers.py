"""Answers as files."""

import csv
import io

from tacit.app.answers import as_csv


def test_every_digit_is_kept_and_what_is_withheld_is_empty():
    written = as_csv({"region": ["a, b", "c"], "mean": [0.1 + 0.2, None]})
    assert list(csv.reader(io.StringIO(written))) == [
        ["region", "mean"], ["a, b", "0.30000000000000004"], ["c", ""],
    ]  # fmt: skip


def test_text_that_a_spreadsheet_would_calculate_is_made_harmless_and_numbers_are_left_alone():
    written = as_csv({"=1+1": ["@SUM(A1)", "-", "plain"], "change": [-1.5, -2, 3]})
    assert list(csv.reader(io.StringIO(written))) == [
        ["'=1+1", "change"], ["'@SUM(A1)", "-1.5"], ["'-", "-2"], ["plain", "3"],
    ]  # fmt: skip

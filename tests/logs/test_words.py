"""One spelling for words."""

import polars as pl
import pytest

from tacit.logs.words import in_one_spelling


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("  Apple-Pie!  ", "apple pie"),
        ("Children’s TOYS", "childrens toys"),
        ("ＦＵＬＬ width", "full width"),
        ("日本 旅行", "日本 旅行"),
        ("naïve", "naïve"),
        ("...", ""),
    ],
)
def test_spelling(given, wanted):
    assert pl.select(in_one_spelling(pl.lit(given))).item() == wanted

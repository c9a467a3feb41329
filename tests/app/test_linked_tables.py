"""Further tables as people write them, a line for each."""

import pytest

from tacit.app.linked_tables import columns_of, linked_tables
from tacit.core.errors import ParameterError

KNOWN = ["region", "sex", "age", "size, class"]


def test_one_table_needs_no_line():
    assert linked_tables(["region"], " \n", KNOWN) == [["region"]]


def test_a_line_is_a_table_and_quotes_keep_a_comma():
    text = ' region ,age\n\n"size, class",  sex,\n'
    assert linked_tables(["region", "sex"], text, KNOWN) == [
        ["region", "sex"], ["region", "age"], ["size, class", "sex"],
    ]  # fmt: skip
    assert columns_of(text, KNOWN) == ["region", "age", "size, class", "sex"]


@pytest.mark.parametrize(
    ("first", "text", "said"),
    [
        ([], "region", "no column spans the table"),
        (["sex"], "regoin, age", "no column 'regoin' .*did you mean 'region'"),
        (["sex"], "size, class", "no column 'size' can span"),
        (["sex"], "age, age", "each once"),
        (["sex"], "age\n,,", "one or more columns"),
        (["sex", "age"], "age, sex", "spanned by the same columns"),
        (["sex"], "age\nregion\nage", "spanned by the same columns"),
    ],
)
def test_what_is_no_further_table_is_refused(first, text, said):
    with pytest.raises(ParameterError, match=said):
        linked_tables(first, text, KNOWN)


def test_columns_are_told_while_a_line_is_being_written():
    assert columns_of('region, a\n"size, cl', KNOWN) == ["region"]
    assert columns_of('","' * 100_000, KNOWN) == []

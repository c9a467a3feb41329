"""Queries that point at a person."""

import polars as pl
import pytest

from tacit.datasets import query_log
from tacit.logs import QueryLog
from tacit.logs.identifiers import EMAIL, NUMBER, STREET, askers, vanity, with_names, with_pattern


@pytest.mark.parametrize(
    ("pattern", "query", "found"),
    [
        (EMAIL, "write to anna.lópez+x@mail.example now", True),
        (EMAIL, "price @ shop", False),
        (NUMBER, "555-01 23", True),
        (NUMBER, "call (020) 7946 0018", True),
        (NUMBER, "123-45-6789", True),
        (NUMBER, "192.168.0.1", True),
        (NUMBER, "top 10 films of 1999", False),
        (NUMBER, "٠١٢٣٤٥", True),
        (STREET, "12 elm street lilburn", True),
        (STREET, "hauptstraße 7", True),
        (STREET, "calle mayor 4", True),
        (STREET, "street food", False),
        (STREET, "2 chicken soup recipes", False),
    ],
)
def test_patterns(pattern, query, found):
    assert with_pattern(pl.Series([query, None]), pattern).tolist() == [found, False]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("thelma arnold", True),
        ("is john smith married", True),
        ("Smith, John", True),
        ("maria", False),
        ("the john", False),
        ("rose pruning", False),
        ("thelma and louise", False),
        ("lucía garcía", True),
        ("", False),
    ],
)
def test_names(query, found, demonstration):
    assert with_names(pl.Series([query]), demonstration).tolist() == [found]


def test_a_list_of_names_of_ones_own():
    flags = with_names(pl.Series(["zaphod beeblebrox", "john smith"]), names=frozenset({"zaphod"}))
    assert flags.tolist() == [True, False]


def test_vanity_queries_are_repeated_by_one_user_and_unknown(log_of, demonstration):
    asked = {
        "u": ["zaphod beeblebrox"] * 2 + ["apple pie"] * 3 + ["ford prefect"],
        "v": ["arthur dent", "trillian"] * 2,
        "w": ["arthur dent"],
    }
    log = log_of(asked)
    flagged = log.queries.filter(pl.Series(vanity(log, demonstration))).to_list()
    assert flagged == ["zaphod beeblebrox"]


def test_other_forms_of_letters_and_digits_hide_nothing():
    typed = pl.Series(["anna＠mail.example", "５５５０１２３４"])
    assert with_pattern(typed, EMAIL).tolist() == [True, False]
    assert with_pattern(typed, NUMBER).tolist() == [False, True]


def test_askers(log_of):
    assert askers(log_of({"u": ["a", "a", "b"], "v": ["a"]})).tolist() == [2, 1]


def test_all_personal_queries_of_the_made_up_log_are_found(demonstration):
    data = query_log(300)
    log = QueryLog.of(data)
    known = {path[0] for path in data.schema["query"].hierarchy.paths}
    flags = (
        with_pattern(log.queries, EMAIL)
        | with_pattern(log.queries, NUMBER)
        | with_names(log.queries, demonstration)
    )
    personal = ~log.queries.is_in(list(known)).to_numpy()
    assert personal.sum() > 50
    assert flags[personal].mean() == 1.0
    assert flags[~personal].mean() == 0.0

"""Edit rules."""

import datetime as dt

import duckdb
import polars as pl
import pytest

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, SchemaError

BASE = pl.DataFrame(
    {
        "income": [10.0, -1.0, 0.0, None, 5.0],
        "taxes": [2, 0, 1, 5, None],
        "employed": [True, True, False, False, None],
        "status": ["job", "none", "none", None, "job"],
        "code": [1, 2, 2, 1, 2],
    }
)
ENGINES = {
    "polars": lambda: BASE,
    "pandas": BASE.to_pandas,
    "arrow": BASE.to_arrow,
    "duckdb": lambda: duckdb.from_arrow(BASE.to_arrow()),
}


@pytest.fixture(params=ENGINES)
def data(request):
    return Microdata.of(ENGINES[request.param]())


def test_records_that_break_a_rule_are_counted_and_missing_values_break_none(data):
    rules = [
        NonNegative(column="income"),
        AtLeast(larger="income", smaller="taxes"),
        ZeroWhen(column="taxes", indicator="employed", equals=False),
        ZeroWhen(column="income", indicator="status", equals="none"),
        ZeroWhen(column="income", indicator="code", equals=2),
    ]
    assert data.with_constraints(*rules).broken_constraints() == {
        "income >= 0": 1,
        "income >= taxes": 2,
        "taxes = 0 when employed = False": 2,
        "income = 0 when status = 'none'": 1,
        "income = 0 when code = 2": 2,
    }


def test_no_rules_no_counts(data):
    assert data.broken_constraints() == {}


def test_empty_data_break_no_rule():
    empty = Microdata.of(BASE.clear()).with_constraints(NonNegative(column="income"))
    assert empty.broken_constraints() == {"income >= 0": 0}


def test_a_rule_given_twice_counts_once(data):
    rule = NonNegative(column="income")
    assert data.with_constraints(rule).with_constraints(rule).broken_constraints() == {
        "income >= 0": 1
    }


def test_dates_can_follow_dates():
    frame = pl.DataFrame({"start": [dt.date(2020, 1, 1)] * 2, "end": [dt.date(2019, 1, 1), None]})
    rule = AtLeast(larger="end", smaller="start")
    assert Microdata.of(frame).with_constraints(rule).broken_constraints() == {"end >= start": 1}


@pytest.mark.parametrize(
    "rule",
    [
        NonNegative(column="status"),
        NonNegative(column="employed"),
        AtLeast(larger="income", smaller="status"),
        ZeroWhen(column="status", indicator="employed", equals=True),
        ZeroWhen(column="income", indicator="status", equals=1),
        ZeroWhen(column="income", indicator="employed", equals="yes"),
        ZeroWhen(column="income", indicator="code", equals=True),
    ],
)
def test_rules_that_do_not_fit_the_types_are_refused(data, rule):
    with pytest.raises(SchemaError, match="does not fit the types"):
        data.with_constraints(rule)


def test_rules_about_unknown_columns_are_refused(data):
    with pytest.raises(SchemaError, match="no column 'incme'; did you mean 'income'"):
        data.with_constraints(NonNegative(column="incme"))


def test_rules_lapse_when_a_column_becomes_text(data):
    import narwhals as nw

    ruled = data.with_constraints(NonNegative(column="income"), NonNegative(column="taxes"))
    coded = ruled.with_columns(income=nw.lit("[0, 10)"))
    assert coded.broken_constraints() == {"taxes >= 0": 0}


def test_rules_know_their_columns_and_read_aloud():
    rule = ZeroWhen(column="wage", indicator="job", equals=False)
    assert rule.columns == ("wage", "job")
    assert str(rule) == "wage = 0 when job = False"
    assert AtLeast(larger="a", smaller="b").columns == ("a", "b")
    assert NonNegative(column="a").columns == ("a",)


def test_the_value_of_an_indicator_keeps_its_type():
    for value in (True, False, 1, 0, 1.5, "1", ""):
        rule = ZeroWhen(column="a", indicator="b", equals=value)
        again = ZeroWhen(**rule.as_dict())
        assert again == rule
        assert type(again.equals) is type(value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NonNegative(),
        lambda: NonNegative(column=3),
        lambda: AtLeast(larger="a"),
        lambda: ZeroWhen(column="a", indicator="b", equals=None),
        lambda: NonNegative(column="a", indicator="b"),
    ],
)
def test_malformed_rules_are_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_rules_lapse_with_their_columns():
    data = Microdata.of(BASE).with_constraints(
        NonNegative(column="income"), AtLeast(larger="income", smaller="taxes")
    )
    assert list(data.drop(["taxes"]).broken_constraints()) == ["income >= 0"]

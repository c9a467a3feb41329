"""The language of --step reads what it writes, and refuses what it cannot read."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.cli.steps import parse_step, read_value, step_text, toml
from tacit.core.errors import ParameterError, UnknownMethodError
from tacit.core.value import Value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mdav columns=Age k=2", {"columns": ("Age",), "k": 2}),
        ("mdav columns=Age,Income", {"columns": ("Age", "Income")}),
        ("mdav columns=[Age, Income]", {"columns": ("Age", "Income")}),
        ('mdav columns=["Age", "Income"]', {"columns": ("Age", "Income")}),
        ("mdav columns='Last income',Age", {"columns": ("Last income", "Age")}),
        ('mdav "columns=Last income"', {"columns": ("Last income",)}),
        ("mdav columns=2019,true", {"columns": ("2019", "true")}),
        ("mdav columns=Côte,d'Azur", {"columns": ("Côte", "d'Azur")}),
        ("mdav   columns=a\t k=5\n standardise=false", {"k": 5, "standardise": False}),
    ],
)
def test_a_step_is_read(text, expected):
    step = parse_step(text, "mask")
    assert step.key == "mdav"
    assert {name: getattr(step, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mdva columns=Age", "did you mean 'mdav'?"),
        ("mdav column=Age", "did you mean 'columns'?"),
        ("mdav columns=Age kk=2", "mdav has no parameter 'kk'"),
        ("mdav columns=Age k", "written name=value (got 'k'"),
        ("mdav columns=Last income", "put a value that has spaces in quotes"),
        ("mdav =3", "written name=value"),
        ("mdav columns='Age", "a quote is not closed"),
        ("mdav columns=Age k=2 k=3", "'k' twice"),
        ("mdav columns=Age k=1", "'k'"),
        ("mdav columns=Age k=many", "'k'"),
        ("mdav", "needs the parameter 'columns'"),
        ("  ", "needs the name of its method"),
    ],
)
def test_a_bad_step_is_refused_with_advice(text, message):
    with pytest.raises(ParameterError) as refusal:
        parse_step(text, "mask")
    assert message in str(refusal.value)


def test_a_mask_is_not_a_measure():
    with pytest.raises(UnknownMethodError, match="there is no risk or utility method 'mdav'"):
        parse_step("mdav columns=Age", "risk", "utility")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("'3'", "3"),
        ("plain words", "plain words"),
        ("", ""),
        ("[]", []),
        ("{}", {}),
        ("1,2.5", [1, 2.5]),
        ("a,", ["a"]),
        ("[0, 18, 65]", [0, 18, 65]),
        ("[a, [b, 'c d']]", ["a", ["b", "c d"]]),
        ("{north=N, 'far south'=S, x=[1, y]}", {"north": "N", "far south": "S", "x": [1, "y"]}),
        ("1\nother = 2", "1\nother = 2"),
    ],
)
def test_values_are_toml_or_text(text, value):
    assert read_value(text) == value


def test_a_table_without_values_is_refused():
    with pytest.raises(ParameterError, match="name = value"):
        read_value("{north}")


values = st.recursive(
    st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_what_is_written_as_toml_is_read_back(value):
    assert read_value(toml(value)) == value


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(st.lists(names, min_size=1, max_size=4, unique=True), st.integers(2, 99))
def test_a_step_that_is_written_is_read_back(columns, k):
    text = step_text("mdav", {"columns": columns, "k": k})
    step = parse_step(text, "mask")
    assert (list(step.columns), step.k) == (columns, k)


class Odd(Value):
    """A value with parameters of every shape."""

    choice: Literal["a", "b"] = "a"
    codes: dict[str, str] | None = None
    cuts: tuple[float, ...] = ()


def test_text_in_tables_stays_text(monkeypatch):
    monkeypatch.setattr("tacit.cli.steps._find", lambda _key, _families: Odd)
    odd = parse_step("odd choice=b codes={1=01, 2='02'} cuts=1,2.5")
    assert odd == Odd(choice="b", codes={"1": "01", "2": "02"}, cuts=(1, 2.5))

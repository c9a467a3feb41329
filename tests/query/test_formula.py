"""Formulas are read, never run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import ParameterError
from tacit.query.formula import Factor, Formula, needs_of


def test_products_bring_their_lower_terms():
    formula = Formula.parse("y ~ a*b*c")
    assert str(formula) == "y ~ a + b + c + a:b + a:c + b:c + a:b:c"


def test_the_same_term_counts_once_however_it_is_written():
    assert Formula.parse("y ~ a + a + b:a + a:b").terms == Formula.parse("y ~ a + b:a").terms


def test_transformations_and_odd_names():
    formula = Formula.parse("log(`net wage, €`) ~ sqrt(größe) + `size class`")
    assert formula.response == Factor("net wage, €", "log")
    assert formula.predictors == ("größe", "size class")
    assert Formula.parse(str(formula)) == formula


def test_what_a_formula_needs():
    needs = needs_of(Formula.parse("log(y) ~ a + bin(b) + square(c)"), True)
    assert needs.categories == ("a", "b")
    assert needs.numbers == ("y", "c")
    assert needs.weighted


@pytest.mark.parametrize(
    "text",
    [
        "", "y", "y ~", "~ a", "y ~ a +", "y ~ a b", "y ~ a - 1", "y ~ 1", "y ~ 0 + a", "y ~ a:a",
        "y ~ y", "log(y) ~ y", "y ~ f(g(x))", "y ~ f(a, b)", "y ~ a**2", "y ~ a ~ b", "y ~ a[0]",
        "y ~ __import__('os').system('ls')", "y ~ a; drop table t", "y ~ a\x00b", "y ~ `a",
        "y ~ (lambda: 1)()", "y ~ I(1/abs(x-3))", "y ~ a*b*c*d*e*f*g", "y ~ " + "a" * 3000,
    ],
)  # fmt: skip
def test_anything_else_is_no_formula(text):
    with pytest.raises(ParameterError, match="formula"):
        Formula.parse(text)


def test_text_only():
    with pytest.raises(ParameterError, match="text"):
        Formula.parse(3)


@given(st.text(alphabet="ya~+*:()`. _1\n\\'\"é-", max_size=40))
def test_any_text_is_read_or_refused_in_our_words(text):
    try:
        formula = Formula.parse(text)
    except ParameterError:
        return
    assert Formula.parse(str(formula)) == formula


def test_lists_of_variables():
    assert str(Formula.of_variables(["a", "log(b)"])) == "a + log(b)"
    with pytest.raises(ParameterError, match="twice"):
        Formula.of_variables(["a", "a"])
    with pytest.raises(ParameterError, match="formula"):
        Formula.of_variables(["a + b"])

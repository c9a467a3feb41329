"""Rules written as text: what they mean, and where they are wrong."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import tables
from tacit.core.errors import ParameterError, TacitError
from tacit.tables.rule import AllOf, AnyOf, rule_from

EXAMPLES = {
    "dominance(2,75)": tables.Dominance(n=2, k=75),
    "nk(1, 80.5)": tables.Dominance(n=1, k=80.5),
    " p(10) ": tables.PPercent(p=10),
    "p(10,2,level=holding)": tables.PPercent(p=10, n=2, level="holding"),
    "P-percent(p=5)": tables.PPercent(p=5),
    "pq(10,40)": tables.PriorPosterior(p=10, q=40),
    "freq(3)": tables.MinFrequency(n=3),
    "min_frequency(3, 20, zero_safe=true)": tables.MinFrequency(n=3, margin=20, zero_safe=True),
    "zero": tables.ZeroUnsafe(),
    "zero(10, empty=true)": tables.ZeroUnsafe(amount=10, empty=True),
    "group(90)": tables.GroupDisclosure(share=90),
    "group(dimensions=[ill, sex])": tables.GroupDisclosure(dimensions=["ill", "sex"]),
    "group(90, dimensions=ill)": tables.GroupDisclosure(share=90, dimensions=["ill"]),
    "request(70,50)": tables.Request(p=70, p2=50),
    "user(value,<,3)": tables.UserRule(quantity="value", is_="<", limit=3),
    "user('my sum', is='>=', limit=1)": tables.UserRule(quantity="my sum", is_=">=", limit=1),
    "p(1e1)": tables.PPercent(p=10),
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_what_a_text_means(text):
    assert tables.rule(text) == EXAMPLES[text]


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_short_form_reads_back(text):
    assert tables.rule(EXAMPLES[text].short()) == EXAMPLES[text]


def test_and_binds_closer_than_or():
    rule = tables.rule("dominance(2,75)|p(10)&freq(3)")
    assert isinstance(rule, AnyOf)
    assert isinstance(rule.rules[1], AllOf)
    rule = tables.rule("(dominance(2,75)|p(10))&freq(3)")
    assert isinstance(rule, AllOf)
    assert rule.short() == "(dominance(2,75)|p(10))&freq(3)"
    assert tables.rule(rule.short()) == rule


def test_joined_rules_are_plain_data():
    rule = tables.rule("(dominance(2,80)|p(12))&freq(3)")
    assert rule_from(rule.as_step()) == rule
    with pytest.raises(ParameterError, match="not a rule"):
        rule_from(3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "character 1: expected the name of a rule"),
        ("p(10)|", "character 7: expected the name of a rule"),
        ("p(10", r"character 5: expected , or \)"),
        ("p(10))", r"character 6: expected \| or & or the end"),
        ("p(10) freq(3)", "character 7"),
        ("q(10)", r"no rule 'q' \(character 1\)"),
        ("freg(3)", "did you mean 'freq'"),
        ("p(10)&dominanc(2,75)", r"'dominanc' \(character 7\); did you mean 'dominance'"),
        ("p(x=3)", r"no parameter 'x'.*\(character 1\)"),
        ("p(10,1,2)", "character 8: at most 2 values in order"),
        ("p(p=10,p=11)", "p is given twice"),
        ("p(-3)", "'p'"),
        ("p(;)", "character 3"),
        ("(p(10)", "character 7: expected [)]"),
        ("p(|)", "expected a value"),
        ("(" * 80 + "p(10)" + ")" * 80, "too many brackets"),
        ("__import__('os')", "no rule '__import__'"),
    ],
)
def test_where_a_text_is_wrong(text, says):
    with pytest.raises(ParameterError, match=says):
        tables.rule(text)


@given(st.text("dominancepqfr()|&,=0123456789. '<>", max_size=30))
def test_any_text_is_a_rule_or_refused(text):
    with suppress(TacitError):
        rule = tables.rule(text)
        assert tables.rule(rule.short()).short() == rule.short()

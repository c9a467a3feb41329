"""Interactions are few, complete, and never a table in disguise."""

import pytest

from tacit import query


@pytest.fixture(scope="module")
def server(guarded, model_data):
    return guarded(model_data, query.Interactions(most=2))


@pytest.mark.parametrize(
    "formula",
    [
        "wage ~ age*sex*region",
        "wage ~ age:sex",
        "wage ~ age + age:sex",
        "wage ~ sex*region",
        "wage ~ bin(age)*sex",
    ],
)
def test_refused(server, formula):
    answer = server.ask({"method": "ols", "formula": formula})
    assert (answer.is_refusal, answer.rule) == (True, "interactions")


@pytest.mark.parametrize(
    "formula", ["wage ~ age*sex + region", "wage ~ sex + region", "wage ~ sex"]
)
def test_passed(server, formula):
    assert not server.ask({"method": "ols", "formula": formula}).is_refusal


def test_other_requests_pass(server):
    assert not server.ask({"method": "crosstab", "by": ["sex"]}).is_refusal

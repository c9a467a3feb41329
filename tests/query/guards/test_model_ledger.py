"""Numbers of models are counted by variable, together with those of tables, and come to an end."""

import pytest

from tacit.query import CellKeyNoise, DrawLedger, ModelLedger, NearCells, Server, Source
from tacit.query.policy import Policy

OLS = {"method": "ols", "formula": "income ~ age + sex"}


@pytest.fixture
def asked(serve, people):
    """Return a function that says how many numbers depend on each variable after a request."""

    def asked(*requests, most=1.0):
        server = serve(people, ModelLedger(numbers_per_unit=most))
        answers = [server.ask(request) for request in requests]
        return answers, dict(server._state.ledger.about)

    return asked


def test_a_model_counts_for_its_variables(asked):
    # Three coefficients: three sums of the response, four of each predictor, all twice.
    assert asked(OLS)[1] == {"income": 6, "age": 8, "sex": 8}


def test_a_condition_counts_for_every_number(asked):
    told = asked({**OLS, "universe": {"region": "N"}})[1]
    assert told == {"income": 6, "age": 8, "sex": 8, "region": 16}


def test_interactions_and_several_categories(asked):
    # Columns: 1, age, two regions, two of the interaction; each region is in two of them.
    told = asked({"method": "ols", "formula": "income ~ age*region"})[1]
    assert told == {"income": 12, "age": 28, "region": 28}


def test_correlations(asked):
    told = asked({"method": "correlation", "columns": ["age", "income"]})[1]
    assert told == {"age": 6, "income": 6}


def test_the_same_model_costs_nothing_however_it_is_written(asked):
    same = [OLS, {**OLS, "universe": {"sex": ["f", "m"]}}]
    assert asked(OLS)[1].get("income") == asked(*same, *same)[1]["income"]


def test_the_limit_and_tables(people, serve):
    most = 10 / people.height
    guards = (NearCells(), CellKeyNoise(), DrawLedger(cells_per_unit=most))
    server = serve(people, *guards, ModelLedger(numbers_per_unit=most))
    assert not server.ask(OLS).is_refusal
    assert server.ask({"method": "ols", "formula": "income ~ age"}).rule == "model-ledger"
    assert server.ask({"method": "crosstab", "by": ["sex", "ill"]}).rule == "ledger"
    assert not server.ask({"method": "crosstab", "by": ["ill"]}).is_refusal
    assert not server.ask(OLS).is_refusal


def test_what_is_refused_later_counts(asked):
    answers, told = asked({"method": "ols", "formula": "income ~ ill"}, most=1e-9)
    assert answers[0].rule == "model-ledger"
    assert not told
    answers, told = asked({"method": "logistic", "formula": "ill ~ age", "event": "no such"})
    assert answers[0].is_refusal
    assert told["ill"] == 4


def test_a_server_that_starts_again_remembers(tmp_path, people):
    policy = Policy(name="own", guards=(ModelLedger(numbers_per_unit=9 / people.height),))
    source = Source(people, unit="id", weight="w")
    with Server(source, policy, folder=tmp_path) as server:
        assert not server.ask(OLS).is_refusal
        before = dict(server._state.ledger.about)
    with Server(source, policy, folder=tmp_path) as again:
        assert dict(again._state.ledger.about) == before
        assert not again.ask(OLS).is_refusal
        assert again.ask({"method": "ols", "formula": "income ~ sex"}).rule == "model-ledger"

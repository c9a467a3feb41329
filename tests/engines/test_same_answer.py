"""Every analysis is answered with the same digits on every engine, and every guard with them.

The requests are the examples of the registry; `tests/query/test_engines.py` has longer ones.
"""

from functools import cache

import pytest
from tests.engines.everywhere import ENGINES, every, on_every_engine

import tacit
from tacit import query
from tacit.query.policy import Policy

SECRET = "a long and secret phrase"  # noqa: S105
DATA = tacit.datasets.census(1500, seed=4)
ANALYSES = tacit.methods("analysis")
GUARDS = tacit.methods("guard")


def served(data, policy):
    columns = {"categories": ["sex", "employed", "region"], "numbers": ["age", "income"]}
    source = query.Source(data, unit="person_id", **columns)
    return query.Server(source, policy, secret=SECRET)


def told(answer):
    return str(answer) if answer.is_refusal else (answer.columns, answer.values, answer.notes)


@cache
def expected(policy):
    return answers(DATA, policy)


def answers(data, policy):
    """Return what each analysis of the registry gives, by its key."""
    server = served(data, policy)
    return {a.key: told(server.ask(a(**a.example))) for a in ANALYSES}


@on_every_engine([e for e in ENGINES if e != "spark"])
def test_every_analysis_on_every_engine(enter):
    check_answers(enter)


@pytest.mark.slow
@on_every_engine(["spark"])
def test_every_analysis_on_spark(enter):
    check_answers(enter)


def check_answers(enter):
    found = answers(enter(DATA), "strict")
    assert found == expected("strict")
    assert sum(not isinstance(answer, str) for answer in found.values()) > len(ANALYSES) // 2


@pytest.mark.slow
@every(GUARDS, ["duckdb"])
def test_every_guard_works_on_what_the_engine_says(method, enter):
    """A guard alone: what it refuses, drops or perturbs is the same as in memory."""
    policy = Policy(name=method.key, guards=(method(**method.example),))
    asked = [{"method": "crosstab", "by": ["sex", "employed"], "totals": ["income"]},
             {"method": "ols", "formula": "income ~ sex + age"}]  # fmt: skip
    here, there = (served(data, policy) for data in (DATA, enter(DATA)))
    assert [told(there.ask(one)) for one in asked] == [told(here.ask(one)) for one in asked]

"""Survival curves agree with statsmodels where times are not joined, and hide small steps."""

import numpy as np
import polars as pl
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

from tacit import query
from tacit.query.policy import Policy


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(5)
    n = 900
    return pl.DataFrame(
        {
            "months": rng.integers(1, 7, n),
            "died": rng.choice(["no", "yes"], n, p=[0.4, 0.6]),
            "arm": rng.choice(["a", "b"], n),
        }
    )


@pytest.fixture(scope="module")
def server(patients):
    source = query.Source(patients, numbers=["months"], categories=["died", "arm"],
                          bins={"months": [2, 3, 4, 5, 6]})  # fmt: skip
    return query.Server(source, policy=Policy(name="open"), secret=b"a long and secret phrase")


REQUEST = {"method": "survival", "time": "months", "status": "died", "event": "yes"}


def test_the_curve_of_kaplan_and_meier(server, patients):
    answer = server.ask(REQUEST)
    expected = SurvfuncRight(patients["months"].to_numpy(), (patients["died"] == "yes").to_numpy())
    assert answer.columns["survival"] == pytest.approx(expected.surv_prob.tolist(), abs=5e-5)
    assert answer.columns["standard_error"] == pytest.approx(
        expected.surv_prob_se.tolist(), abs=1e-4
    )


def test_a_curve_for_each_group(server, patients):
    answer = server.ask({**REQUEST, "by": "arm"})
    group = patients.filter(pl.col("arm") == "b")
    expected = SurvfuncRight(group["months"].to_numpy(), (group["died"] == "yes").to_numpy())
    shown = answer.frame.filter(pl.col("arm") == "b")["survival"].to_list()
    assert shown == pytest.approx(expected.surv_prob.tolist(), abs=5e-5)


def test_steps_with_few_events_are_joined(server):
    answer = server.ask({**REQUEST, "least": 200})
    assert len(answer.columns["until"]) < 4
    assert answer.columns["until"][-1] == server.schema.variable("months").labels[5]


def test_variables_must_differ(server):
    assert server.ask({**REQUEST, "status": "months"}).is_refusal
    assert server.ask({**REQUEST, "event": "maybe"}).is_refusal

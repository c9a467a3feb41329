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


@pytest.mark.parametrize("policy", ["strict", Policy(name="audit", guards=(query.SumAudit(),))],
                         ids=["strict", "audit"])  # fmt: skip
def test_joined_intervals_are_remembered_as_what_they_are(patients, policy):
    """The memory knows the units of a step, not those of the first bins of the time."""
    source = query.Source(patients, numbers=["months"], categories=["died", "arm"],
                          bins={"months": [2, 3, 4, 5, 6]})  # fmt: skip
    server = query.Server(source, policy, secret=b"a long and secret phrase")
    answer = server.ask({**REQUEST, "least": 60})
    assert not answer.is_refusal, str(answer)
    assert 1 < len(answer.columns["until"]) < 6
    if policy == "strict":
        state = server._state
        history = state.histories["near-cells"]
        assert history._sizes[: len(history)].sum() == 900
        assert (state.ledger.of("count") == 1).all()
    else:
        auditor = server._state.kept["sum-audit"]["count"]
        assert auditor.rank == 2 * len(answer.columns["until"])

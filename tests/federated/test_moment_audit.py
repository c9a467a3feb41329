"""Covariances with many known columns rebuild a secret one (attack F4), unless they are audited."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.data import Microdata
from tacit.federated import Coordinator, Policy, StoppedError
from tacit.federated.analysis import analysis_from
from tacit.federated.moment_audit import leverages, require_untold
from tacit.federated.simulator import InProcess, agencies
from tacit.federated.stopped import RefusedError

N, COLUMNS, AT_ONCE = 12, 36, 6
BOUND_OFF = {"max_told": 1.0, "max_leverage": 1.0}


@pytest.fixture(scope="module")
def parts():
    """Three agencies with as many known columns as there are records of all together."""
    rng = np.random.default_rng(4)
    names = [f"c{j}" for j in range(COLUMNS)]
    return [
        pl.DataFrame({"secret": rng.normal(50, 9, N)} | {c: rng.normal(size=N) for c in names})
        for _ in range(3)
    ]


def together(parts, **rules):
    members = agencies(parts, Policy(**rules))
    return Coordinator({a.name: InProcess(a) for a in members}, workers=1)


def rebuilt(parts, coordinator):
    """Solve for the secret from covariances with known columns, a few in each question."""
    known = np.vstack([p.drop("secret").to_numpy() for p in parts])
    sums, rows = [], []
    for start in range(0, COLUMNS, AT_ONCE):
        names = [f"c{j}" for j in range(start, start + AT_ONCE)]
        answer = coordinator.run(
            analysis_from({"analysis": "covariance", "variables": ["secret", *names]})
        )
        products = np.array(answer["covariance"])[0, 1:] * (answer["n"] - 1)
        mean = answer["means"]["secret"]
        columns = known[:, start : start + AT_ONCE]
        sums.append(products + mean * columns.sum(axis=0))
        rows.append(columns.T)
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(sums), rcond=None)[0]


def test_attack_f4_without_the_audit_the_column_is_rebuilt(parts):
    secret = np.concatenate([p["secret"].to_numpy() for p in parts])
    found = rebuilt(parts, together(parts, **BOUND_OFF))
    assert np.allclose(found, secret, rtol=1e-6)


def test_attack_f4_the_audit_stops_it_before_any_record_is_told(parts):
    coordinator = together(parts, **BOUND_OFF | {"max_told": 0.95})
    with pytest.raises(StoppedError, match="'secret', now and before") as stopped:
        rebuilt(parts, coordinator)
    assert "value would be told" in str(stopped.value)


def test_the_same_question_again_is_not_another_equation(parts):
    coordinator = together(parts, max_leverage=1.0, max_told=0.9999)
    wanted = analysis_from({"analysis": "covariance", "variables": ["secret", "c0"]})
    assert [coordinator.run(wanted)["n"] for _ in range(3)] == [3 * N] * 3


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 8))
def test_leverages_are_those_of_the_projection(seed, n, p):
    equations = np.random.default_rng(seed).normal(size=(n, p))
    equations[:, 0] = 0.0  # a column of nothing adds nothing
    hat = equations @ np.linalg.pinv(equations)
    assert np.allclose(leverages(equations), np.diag(hat), atol=1e-6)


def test_collinear_columns_and_no_records():
    one = np.arange(5.0)[:, None]
    assert np.allclose(leverages(np.hstack([one, 1e8 * one])), leverages(one))
    assert len(leverages(np.zeros((0, 2)))) == 0


def audit(asked, before, frame, **rules):
    require_untold(
        analysis_from(asked), [analysis_from(b) for b in before], Microdata.of(frame),
        Policy(**rules),
    )  # fmt: skip


def test_categories_missing_values_and_weights_count():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "y": rng.normal(size=40),
            "x": rng.normal(size=40),
            "g": ["a"] * 39 + ["b"],
            "h": [None, *rng.normal(size=39)],
            "w": [1e9, *np.ones(39)],
        }
    )
    plain = {"analysis": "ols", "y": "y", "x": ["x"]}
    audit(plain, [], frame)
    with pytest.raises(RefusedError, match="'y'"):  # the indicator marks the last record
        audit({**plain, "x": ["g"], "levels": {"g": ["a", "b"]}}, [], frame)
    with pytest.raises(RefusedError, match="'y'"):  # the sums with and without the first record
        audit({**plain, "x": ["h"]}, [{**plain, "x": ["x"]}], frame)
    with pytest.raises(RefusedError, match="'y'"):  # a weight outweighs all others
        audit({"analysis": "wls", "y": "y", "x": ["x"], "weight": "w"}, [], frame)


def test_questions_about_other_columns_do_not_count(parts):
    before = [{"analysis": "covariance", "variables": ["c9", f"c{j}"]} for j in range(9)]
    audit({"analysis": "covariance", "variables": ["secret", "c0"]}, before, parts[0])
    audit({"analysis": "mean", "variables": ["c9"]}, before, parts[0])
    with pytest.raises(RefusedError, match="'c9'"):
        audit({"analysis": "covariance", "variables": ["secret", "c9"]}, before, parts[0])

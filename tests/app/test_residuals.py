"""Residual plots from answers alone."""

import numpy as np
import polars as pl
import pytest

from tacit.app.residuals import further_requests, residual_plot
from tacit.core.errors import DataError
from tacit.query import Server


@pytest.fixture(scope="module")
def server():
    """Serve people whose income is curved in age and straight in hours."""
    rng = np.random.default_rng(5)
    n = 6000
    age, hours = rng.uniform(18, 90, n).round(), rng.uniform(0, 60, n).round()
    income = 40_000 + 25 * (age - 54) ** 2 + 300 * hours + rng.normal(0, 3000, n)
    frame = pl.DataFrame({"age": age, "hours": hours, "income": income})
    with Server(frame, "strict", secret=b"sixteen bytes and more") as served:
        yield served


def _plots(server, formula):
    variables = {v["name"]: v for v in server.describe()["variables"]}
    asked = further_requests({"method": "ols", "formula": formula}, variables.values())
    return {name: residual_plot(server.ask(r), variables[name]) for name, r in asked.items()}


def test_a_curve_that_the_model_misses_is_seen(server):
    plots = _plots(server, "income ~ age + hours")
    curve = np.array(plots["age"].curve)
    middle = np.abs(curve[:, 0] - 54) < 15
    assert curve[middle, 1].max() < -0.5 < 0.5 < curve[[0, -1], 1].min()
    assert np.abs(np.array(plots["hours"].curve)[:, 1]).max() < 0.5


def test_the_right_model_shows_nothing(server):
    (age, _hours) = _plots(server, "income ~ age + square(age) + hours").values()
    assert np.abs(np.array(age.curve)[:, 1]).max() < 0.5
    assert abs(np.std(age.residual) - 1) < 0.15


def test_the_same_answer_gives_the_same_plot_and_points_stay_in_the_bins(server):
    one, two = (_plots(server, "income ~ age")["age"] for _ in range(2))
    assert one == two
    assert max(map(abs, one.residual)) <= 4
    assert len(one.x) == 25 * len(one.curve)


def test_only_numbers_that_explain_by_themselves_are_asked_about():
    variables = [{"name": n, "cutpoints": [1, 2], "bins": ["a", "b", "c"]} for n in "xyz"]
    variables.append({"name": "sex", "categories": ["f", "m"]})
    ask = lambda formula, **more: list(  # noqa: E731
        further_requests({"method": "ols", "formula": formula, **more}, variables)
    )
    assert ask("w ~ x + sex") == ["x"]
    assert ask("w ~ x*y + log(z)") == ["z"]
    assert ask("w ~ bin(x)") == []
    assert ask("w ~ x", huber=True) == []
    assert further_requests({"method": "logistic", "formula": "w ~ x"}, variables) == {}


def test_too_few_bins_are_said(server):
    answer = server.ask({"method": "ols", "formula": "income ~ age + bin(age)"})
    with pytest.raises(DataError, match="too few bins"):
        residual_plot(answer, {"name": "age", "cutpoints": [50], "bins": ["a", "b"]})

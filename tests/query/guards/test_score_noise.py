"""Noise is at least as large as any unit's part, sticks, and is told in the standard errors."""

import numpy as np
import polars as pl
import pytest

from tacit import query

REQUEST = {"method": "ols", "formula": "wage ~ age + region"}


def coefficients(answer):
    assert not answer.is_refusal, answer
    return np.array(answer.columns["coefficient"])


@pytest.fixture(scope="module")
def server(guarded, model_data):
    return guarded(model_data, query.ScoreNoise())


def test_the_same_units_have_the_same_noise(guarded, model_data, server):
    again = guarded(model_data, query.ScoreNoise())
    one, other = coefficients(server.ask(REQUEST)), coefficients(again.ask(REQUEST))
    assert one == pytest.approx(other, rel=1e-9)


def test_other_predictors_do_not_draw_again(server, open_server, model_data):
    """The noise on a column's equation is the same whatever stands beside it."""
    x = model_data["size"].to_numpy()
    w = np.ones_like(x)
    parts = []
    for formula in ("wage ~ size", "wage ~ size + sex"):
        noisy = server.ask({"method": "ols", "formula": formula})
        exact = open_server.ask({"method": "ols", "formula": formula})
        gap = coefficients(noisy) - coefficients(exact)
        design = np.column_stack([w, x, (model_data["sex"] == "m").to_numpy()])[:, : len(gap)]
        score = design.T @ design @ gap
        centred = score[1] - x.mean() * score[0]
        parts.append(centred)
    assert np.sign(parts[0]) == np.sign(parts[1])
    assert parts[0] == pytest.approx(parts[1], rel=0.2)


def test_no_unit_has_a_larger_part_than_the_noise(server, open_server, model_data):
    """The intercept's equation sums residuals: its noise exceeds the largest residual."""
    request = {"method": "ols", "formula": "wage ~ size"}
    exact, noisy = coefficients(open_server.ask(request)), coefficients(server.ask(request))
    x, y = model_data["size"].to_numpy(), model_data["wage"].to_numpy()
    residuals = y - exact[0] - exact[1] * x
    shift = len(x) * (noisy[0] - exact[0] + x.mean() * (noisy[1] - exact[1]))
    assert np.abs(residuals).max() <= abs(shift) * (1 + 1e-9) <= 2.1 * np.abs(residuals).max()


def test_standard_errors_include_it(server, open_server):
    exact = open_server.ask(REQUEST).columns["standard_error"]
    noisy = server.ask(REQUEST).columns["standard_error"]
    assert all(n > e for n, e in zip(noisy, exact, strict=True))


@pytest.mark.parametrize("request_", [
    {"method": "logistic", "formula": "works ~ age", "event": "yes"},
    {"method": "poisson", "formula": "visits ~ age"},
])  # fmt: skip
def test_links(server, open_server, request_):
    gap = coefficients(server.ask(request_)) - coefficients(open_server.ask(request_))
    assert (gap != 0).all()
    assert np.abs(gap).max() < 0.5


def test_pairs(server, open_server):
    request = {"method": "covariance", "columns": ["age", "wage"]}
    noisy, exact = (np.array(s.ask(request).columns["covariance"]) for s in (server, open_server))
    assert (noisy != exact).all()
    assert noisy == pytest.approx(exact, rel=0.1)


def test_one_missing_value_draws_anew(guarded, model_data, server):
    """Sets that differ by a unit share no noise, so a difference does not cancel it."""
    without = model_data.with_columns(age=pl.when(pl.int_range(pl.len()) != 0).then(pl.col("age")))
    other = guarded(without, query.ScoreNoise())
    assert (coefficients(server.ask(REQUEST)) != coefficients(other.ask(REQUEST))).all()

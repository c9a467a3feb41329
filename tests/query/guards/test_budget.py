"""Differentially private counts until the budget is spent."""

import numpy as np
import pytest

from tacit.query import Budget

pytest.importorskip("opendp")
TABLE = {"method": "crosstab", "by": ["sex", "region"]}


def test_noise_and_odometer(serve, people):
    server = serve(people, Budget(epsilon=1.0, total=2.5))
    first = server.ask(TABLE)
    assert server.ask(TABLE).columns == first.columns
    assert server._state.kept["budget"]["spent"] == pytest.approx(1.0)
    assert not server.ask({"method": "crosstab", "by": ["ill"]}).is_refusal
    refused = server.ask({"method": "crosstab", "by": ["age"]})
    assert refused.rule == "budget"
    assert server.ask(TABLE).columns == first.columns


def test_the_scale_is_levels_over_epsilon(serve, people):
    server = serve(people, Budget(epsilon=0.5, total=1e9))
    true = np.array(serve(people).ask(TABLE).columns["count"])
    errors = []
    for _ in range(200):
        server._state.kept.clear()
        errors.append(np.array(server.ask(TABLE).columns["count"]) - true)
    # Laplace of scale b has variance 2 b^2; four levels of margins, epsilon one half: b = 8.
    assert np.var(errors) == pytest.approx(2 * 8**2, rel=0.25)


def test_only_counts(serve, people):
    server = serve(people, Budget())
    assert server.ask({**TABLE, "totals": ["income"]}).rule == "budget"
    assert server.ask({**TABLE, "weighted": True}).rule == "budget"

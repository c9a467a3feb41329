"""Differentially private counts until the budget is spent."""

import numpy as np
import pytest

from tacit import query
from tacit.query import Budget
from tacit.query._kept_answers import KeptAnswers

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
        server._state.answers = KeptAnswers()
        errors.append(np.array(server.ask(TABLE).columns["count"]) - true)
    # Discrete Laplace noise of scale b is 1 / sinh(1 / b) in the mean; four levels of margins,
    # epsilon one half: b = 8. Nobody can seed this noise: 1,200 draws miss by a quarter with 1e-13.
    assert np.size(errors) >= 1200
    assert np.abs(errors).mean() == pytest.approx(1 / np.sinh(1 / 8), rel=0.25)


def test_only_counts(serve, people):
    server = serve(people, Budget())
    assert server.ask({**TABLE, "totals": ["income"]}).rule == "budget"
    assert server.ask({**TABLE, "weighted": True}).rule == "budget"


def test_a_restart_repeats_the_answers_and_forgets_no_spending(people, tmp_path):
    """Fresh noise for an old table would be a second look that nobody paid for."""
    policy = query.Policy(name="dp", guards=(Budget(epsilon=1.0, total=2.0),))

    def start():
        return query.Server(query.Source(people, unit="id"), policy, folder=tmp_path)

    with start() as server:
        first = server.ask(TABLE)
        server.ask(TABLE)
    with start() as server:
        assert server._state.kept["budget"]["spent"] == pytest.approx(1.0)
        assert server.ask(TABLE).columns == first.columns
        assert not server.ask({"method": "crosstab", "by": ["ill"]}).is_refusal
        assert server.ask({"method": "crosstab", "by": ["age"]}).rule == "budget"
    with start() as server:
        assert server.ask(TABLE).columns == first.columns
        assert server.ask({"method": "crosstab", "by": ["age"]}).rule == "budget"
    # Answers that were lost are charged for, and not drawn again for nothing.
    (tmp_path / "answers.jsonl").unlink()
    with start() as server:
        assert server.ask(TABLE).rule == "budget"


def test_a_torn_line_of_answers_is_cut_off(tmp_path):
    KeptAnswers(tmp_path / "a").put("one", [1, 2])
    with (tmp_path / "a").open("ab") as file:
        file.write(b'{"name": "tw')
    kept = KeptAnswers(tmp_path / "a")
    assert (kept.get("one"), kept.get("tw")) == ([1, 2], None)
    kept.put("three", [3])
    assert KeptAnswers(tmp_path / "a").get("three") == [3]

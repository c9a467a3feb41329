"""Exact sums until they would determine a small group."""

import polars as pl
import pytest

from tacit.core.errors import ParameterError
from tacit.query import SumAudit
from tacit.query.auditor import SumAuditor


def small(people):
    frame = people.select("id", "sex", "region", "w")
    few = (pl.col("id") < 400) & (pl.col("region") == "W") & (pl.col("sex") == "f")
    keep = ~((pl.col("region") == "W") & (pl.col("sex") == "f")) | (few & (pl.col("id") < 100))
    return frame.filter(keep)


def test_a_difference_that_tells_is_refused(serve, people):
    frame = small(people)
    n = frame.filter((pl.col("region") == "W") & (pl.col("sex") == "f")).height
    assert 0 < n < 10
    server = serve(frame, SumAudit(minimum=10))
    assert not server.ask({"method": "crosstab", "by": ["region"]}).is_refusal
    # The western men are the West less its few women.
    men = {"method": "crosstab", "by": ["region"], "universe": {"sex": "m"}}
    assert server.ask(men).rule == "sum-audit"
    assert server.ask({"method": "crosstab", "by": ["region", "sex"]}).rule == "sum-audit"
    assert not server.ask({"method": "crosstab", "by": ["sex"]}).is_refusal


def test_without_the_first_answer_it_is_allowed(serve, people):
    server = serve(small(people), SumAudit(minimum=10))
    men = {"method": "crosstab", "by": ["region"], "universe": {"sex": "m"}}
    assert not server.ask(men).is_refusal
    assert server.ask({"method": "crosstab", "by": ["region"]}).rule == "sum-audit"


def test_models_cannot_be_audited(serve, people):
    answer = serve(people.select("id", "sex", "income", "w"), SumAudit()).ask(
        {"method": "ols", "formula": "income ~ sex"}
    )
    assert answer.is_refusal


def test_all_statistics_or_none(serve, people, monkeypatch):
    """Where the totals are refused, the counts beside them were not answered either."""
    server = serve(people.select("id", "sex", "region", "income", "w"), SumAudit())
    table = {"method": "crosstab", "by": ["region"], "totals": ["income"]}
    admit, given = SumAuditor.admit, []

    def only_the_first(self, queries):
        given.append(admit(self, queries))
        return given[0] if len(given) == 1 else type(given[0])(allowed=False)

    monkeypatch.setattr(SumAuditor, "admit", only_the_first)
    assert server.ask(table).rule == "sum-audit"
    assert server._state.kept["sum-audit"] == {}
    monkeypatch.undo()
    assert not server.ask(table).is_refusal
    ranks = {name: a.rank for name, a in server._state.kept["sum-audit"].items()}
    assert ranks == {"count": 3, "income": 3}


def test_insiders_are_none_or_one():
    assert SumAudit(insiders=1).insiders == 1
    with pytest.raises(ParameterError):
        SumAudit(insiders=2)

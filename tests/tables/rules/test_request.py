"""The request rule: only those who ask, and only where they are most of a cell."""

import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError

FRAME = pl.DataFrame({"r": list("aabbcc"), "x": [80, 20, 80, 20, 60, 40], "q": [1, 0, 0, 1, 2, 0]})


def found(rule, table):
    return {table.labels(i)[0] for i in rule.sensitive(table).primary}


def test_only_the_one_who_asked_counts():
    table = tacit.tabulate(FRAME, "r", "x", request="q")
    assert found(tables.Request(p=70), table) == {"a"}
    assert found(tables.Request(p=70, p2=50), table) == {"a", "c"}
    assert found(tables.Request(p=80), table) == set()  # a tie is safe
    assert found(tables.Request(p=15), table) >= {"a", "b", "c"}


def test_levels():
    table = tacit.tabulate(FRAME, "r", "x", request="q")
    cell = table.cell(r="a")
    assert tables.Request(p=70).sensitive(table).above[cell] == pytest.approx(80 / 0.7 - 100)
    assert tables.Request(p=70, margin=30).sensitive(table).above[cell] == pytest.approx(30)


def test_cells_named_by_the_user(small):
    asked = small.request({"region": "S"})
    verdict = tables.Request(margin=10).sensitive(asked)
    assert verdict.primary.tolist() == [small.cell(region="S")]
    assert verdict.above.max() == pytest.approx(4.9)
    table = tacit.tabulate(FRAME, "r", "x", request="q").request({"r": "b"})
    assert found(tables.Request(p=70), table) == {"a", "b"}


def test_who_asked_must_be_known(small):
    with pytest.raises(DataError, match=r"who asked for protection.*request=") as caught:
        tables.Request().sensitive(tacit.tabulate(FRAME, "r", "x"))
    assert "table.request" in str(caught.value)
    with pytest.raises(DataError, match="largest contributions"):
        tables.Request().sensitive(small)


def test_holdings_ask_if_one_of_them_does():
    frame = FRAME.with_columns(h=pl.Series([1, 1, 2, 2, 3, 4]))
    table = tacit.tabulate(frame, "r", "x", request="q", holding="h")
    assert found(tables.Request(p=90, level="holding"), table) == {"a", "b"}


def test_short_form():
    assert tables.Request(p=70, p2=50).short() == "request(70,50)"


def test_who_asked_may_stand_behind_the_contributions_that_are_kept():
    """The tenth of ten asks and makes up 6 of 105: above 5 %, though not among the largest five."""
    sizes, asks = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6], [0] * 9 + [1]
    frame = pl.DataFrame({"r": ["a"] * 10, "x": sizes, "q": asks})
    rule = tables.Request(p=5)
    with pytest.raises(DataError, match=r"needs the 19 largest.*top=19"):
        rule.sensitive(tacit.tabulate(frame, "r", "x", request="q"))
    deep = tacit.tabulate(frame, "r", "x", request="q", top=rule.depth)
    assert rule.sensitive(deep).cells.all()
    assert rule.sensitive(deep).above == pytest.approx(6 / 0.05 - 105)
    plan = tables.TablePlan(
        by=[["r"]], value="x", request="q", rule=rule, method=tables.SuppressModular()
    )
    assert rule.sensitive(plan.tabulate(frame)).cells.all()

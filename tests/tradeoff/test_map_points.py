"""Tables and query policies on the same map as microdata: hover, click, page and picture."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import tacit
from tacit.core.errors import ParameterError
from tacit.tradeoff import Point, frontier_of_policies, frontier_of_tables

LOSS, RISK = "absolute loss per cell (%)", "risk (9)"


@pytest.fixture
def comparison():
    """Three protections of a real table: rounding to 3, to 25, and none."""
    table = tacit.tabulate(tacit.datasets.census(2000), ["region", "sex"], weights=None)
    rounded = {f"round to {b}": np.round(table.value / b) * b for b in (3, 25)}
    return tacit.tables.compare(table, {**rounded, "as it is": table.value})


def test_protections_of_a_table_stand_on_the_map_of_m3a(comparison):
    """Fig. 1 of M3A: risk (9) against the percentage of information that was not modified."""
    front = frontier_of_tables(comparison)
    by_label = {p.label: p for p in front.tried}
    assert set(by_label) == {"round to 3", "round to 25"}
    for name, point in by_label.items():
        change = comparison.released[name] - comparison.original
        lost = 100 * np.abs(change).sum() / comparison.original.sum()
        assert point.risk == pytest.approx(100 / np.var(change, ddof=1))
        assert point.utility == pytest.approx(100 - lost)
    assert by_label["round to 25"].risk < by_label["round to 3"].risk
    assert len(front.points) == 2
    assert "inf" in front.failed["as it is"]


def test_another_loss_counts_with_a_minus_sign():
    measures = {n: {RISK: r, "entropy (6)": e} for n, r, e in (("a", 1.0, 2.0), ("b", 2.0, 3.0))}
    front = frontier_of_tables(SimpleNamespace(measures=measures), loss="entropy (6)")
    assert [(p.label, p.utility) for p in front.points] == [("a", -2.0)]
    assert front.utility_title == "minus entropy (6)"
    with pytest.raises(ParameterError, match="no measure 'entropi'"):
        frontier_of_tables(SimpleNamespace(measures=measures), loss="entropi")


def test_the_map_of_tables_is_the_map_of_releases(comparison, tmp_path):
    front = frontier_of_tables(comparison)
    text = json.dumps(front.plot().to_dict())
    assert '"type": "log"' in text
    assert '"on": "click"' in text
    assert any('"release"' in t for t in re.findall(r'"tooltip": (\[.*?\])', text))
    assert "relative Cram" in text
    assert "information not modified, %" in text
    assert "round to 25" in front.save(tmp_path / "map.html").read_text(encoding="utf-8")
    assert front.save(tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"


def test_query_policies_have_the_same_map(tmp_path):
    policies = [
        {"label": "drop 1 of 6 <ä>", "risk": 0.17, "utility": 0.9, "queries": 30},
        ("drop 3 of 6", 0.05, 0.7),
        ["no answer", 0.0, 0.0],
        Point("answer everything", 1.0, 1.0),
        ("drop 4 of 6", 0.06, 0.6),
    ]
    front = frontier_of_policies(policies, risk_title="success of differencing")
    labels = [p.label for p in front.points]
    assert labels == ["no answer", "drop 3 of 6", "drop 1 of 6 <ä>", "answer everything"]
    assert front.best(max_risk=0.1).label == "drop 3 of 6"
    text = json.dumps(front.plot().to_dict(), ensure_ascii=False)
    assert "queries 30" in text
    assert "success of differencing (lower is safer)" in text
    assert front.save(tmp_path / "map.html").stat().st_size > 1000
    assert front.save(tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("a", 1.0), "a label, a risk and a utility"),
        ("abc", "a label, a risk and a utility"),
        ({"label": "a", "risk": 1.0}, "has a utility"),
        (("a", "high", 1.0), "are numbers"),
        (("a", float("nan"), 1.0), "are numbers"),
        (("a", 1.0, float("inf")), "are numbers"),
    ],
)
def test_what_is_no_policy_is_refused(wrong, said):
    with pytest.raises(ParameterError, match=said):
        frontier_of_policies([wrong])


def test_no_table_at_all():
    front = frontier_of_tables(SimpleNamespace(measures={}))
    assert front.tried == ()
    with pytest.raises(ParameterError, match="no release to draw"):
        front.plot()

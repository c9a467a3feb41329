"""The R-U map: plans on hover, selection by click, pages that ask nothing from outside."""

import json
import re

import pytest

from tacit.core.errors import ParameterError
from tacit.tradeoff import Frontier, Point


@pytest.fixture
def front():
    return Frontier.of(
        [
            Point("swap <b>ünd</b> more", 0.1, 0.5, parts={"DLD": 10.0}),
            Point("noise", 0.2, 0.9, risk_interval=(0.1, 0.3), utility_interval=(0.8, 1.0)),
            Point("nothing", 0.9, 0.8, shortfalls={"k": 1.0}),
        ],
        risk_title="risk of the file",
    )


def test_points_show_their_plan_and_can_be_chosen(front):
    spec = front.plot().to_dict()
    text = json.dumps(spec, ensure_ascii=False)
    assert "swap <b>ünd</b> more" in text
    params = json.dumps(spec.get("params", []))
    assert '"on": "click"' in params
    assert "risk of the file (lower is safer)" in text
    tips = re.findall(r'"tooltip": (\[.*?\])', text)
    assert any('"release"' in t for t in tips)
    assert "DLD 10" in text
    assert "missed: k" in text


def test_the_page_needs_nothing_from_outside(front, tmp_path):
    page = front.save(tmp_path / "map.html").read_text(encoding="utf-8")
    assert "ünd" in page or "\\u00fcnd" in page
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="http', page)
    assert "<b>ünd</b>" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_the_picture(front, tmp_path):
    path = front.save(tmp_path / "map.png")
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_curves_of_single_methods_are_drawn(front):
    curve = [Point(f"p = {p}", p / 10, p / 20, group="rank swapping") for p in (1, 2, 3)]
    assert "rank swapping" in json.dumps(front.plot(curves=curve).to_dict())


def test_nothing_to_draw_or_to_write(front, tmp_path):
    with pytest.raises(ParameterError, match="no release to draw"):
        Frontier.of([]).plot()
    with pytest.raises(ParameterError, match="HTML or PNG"):
        front.save(tmp_path / "map.gif")
    assert list(tmp_path.iterdir()) == []

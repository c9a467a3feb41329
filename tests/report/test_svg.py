"""Drawing in SVG: safe words, round numbers, labels that have room."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit.report._pictures import (
    correlation_picture,
    crossing_picture,
    curve_picture,
    tally_picture,
)
from tacit.report._relation_charts import CorrelationChange, Crossing
from tacit.report._svg import Drawing, cut, days_marked, numbers_marked, ticks, width_of
from tacit.report._tally import ORIGINAL, RELEASE, Tally

SAID = {"title": 'say "hi" <now>', "description": "two bars"}


def words(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def lengths(svg, colour):
    """Return the widths of the boxes of a colour."""
    found = re.findall(rf'd="M[\d.,-]+h([\d.]+)v[^"]*" fill="{colour}"', svg)
    return [float(length) for length in found]


def corners(svg, colour):
    path = re.search(rf'd="M([^"]+)"[^>]*stroke="{colour}"', svg)[1]
    return [tuple(map(float, point.split(","))) for point in path.split("L")]


def test_it_is_named_and_asks_nothing_from_outside():
    svg = Drawing().finished(10, 20, **SAID)
    assert svg.startswith('<svg viewBox="0 0 10 20"')
    assert 'role="img"' in svg
    assert "&lt;now&gt;" in svg
    assert 'aria-label="say &#34;hi&#34; &lt;now&gt;. two bars"' in svg
    assert "http" not in svg


@pytest.mark.parametrize("hostile", ["</svg><script>", '" onload="x', "a & b"])
def test_text_in_a_picture_is_escaped(hostile):
    tally = Tally((hostile, "b"), {ORIGINAL: (1, 2)})
    svg = tally_picture(tally, title=hostile, description=hostile)
    assert "<script" not in svg
    assert 'onload="' not in svg
    assert svg.count("</svg>") == 1
    assert "a & b" not in svg


def test_bars_are_as_long_as_their_counts_and_carry_them():
    tally = Tally(("a", "b", "c"), {ORIGINAL: (10, 20, 0), RELEASE: (5, 40, 1)})
    svg = tally_picture(tally, numbers="count", **SAID)
    before, after = lengths(svg, "#a3adb8"), lengths(svg, "#0f6674")
    assert [b / before[0] for b in before] == pytest.approx([1, 2], abs=0.01)  # 0 has no bar
    assert [a / before[0] for a in after] == pytest.approx([0.5, 4, 0.1], abs=0.01)
    assert words(svg) == ["a", "b", "c", "10", "20", "0", "5", "40", "1"]


def test_a_histogram_draws_the_shares_to_scale():
    tally = Tally(("a", "b"), {ORIGINAL: (1, 3), RELEASE: (2, 2)}, edges=(0.0, 10.0, 30.0))
    svg = tally_picture(tally, **SAID)
    first, second = corners(svg, "#a3adb8"), corners(svg, "#0f6674")
    ground = first[0][1]
    heights = [ground - y for _, y in first]
    assert heights[0] == heights[-1] == 0
    assert heights[3] / heights[1] == pytest.approx(3, abs=0.01)
    assert ground - second[1][1] == pytest.approx((heights[1] + heights[3]) / 2, abs=0.02)
    left, middle, right = first[1][0], first[2][0], first[4][0]
    assert (right - middle) / (middle - left) == pytest.approx(2, abs=0.01)
    assert words(svg) == ["0%", "20%", "40%", "60%", "80%", "0", "10", "20", "30"]


def test_the_curve_falls_where_the_risks_are():
    svg = curve_picture(None, np.array([0.01, 1.0]), **SAID)
    path = corners(svg, "#0f6674")
    top, ground = path[0][1], max(y for _, y in path)
    assert ground - top == pytest.approx(130 / 2)  # nobody is above the highest risk but himself
    at = next(x for x, y in path if y > top)
    assert (at - path[0][0]) / (path[-1][0] - path[0][0]) == pytest.approx(1 / 3, abs=0.02)
    assert words(svg)[-4:] == ["0.1%", "1%", "10%", "100%"]


def test_correlations_are_written_with_their_sign():
    before = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    after = before + np.array([[0, -0.3, 0], [-0.3, 0, 0.1], [0, 0.1, 0]])
    svg = correlation_picture(CorrelationChange(("x", "y", "z"), before, after), **SAID)
    assert words(svg) == ["y", "−0.30", "z", "0", "+0.10", "x", "y"]
    assert '#c2571a" opacity="0.62"' in svg


def test_both_panels_of_a_crossing_share_their_strengths():
    counts = {ORIGINAL: np.array([[8, 0], [0, 0]]), RELEASE: np.array([[4, 0], [0, 4]])}
    crossing = Crossing(("x", "y"), (("a", "b"), ("c", "d")), counts)
    svg = crossing_picture(crossing, **SAID)
    assert len(lengths(svg, "#0f6674")) == 3
    faint = f"{0.08 + 0.92 * 0.5**0.4:.2f}"
    assert svg.count(f'opacity="{faint}"') == 2
    assert words(svg) == ["c", "d", "Original", "a", "b", "Release", "a", "b"]


@pytest.mark.parametrize("edges", [(0.0, 5e8, 1e9), (1e15, 1.1e15, 1.2e15), (0.0, 1e-9, 2e-9)])
def test_large_and_small_numbers_fit_on_the_axis(edges):
    svg = tally_picture(Tally(("a", "b"), {RELEASE: (1, 3)}, edges=edges), **SAID)
    assert max(map(len, words(svg))) <= 8


def test_single_whole_numbers_are_marked_in_their_middle():
    assert numbers_marked((-0.5, 0.5, 1.5)) == {0.0: "0", 1.0: "1"}


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(2, 8))
@example(102334268761.0, 6.103515625e-05, 7)  # four of the smallest steps that numbers there have
def test_ticks_are_round_and_inside(low, span, count):
    high = low + span
    found = ticks(low, high, count)
    assert len(set(found)) == len(found) <= count + 1
    slack = 1e-6 * span + 1e-9 * max(abs(low), abs(high))
    assert all(low - slack <= t <= high + slack for t in found)


@pytest.mark.parametrize("span", [3, 20, 100, 400, 2000, 40_000])
def test_days_are_marked_at_round_dates(span):
    marks = days_marked(17_900.5, 17_900.5 + span)
    assert 1 <= len(marks) <= 7
    for day, text in marks.items():
        assert np.datetime64(text, "D") == np.datetime64(int(day), "D")


@given(st.text(max_size=60), st.floats(20, 200))
def test_a_cut_label_fits_and_says_so(text, limit):
    shown = cut(text, limit)
    assert width_of(shown) <= limit
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))

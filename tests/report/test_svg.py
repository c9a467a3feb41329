"""SVG that can stand in a page."""

import altair as alt

from tacit.report._svg import as_svg


def chart(label):
    rows = [{"x": label, "y": 1.23456789}, {"x": "b", "y": 2}]
    return alt.Chart(alt.InlineData(values=rows)).mark_bar().encode(x="x:N", y="y:Q")


def test_it_is_named_and_light():
    text = as_svg(chart("a"), title='say "hi" <now>', description="two bars")
    assert text.startswith("<svg")
    assert 'role="img"' in text
    assert "&lt;now&gt;" in text
    assert "two bars" in text
    assert "xmlns" not in text
    assert "aria-roledescription" not in text


def test_text_in_a_chart_is_escaped():
    text = as_svg(chart("</svg><script>"), title="t", description="d")
    assert "<script" not in text
    assert text.count("</svg>") == 1

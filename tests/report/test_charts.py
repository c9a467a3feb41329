"""Charts: right numbers, one look, ready for notebooks."""

import json

import numpy as np
import polars as pl
import pytest

from tacit.report import _charts
from tacit.report._tally import ORIGINAL, RELEASE, Tally


def written(chart):
    """Return what a chart holds as text; that it can be drawn is shown in test_png."""
    return json.dumps(chart.to_dict(), ensure_ascii=False)


@pytest.mark.parametrize("column", ["number", "category", "empty"])
def test_before_after_takes_plain_frames(column):
    frame = pl.DataFrame(
        {
            "number": np.arange(50.0),
            "category": ["a", "b"] * 25,
            "empty": pl.Series([None] * 50, dtype=pl.String),
        }
    )
    text = written(_charts.before_after(frame, frame.head(20), column))
    assert "grey: original" in text
    assert column in text


def test_class_sizes_are_put_into_bands():
    before = np.array([1, 1, 2, 2, 3, 4, 9, 10, 19, 20, 500])
    tally = _charts.tally_class_sizes(before, np.array([20.0, 21.0]))
    assert tally.labels == ("1 (unique)", "2", "3–4", "5–9", "10–19", "20+")
    assert tally.counts == {ORIGINAL: (2, 2, 2, 1, 2, 2), RELEASE: (0, 0, 0, 0, 0, 2)}
    assert "1 (unique)" in written(_charts.class_sizes(before, before))


def test_risks_are_put_into_bands():
    tally = _charts.tally_risks(None, np.array([0.0, 0.001, 0.05, 0.49, 0.5, 1.0, np.nan]))
    assert list(tally.counts) == [RELEASE]
    assert tally.counts[RELEASE] == (1, 1, 0, 1, 0, 1, 2)
    assert tally.labels[0] == "< 0.1 %"
    assert tally.labels[-1] == "≥ 50 %"
    assert "5–10 %" in written(_charts.risk_bands(None, np.array([0.06])))


def test_a_histogram_draws_the_shares():
    tally = Tally(("a", "b"), {ORIGINAL: (1, 3), RELEASE: (2, 2)}, edges=(0.0, 1.0, 2.0))
    spec = _charts.draw(tally).to_dict()
    drawn = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    heights = [[row["y"] for row in rows] for rows in drawn]
    assert heights == [[0.0, 0.25, 0.75, 0.0], [0.0, 0.5, 0.5, 0.0]]


def test_charts_use_the_colours_of_the_page():
    from importlib.resources import files

    css = (files("tacit.report") / "templates" / "style.css").read_text(encoding="utf-8")
    assert f'[fill="{_charts.BEFORE_COLOUR}"]' in css
    assert f'[stroke="{_charts.AFTER_COLOUR}"]' in css

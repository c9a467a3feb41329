"""Means and deviations agree with NumPy, and no extreme is told."""

import numpy as np
import polars as pl
import pytest

from tacit.query import CellKeyNoise


def test_moments(serve, people):
    frame = people.with_columns(income=pl.when(pl.col("id") % 5 > 0).then(pl.col("income")))
    table = serve(frame).ask({"method": "summary", "numbers": ["income", "age"], "by": "sex"}).frame
    women = frame.filter(pl.col("sex") == "f")
    row = table.filter((pl.col("variable") == "income") & (pl.col("sex") == "f"))
    assert row["mean"].item() == pytest.approx(women["income"].mean(), rel=1e-6)
    assert row["variance"].item() == pytest.approx(women["income"].var(), rel=1e-6)
    assert row["deviation"].item() == pytest.approx(women["income"].std(), rel=1e-6)


def test_weights(serve, people):
    table = serve(people).ask({"method": "summary", "numbers": "income", "weighted": True}).frame
    expected = np.average(people["income"], weights=people["w"])
    assert table["mean"].item() == pytest.approx(expected, rel=1e-6)


def test_no_extremes_and_rounded_to_the_noise(serve, people):
    answer = serve(people, CellKeyNoise()).ask({"method": "summary", "numbers": ["income"]})
    assert set(answer.columns) == {"variable", "count", "mean", "variance", "deviation"}
    mean = answer.columns["mean"][0]
    noise = people["income"].max() / 2000
    assert mean == pytest.approx(people["income"].mean(), abs=4.1 * noise)
    step = 10 ** np.floor(np.log10(noise / 10))
    assert mean / step == pytest.approx(round(mean / step), abs=1e-6)

"""Values worked out by hand in source.md."""

import math

import numpy as np
import polars as pl
import pytest

from tacit import utility


def test_by_hand():
    before = pl.DataFrame({"a": [-1.0, 1.0, -1.0, 1.0]})
    found = utility.ProbabilisticLoss().measure(before, before.with_columns(pl.col("a") + 0.5))
    q = np.arange(0.05, 0.96, 0.05)
    quantile = np.mean([math.erf(0.5 / math.sqrt(p * (1 - p) / 4) / math.sqrt(2)) for p in q])
    terms = found.details["terms"]
    assert terms["mean"] == pytest.approx(0.6826894921)
    assert terms["variance"] == 0.0
    assert terms["quantile"] == pytest.approx(quantile)
    assert np.isnan(terms["correlation"])
    assert found.value == pytest.approx((0.6826894921 + quantile) / 3)

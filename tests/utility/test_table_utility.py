"""Measures of tables: by hand, against scipy, and against chance."""

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import jensenshannon

from tacit import utility
from tacit.core.errors import DataError
from tacit.utility.table_utility import table_measures

BEFORE, AFTER = np.array([10.0, 20.0, 0.0, 10.0]), np.array([15.0, 15.0, 5.0, 5.0])


def test_by_hand():
    found = table_measures(BEFORE, AFTER)
    assert found["VW"] == pytest.approx(25 / 12.5 + 25 / 17.5 + 25 / 2.5 + 25 / 7.5)
    assert found["S_pMSE"] == pytest.approx(found["VW"] / 3)
    assert found["FT"] == pytest.approx(4 * ((np.sqrt(AFTER) - np.sqrt(BEFORE)) ** 2).sum())
    assert found["SPECKS"] == pytest.approx(0.25)
    assert found["PO50"] == pytest.approx(12.5)
    assert found["MabsDD"] == pytest.approx(0.5 / 4)
    assert found["G"] == pytest.approx(2 * (15 * np.log(1.5) + 15 * np.log(0.75) + 5 * np.log(0.5)))
    assert found["JSD"] == pytest.approx(jensenshannon(BEFORE, AFTER, base=2) ** 2)
    # for files of equal size pMSE is VW / (8 N) with N records in both: each cell gives
    # (o + s)(s/(o+s) - 1/2)^2 = (s - o)^2 / (4 (o + s)) = VW's term / 8
    assert found["pMSE"] == pytest.approx(found["VW"] / (8 * 80))


def test_draws_from_the_table_itself_give_about_one():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 4, 4000), "b": rng.integers(0, 5, 4000)}).cast(
        pl.String
    )
    values = []
    for seed in range(20):
        drawn = frame.sample(4000, with_replacement=True, seed=seed)
        values.append(utility.TableUtility().measure(frame, drawn).value)
    assert np.mean(values) == pytest.approx(1, abs=0.15)


def test_too_few_columns_are_refused():
    frame = pl.DataFrame({"a": [1, 2]})
    with pytest.raises(DataError, match="2 variables"):
        utility.TableUtility().measure(frame, frame)

"""The independence model on sdcMicro's testdata; see source.md."""

import numpy as np
import polars as pl
import pytest

from tacit import Microdata, risk
from tacit.core.keys import encode
from tacit.risk._decomposable import DecomposableModel, KeyTable

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.fixture
def testdata(shared_data):
    frame = pl.read_csv(shared_data / "casc" / "testdata.csv")
    return Microdata.of(frame).with_roles(keys=KEYS, weight="sampling_weight")


def test_fitted_counts_give_the_figure_of_sdcmicro(testdata):
    table = KeyTable.of(encode(testdata, KEYS))
    expected = DecomposableModel.independence(table).fitted()
    assert len(expected) == 412
    assert f"{np.mean((table.counts == 1) * np.exp(-expected * 0.99)):.4f}" == "0.2249"


def test_integer_codes_are_categories(testdata):
    as_text = Microdata.of(testdata.frame.with_columns(pl.col(KEYS).cast(pl.String)))
    as_text = as_text.with_roles(keys=KEYS, weight="sampling_weight")
    measure = risk.LogLinearRisk(search="none")
    assert measure.measure(testdata).value == pytest.approx(measure.measure(as_text).value)
    assert measure.measure(testdata).details["tau1"] == pytest.approx(5.470, abs=5e-4)


def test_four_keys_are_not_undefined(testdata):
    for search in ("none", "bic", "minimum-error"):
        found = risk.LogLinearRisk(keys=KEYS[:4], search=search).measure(testdata)
        assert np.isfinite(found.value)
        assert 0 <= found.details["tau1"] <= found.details["tau2"] <= 1

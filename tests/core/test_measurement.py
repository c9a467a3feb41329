"""Measurements."""

import json
import math

import numpy as np
import pytest

from tacit.core.measurement import Measurement


def measurement(value=0.25, **fields):
    return Measurement("risk_x", "Risk X", value, "lower", **fields)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.000250, "percent", "0.025 %"),
        (1.0, "percent", "100 %"),
        (1234567.0, "count", "1,234,567"),
        (0.123456789, "number", "0.123457"),
        (math.nan, "percent", "not defined"),
        (math.inf, "number", "inf"),
    ],
)
def test_text(value, unit, text):
    assert measurement(value, unit=unit).text == text


def test_float():
    assert float(measurement(0.25)) == 0.25


def test_plain_data_are_json_whatever_they_hold():
    full = measurement(
        np.float64(math.nan),
        bounds=(0, math.inf),
        per_unit=np.arange(3),
        interval=(np.float32(0.5), -math.inf),
        details={1: np.array([1.5, np.nan]), "n": np.int64(3), "yes": np.bool_(True), "t": (1, 2)},
        warnings=("careful",),
    ).as_dict()
    again = json.loads(json.dumps(full, allow_nan=False))
    assert again == full
    assert again["value"] is None
    assert again["bounds"] == [0, "inf"]
    assert again["interval"] == [0.5, "-inf"]
    assert again["details"] == {"1": [1.5, None], "n": 3, "yes": True, "t": [1, 2]}
    assert "per_unit" not in again


def test_measurements_cannot_be_changed():
    with pytest.raises(AttributeError):
        measurement().value = 0

"""DF07's table of information loss by hand; see source.md."""

from math import sqrt

import polars as pl
import pytest

from tacit import utility

_DROP = 1 - sqrt(3 / 4)
_EXPECTED = {
    "X": (2 / 6, 2 / 6, 5 / 36),
    "mean": (0, 0, 0),
    "V": (1 / 3, 1 / 3, 1 / 3),
    "S": (0, 0, 0),
    "R": (1 / 4, 1 / 2, 1),
    "RF": ((3 * _DROP**2 + 1 / 4) / 4, (3 * _DROP + 1 / 2) / 4, (3 * _DROP / sqrt(3 / 4) + 1) / 4),
    "C": (1 / 16, 1 / 4, 1 / 3),
    "F": (0, 0, 0),
}


@pytest.fixture(scope="module")
def found():
    original = pl.DataFrame({"a": [2, 4, 6], "b": [1, 3, 2]})
    release = pl.DataFrame({"a": [2, 4, 6], "b": [1, 2, 3]})
    return utility.InformationLoss().measure(original, release)


@pytest.mark.parametrize("row", _EXPECTED)
def test_table(found, row):
    measured = found.details["table"][row]
    names = ("mean_square_error", "mean_absolute_error", "mean_variation")
    assert [measured[n] for n in names] == pytest.approx(list(_EXPECTED[row]), abs=1e-12)
    assert measured["zeros"] == 0


def test_score_and_il1s(found):
    assert found.value == pytest.approx(7 / 36)
    assert found.text == "19.44 %"
    assert found.details["il1s"] == pytest.approx(sqrt(2) / 6)

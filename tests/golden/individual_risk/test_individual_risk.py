"""The toy file of Capobianchi, Polettini and Lucarelli; see source.md."""

import math

import numpy as np
import polars as pl
import pytest

from tacit import Microdata, risk

RISKS = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948]
RISKS.append(RISKS[0])
ROWS = [(1, 2, 5, 1), (1, 2, 1, 1), (1, 2, 1, 1), (3, 3, 1, 5), (4, 3, 1, 4), (4, 3, 1, 1),
        (6, 2, 1, 5), (1, 2, 5, 1)]  # fmt: skip
WEIGHTS = [18, 45.5, 39, 17, 541, 8, 5, 92]


@pytest.fixture
def toy():
    frame = pl.DataFrame(ROWS, schema=["Key1", "Key2", "Key3", "Key4"], orient="row")
    frame = frame.with_columns(
        w=pl.Series(WEIGHTS, dtype=pl.Float64), h=pl.Series([1, 1, 1, 1, 2, 2, 2, 2])
    )
    keys = frame.columns[:4]
    return Microdata.of(frame).with_roles(keys=keys, weight="w", household="h")


def test_the_file_is_the_shared_one(toy, shared_data):
    frame = pl.read_csv(shared_data / "casc" / "francdat.csv")
    assert frame.select("Key1", "Key2", "Key3", "Key4").rows() == ROWS
    assert frame["w"].to_list() == WEIGHTS


@pytest.mark.parametrize("formula", ["exact", "approximate"])
def test_risks_of_the_toy_file(toy, formula):
    found = risk.IndividualRisk(formula=formula).measure(toy)
    np.testing.assert_allclose(found.per_unit, RISKS, atol=5e-9)
    assert found.details["expected_reidentifications"] == pytest.approx(sum(RISKS), abs=1e-7)


def test_by_hand():
    odds = 1 / 16
    assert odds * math.log(17) == pytest.approx(RISKS[3], abs=5e-9)
    odds = (2 / 110) / (108 / 110)
    assert odds - odds**2 * math.log(55) == pytest.approx(RISKS[0], abs=5e-9)


def test_households_of_the_toy_file(toy):
    found = risk.HouseholdRisk().measure(toy)
    first = 1 - math.prod(1 - r for r in RISKS[:4])
    second = 1 - math.prod(1 - r for r in RISKS[4:])
    np.testing.assert_allclose(found.per_unit, [first] * 4 + [second] * 4, atol=1e-8)

"""Household risk: one minus the product over the members."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, risk
from tacit.core.errors import DataError
from tacit.risk.household_risk import household_risks


def microdata(x, household, **more):
    frame = pl.DataFrame({"x": x, "h": household, **more}, strict=False)
    return Microdata.of(frame).with_roles(keys=["x"], household="h")


def test_by_hand():
    # f = 2, 2, 1, 3, 3, 3 without weights: risks 1/2, 1/2, 1, 1/3, 1/3, 1/3
    data = microdata(["a", "a", "b", "c", "c", "c"], [1, 2, 2, 3, 3, 4])
    found = risk.HouseholdRisk().measure(data)
    np.testing.assert_allclose(found.per_unit, [1 / 2, 1, 1, 5 / 9, 5 / 9, 1 / 3])
    assert found.value == pytest.approx((1 / 2 + 1 + 5 / 9 + 1 / 3) / 4)
    assert found.details["households"] == 4
    expected = 1 / 2 + 2 * 1 + 2 * 5 / 9 + 1 / 3
    assert found.details["expected_persons_in_them"] == pytest.approx(expected)
    assert found.details["expected_persons_alone"] == pytest.approx(3)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=30),
)
def test_equals_the_product_over_members(rows):
    risks, member_of = (np.array(c) for c in zip(*rows, strict=True))
    found = household_risks(risks, member_of, 6)
    for g in range(6):
        members = risks[member_of == g]
        assert found[g] == pytest.approx(1 - np.prod(1 - members), abs=1e-12)
        assert np.all(found[g] >= members - 1e-12)


def test_records_without_a_household_stand_alone():
    found = risk.HouseholdRisk().measure(microdata(["a", "a", "b"], [None, None, 7]))
    assert found.details["households"] == 3
    np.testing.assert_allclose(found.per_unit, [0.5, 0.5, 1])


def test_text_households_and_weights():
    data = microdata(["a", "b"], ["ö", "ö"], w=[10.0, 10.0]).with_roles(weight="w")
    alone = risk.IndividualRisk().measure(data).per_unit
    found = risk.HouseholdRisk().measure(data)
    np.testing.assert_allclose(found.per_unit, 1 - np.prod(1 - alone))


def test_without_households_there_is_an_objection_and_a_release_without_them_is_read_singly():
    plain = Microdata.of(pl.DataFrame({"x": [1, 2]})).with_roles(keys=["x"])
    assert "household" in risk.HouseholdRisk().objection(plain)
    census = tacit.datasets.census(80)
    measure = risk.HouseholdRisk(keys=["sex", "age"])
    found = measure.measure(census, census.drop(["household"]))
    assert found.value == pytest.approx(
        risk.IndividualRisk(keys=["sex", "age"]).measure(census).value
    )
    assert "every record" in " ".join(found.warnings)


def test_households_are_riskier_than_their_members():
    census = tacit.datasets.census(300)
    person = risk.IndividualRisk(keys=["region", "sex", "age"]).measure(census).per_unit
    household = risk.HouseholdRisk(keys=["region", "sex", "age"]).measure(census).per_unit
    assert np.all(household >= person * (1 - 1e-12))
    assert np.any(household > 1.5 * person)


def test_nothing_to_measure():
    with pytest.raises(DataError, match="at least one record"):
        risk.HouseholdRisk().measure(microdata([], []))

"""Individual risk: the posterior mean of 1/F, and what is built on it."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, risk
from tacit.core.errors import DataError, ParameterError
from tacit.risk.individual_risk import individual_risks, risk_threshold


def microdata(**columns):
    keys = [c for c in columns if c != "w"]
    data = Microdata.of(pl.DataFrame(columns, strict=False)).with_roles(keys=keys)
    return data.with_roles(weight="w") if "w" in columns else data


def summed(f, p, n_terms=200_000):
    """The mean of 1/F term by term: F is negative binomial, at least f."""
    h = np.arange(f, f + n_terms, dtype=float)
    lgamma = np.frompyfunc(math.lgamma, 1, 1)
    log_p = (lgamma(h) - lgamma(h - f + 1)).astype(float) - math.lgamma(f)
    log_p += f * math.log(p) + (h - f) * math.log1p(-p)
    return float(np.sum(np.exp(log_p) / h))


@pytest.mark.parametrize("f", [1, 2, 3, 7, 31, 32, 33, 150])
@pytest.mark.parametrize("p", [0.01, 0.2, 0.499, 0.5, 0.9, 0.9999])
def test_the_closed_form_is_the_mean_of_the_negative_binomial(f, p):
    found = individual_risks(np.array([f]), np.array([f / p]))[0]
    assert found == pytest.approx(summed(f, p), rel=1e-9)


def test_both_ways_to_compute_it_meet():
    below, above = np.nextafter(0.5, 0), 0.5
    for f in (1, 5, 32):
        found = individual_risks(np.array([f, f]), np.array([f / below, f / above]))
        assert found[0] == pytest.approx(found[1], rel=1e-12)


@given(st.integers(1, 500), st.floats(1, 1e9))
def test_risk_lies_between_that_of_the_population_and_that_of_the_file(f, ratio):
    found = individual_risks(np.array([f]), np.array([f * ratio]))[0]
    # Jensen: E(1/F) >= 1/E(F), and E(F) = f/p; a population is at least as large as the file
    assert 1 / (f * ratio) * (1 - 1e-9) <= found <= 1 / f * (1 + 1e-12)


@given(st.integers(1, 60), st.floats(1.01, 1e6), st.floats(1.01, 10))
def test_a_larger_population_is_safer(f, ratio, factor):
    small, large = individual_risks(np.array([f, f]), f * np.array([ratio, ratio * factor]))
    assert large < small


def test_approximation_for_large_keys():
    f, population = np.array([1, 2, 3, 10]), np.array([20.0, 40.0, 30.0, 200.0])
    exact, close = individual_risks(f, population), individual_risks(f, population, "approximate")
    assert exact[:2].tolist() == close[:2].tolist()
    assert close[2] == pytest.approx(0.1 / (3 - 0.9))
    np.testing.assert_allclose(exact, close, rtol=0.12)
    assert np.any(exact != close)


@pytest.mark.parametrize("formula", ["exact", "approximate"])
def test_where_everybody_is_in_the_file_the_risk_is_one_over_f(formula):
    data = microdata(x=["a", "a", "a", "b"], w=[1.0, 0.3, 1.0, 1.0])
    found = risk.IndividualRisk(formula=formula).measure(data)
    np.testing.assert_allclose(found.per_unit, [1 / 3, 1 / 3, 1 / 3, 1])
    assert found.value == pytest.approx(0.5)
    assert found.details["expected_reidentifications"] == pytest.approx(2)


def test_missing_values_hide_a_record_among_those_it_may_equal():
    data = microdata(x=["a", "a", None, "b"])
    wildcard = risk.IndividualRisk().measure(data).per_unit
    strict = risk.IndividualRisk(missing="strict").measure(data).per_unit
    np.testing.assert_allclose(wildcard, [1 / 3, 1 / 3, 1 / 4, 1 / 2])
    np.testing.assert_allclose(strict, [1 / 2, 1 / 2, 1, 1])


@given(
    st.lists(st.floats(1e-4, 1), min_size=1, max_size=40),
    st.floats(0.001, 1),
)
def test_threshold_brings_the_global_risk_down_to_what_was_asked(risks, limit):
    risks = np.array(risks)
    threshold = risk_threshold(risks, limit)
    assert np.minimum(risks, threshold).mean() <= limit + 1e-12
    if threshold < 1:
        assert np.minimum(risks, threshold).mean() == pytest.approx(limit)


def test_threshold_in_the_details():
    data = microdata(x=["a"] * 9 + ["b"])
    found = risk.IndividualRisk(max_global_risk=0.15).measure(data)
    # nine records at 1/9 and one at r: (1 + r) / 10 = 0.15
    assert found.details["threshold"] == pytest.approx(0.5)
    assert found.details["above_threshold"] == 1
    assert risk.IndividualRisk(max_global_risk=0.5).measure(data).details["above_threshold"] == 0


def test_identity_is_the_worst_release_and_constant_keys_the_best():
    census = tacit.datasets.census(300)
    measure = risk.IndividualRisk(keys=["region", "sex", "age"])
    original = measure.measure(census)
    assert measure.measure(census, tacit.Plan().apply(census, seed=1)).value == original.value
    plan = tacit.Plan([tacit.mask.Recode(column="age", width=20)])
    coarser = measure.measure(census, plan.apply(census, seed=1))
    gone = measure.measure(census, census.drop(["region", "sex", "age"]))
    assert gone.value < coarser.value < original.value
    assert gone.value == pytest.approx(1 / census.weights.sum(), rel=0.01)
    assert "None of the keys" in gone.warnings[0]


def test_explanation_and_plain_data():
    found = risk.IndividualRisk(keys="sex").measure(tacit.datasets.census(50))
    assert "expected to be re-identified" in found.explanation
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.parametrize("fraction", [0, 1.5, -0.1])
def test_bad_fraction(fraction):
    with pytest.raises(ParameterError, match="sampling_fraction"):
        risk.IndividualRisk(sampling_fraction=fraction)


def test_no_keys_and_no_records():
    plain = Microdata.of(pl.DataFrame({"x": [1]}))
    assert "key" in risk.IndividualRisk().objection(plain)
    with pytest.raises(DataError, match="key"):
        risk.IndividualRisk().measure(plain)
    with pytest.raises(DataError, match="at least one record"):
        risk.IndividualRisk(keys="x").measure(plain, pl.DataFrame({"x": pl.Series([], dtype=int)}))

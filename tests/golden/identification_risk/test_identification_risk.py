"""The three probabilities of section 4 of TFB (truta2003); see source.md."""

import numpy as np
import polars as pl
import pytest

from tacit import Microdata, risk


@pytest.mark.parametrize(("ratio", "percent"), [(5e4, "0.0250"), (1e7, "4.7624"), (6e7, "23.0787")])
def test_examples_of_section_4(ratio, percent):
    found = risk.identification_probability(inclusion=1e-4, n_released=20_000, ratio=ratio)
    assert f"{100 * found:.4f}" == percent


def test_the_ratio_of_all_records_may_be_given():
    ratios = np.zeros(20_000)
    ratios[17] = 5e4
    found = risk.identification_probability(1e-4, 20_000, ratios)
    assert found[17] == risk.identification_probability(1e-4, 20_000, 5e4)
    assert np.count_nonzero(found) == 1


def test_the_example_comes_out_of_a_file():
    """50 ages and 1 000 zip codes, each equally common, one record per released combination."""
    pairs = np.arange(20_000)
    # Each age and each zip code occurs equally often; no combination occurs twice.
    age, zip_code = 18 + (pairs + pairs // 1000) % 50, pairs % 1000
    frame = pl.DataFrame({"age": age, "zip": zip_code}).cast({"zip": pl.String})
    data = Microdata.of(frame).with_roles(keys=["age", "zip"])
    measure = risk.IdentificationRisk(base="independent", population=200_000_000)
    found = measure.measure(data)
    assert found.details["inclusion"] == 1e-4
    assert f"{100 * found.value:.4f}" == "0.0250"
    np.testing.assert_allclose(
        found.per_unit, risk.identification_probability(1e-4, 20_000, 5e4), rtol=1e-9
    )

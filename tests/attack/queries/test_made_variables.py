"""Made variables: the attacks of Bleninger et al. (2011), exact without rules, refused with."""

import pytest

import tacit
from tacit import attack
from tacit.query import Policy


@pytest.fixture(scope="module")
def firms():
    return tacit.datasets.establishments(2000)


@pytest.mark.parametrize(
    ("variant", "error"), [("dummy", 1e-8), ("jitter", 1e-2), ("outlier", 1e-2)]
)
def test_without_rules_the_unit_is_given_away(firms, variant, error):
    """Table 3 of bleninger2011: exact for dummies; Table 1: about 1e-3 for outliers."""
    made = attack.MadeVariables(variant=variant, response="turnover", known="employees")
    found = made.run((firms, Policy(name="open")))
    assert found.success.value == 1.0
    assert found.details["median_error"] < error
    assert found.leaked


@pytest.mark.parametrize("variant", ["dummy", "jitter", "outlier"])
def test_default_policy(firms, strict, variant):
    found = attack.MadeVariables(variant=variant, response="turnover").run((firms, strict))
    assert found.success.value <= found.baseline.value
    assert not found.leaked

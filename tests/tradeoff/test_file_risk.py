"""The risk of a file: from the risks of its units, by definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import risk
from tacit.core.errors import ParameterError
from tacit.tradeoff import FileRisk, Scenario

UNITS = st.lists(st.floats(0, 1), min_size=1, max_size=20).map(np.array)


def test_one_random_attempt_is_the_mean_and_the_riskiest_is_the_largest():
    data = tacit.datasets.patients()
    per_unit = risk.IdentificationRisk().measure(data).per_unit
    assert FileRisk().measure(data).value == pytest.approx(per_unit.mean())
    assert FileRisk(targets="riskiest").measure(data).value == pytest.approx(per_unit.max())


def test_by_hand():
    """Two units of risk 1/2 and 0: random twice 1 - (3/4)^2, the riskiest twice 1 - 1/2."""
    units = np.array([0.5, 0.0])
    assert FileRisk(attempts=2).joined(units) == pytest.approx(7 / 16)
    assert FileRisk(attempts=2, targets="riskiest").joined(units) == pytest.approx(0.5)


@given(UNITS, st.integers(1, 8))
def test_more_attempts_never_lower_the_risk(units, m):
    for targets in ("random", "riskiest"):
        fewer = FileRisk(attempts=m, targets=targets).joined(units)
        more = FileRisk(attempts=m + 1, targets=targets).joined(units)
        assert -1e-12 <= fewer <= more + 1e-12 <= 1 + 1e-9
    easiest = FileRisk(attempts=m, targets="riskiest").joined(units)
    assert easiest >= FileRisk(attempts=min(m, len(units))).joined(units) - 1e-9


def test_simulated_attacks_agree():
    """Draw targets and luck many times: the share of attacks with a success is the risk."""
    units = np.array([0.05, 0.3, 0.0, 0.6])
    rng = np.random.default_rng(1)
    tried = rng.integers(4, size=(100_000, 3))
    success = (rng.random(tried.shape) < units[tried]).any(axis=1).mean()
    assert FileRisk(attempts=3).joined(units) == pytest.approx(success, abs=0.006)


def test_scenarios_are_weighted():
    data = tacit.datasets.patients()
    age, both = Scenario(keys=["Age"], name="age"), Scenario(keys=["Age", "State"], weight=3)
    alone = [FileRisk(scenarios=[s]).measure(data).value for s in (age, both)]
    found = FileRisk(scenarios=[age, both]).measure(data)
    assert found.value == pytest.approx((alone[0] + 3 * alone[1]) / 4)
    assert set(found.details["scenarios"]) == {"age", "scenario 2"}


def test_bad_input():
    with pytest.raises(ParameterError):
        FileRisk(attempts=0)
    with pytest.raises(ParameterError):
        FileRisk(scenarios=[]).measure(tacit.datasets.patients())
    with pytest.raises(ParameterError, match="between 0 and 1"):
        FileRisk().joined(np.array([2.0]))
    assert FileRisk().joined(np.array([])) == 0.0

"""Policy files."""

import pytest

from tacit.core.errors import ParameterError, ReadError
from tacit.federated import simulate
from tacit.federated.analysis import analysis_from
from tacit.federated.policy import Policy


def test_a_policy_is_read(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('analyses = ["ols"]\nmin_records = 50\nask = true\n')
    assert Policy.read(path) == Policy(analyses=("ols",), min_records=50, ask=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("min_agencies = 2", "greater than or equal to 3"),
        ("min_record = 5", "did you mean 'min_records'"),
        ("max_leverage = 0", "greater than 0"),
        ("= 3", "no TOML"),
    ],
    ids=["two", "misspelt", "zero", "broken"],
)
def test_bad_policies_are_refused(text, why, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=why):
        Policy.read(path)


def test_a_missing_policy_is_no_policy(tmp_path):
    with pytest.raises(ReadError):
        Policy.read(tmp_path / "none.toml")


ASKED = [
    {"analysis": "count", "variables": ["age"]},
    {"analysis": "mean", "variables": ["age", "income"]},
    {"analysis": "covariance", "variables": ["age", "income"]},
    {"analysis": "components", "variables": ["age", "income"]},
    {"analysis": "clusters", "variables": ["age", "income"], "k": 2, "min_moving": 8},
    {"analysis": "histogram", "variable": "age", "edges": [45.0, 55.0]},
    {"analysis": "quantiles", "variable": "age", "edges": [42.0, 50.0, 58.0]},
    {"analysis": "contingency", "levels": {"sex": ["f", "m"]}},
    {"analysis": "ols", "y": "income", "x": ["age"]},
    {"analysis": "wls", "y": "income", "x": ["age"], "weight": "w"},
    {"analysis": "logistic", "y": "event", "x": ["age"]},
    {"analysis": "poisson", "y": "visits", "x": ["age"]},
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["analysis"])
def test_agencies_with_different_rules_agree_on_the_answer(parts, asked):
    """Each has a policy of its own: the strictest holds, and all say the same."""
    given = dict(asked)
    rules = {
        "agency-00": Policy(min_cell=7, max_leverage=0.4, max_r_squared=0.99),
        "agency-01": Policy(min_cell=2, min_records=20, max_told=0.9),
    }
    mixed = simulate(parts, given.pop("analysis"), policy=rules, **given)
    strict = simulate(parts, analysis_from(asked), policy=Policy(min_cell=8))
    assert mixed.values == strict.values

"""Policy files."""

import pytest

from tacit.core.errors import ParameterError, ReadError
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

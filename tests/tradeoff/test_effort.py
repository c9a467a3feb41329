"""How much work a search may do."""

import pytest

from tacit.core.errors import ParameterError
from tacit.tradeoff import Effort


@pytest.mark.parametrize(
    "wrong",
    [
        {"evaluations": 0},
        {"seconds": 0},
        {"replicates": 0},
        {"sample": 10},
        {"workers": 0},
        {"sampler": "x"},
    ],
)
def test_bad_efforts_are_refused(wrong):
    with pytest.raises(ParameterError):
        Effort(**wrong)


def test_defaults():
    assert Effort().evaluations == 100
    assert Effort().workers is None

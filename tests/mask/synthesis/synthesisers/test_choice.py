"""Models by name."""

import pytest

from tacit.core.errors import ParameterError
from tacit.mask.synthesis.synthesisers.choice import has_spikes, models_of

from ..conftest import column


def test_models_suit_their_variables():
    number, group = column([1.0, 2.0]), column(["a", "b"])
    assert models_of(number, "cart", {}) == models_of(group, "cart", {})
    for wrong, key in ((number, "polytomous"), (group, "normal"), (group, "survival")):
        with pytest.raises(ParameterError, match="not made"):
            models_of(wrong, key, {})
    with pytest.raises(ParameterError, match="ended"):
        models_of(number, "survival", {})
    assert not has_spikes("poisson")

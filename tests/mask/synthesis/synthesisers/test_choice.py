"""Models by name."""

import polars as pl
import pytest

import tacit
from tacit.core.errors import ParameterError
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.synthesisers.choice import has_spikes, models_of


def column(values, name="x", **kinds):
    data = tacit.Microdata.of(pl.DataFrame({name: values}))
    if kinds:
        data = data.with_categories(**kinds)
    return Column.of(data.local[name], data.schema[name])


def test_models_suit_their_variables():
    number, group = column([1.0, 2.0]), column(["a", "b"])
    assert models_of(number, "cart", {}) == models_of(group, "cart", {})
    for wrong, key in ((number, "polytomous"), (group, "normal"), (group, "survival")):
        with pytest.raises(ParameterError, match="not made"):
            models_of(wrong, key, {})
    with pytest.raises(ParameterError, match="ended"):
        models_of(number, "survival", {})
    assert not has_spikes("poisson")

"""Semantic microaggregation as a value."""

import numpy as np
import pytest

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.logs import SemanticMicroaggregation


def test_groups_and_lines(made_up, demonstration):
    method = SemanticMicroaggregation(k=4, categories=1)
    grouped = method.group(made_up, demonstration, np.random.default_rng(1))
    assert np.bincount(grouped.groups).min() >= 4
    assert set(grouped.seconds) == {"classification", "partition", "aggregation"}
    assert 0.5 < grouped.shares[4] < grouped.shares[0] < 1


@pytest.mark.parametrize("way", ["greedy", "mdav"])
@pytest.mark.parametrize("block", [40, 5000])
def test_variants_keep_the_guarantee(made_up, demonstration, way, block):
    method = SemanticMicroaggregation(k=5, partition=way, block=block, levels=2)
    grouped = method.group(made_up, demonstration, np.random.default_rng(1))
    assert np.bincount(grouped.groups).min() >= 5


def test_it_is_a_plain_frozen_value():
    method = SemanticMicroaggregation(k=5, fill=True)
    assert SemanticMicroaggregation(**method.as_dict()) == method


@pytest.mark.parametrize(
    "bad", [{"k": 1}, {"levels": 0}, {"categories": 0}, {"partition": "x"}, {"blocks": 3}]
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ParameterError):
        SemanticMicroaggregation(**bad)


def test_fewer_than_k_users_are_refused(log_of, taxonomy):
    with pytest.raises(ProtectionError):
        SemanticMicroaggregation(k=3).group(
            log_of({"u": ["flu"], "v": ["flu"]}), taxonomy, np.random.default_rng(0)
        )


def test_a_taxonomy_in_another_language_is_refused(log_of, taxonomy):
    log = log_of({str(n): ["gripe"] for n in range(5)})
    with pytest.raises(DataError, match="knows no word"):
        SemanticMicroaggregation(k=3).group(log, taxonomy, np.random.default_rng(0))

"""Frequencies and co-occurrence."""

import numpy as np
import pytest

from tacit import logs


@pytest.fixture
def twins(log_of, taxonomy):
    """Users with equal logs, which common logs keep exactly."""
    asked = {f"f{n}": ["flu"] * 3 + ["migraine"] * 3 for n in range(3)}
    asked |= {f"r{n}": ["risotto"] * 3 + ["chess"] * 6 for n in range(3)}
    return logs.anonymize(log_of(asked), taxonomy, k=3, cleaning=None, seed=1)


def test_equal_users_lose_nothing(twins):
    assert logs.query_frequencies(twins).value == pytest.approx(1.0)
    found = logs.co_occurrence(twins)
    assert found.value == pytest.approx(1.0)
    assert found.details["pairs"] == 6


def test_frequencies_by_hand(log_of, taxonomy):
    asked = {"u": ["flu"] * 4, "v": ["flu"] * 4, "w": ["chess"]}
    release = logs.anonymize(log_of(asked), taxonomy, k=2, levels=1, seed=1)
    # Cleaning removes chess: shares 8/9 and 1/9 become 1 and 0.
    assert logs.query_frequencies(release).value == pytest.approx(8 / 9)


def test_measures_of_a_made_up_log(release):
    frequencies, together = logs.query_frequencies(release), logs.co_occurrence(release, top=50)
    assert 0.5 < frequencies.value < 1
    assert frequencies.details["rank_correlation_of_top_100"] > 0.5
    assert 0.3 < together.value <= 1
    assert together.details["queries"] == 50


def test_constant_counts_have_no_correlation(log_of, taxonomy):
    release = logs.anonymize(
        log_of({str(n): ["flu"] for n in range(4)}), taxonomy, k=2, fill=True, seed=1
    )
    assert np.isnan(logs.co_occurrence(release).value)

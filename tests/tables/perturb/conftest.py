"""A census with record keys, and its tables."""

import pytest

import tacit
from tacit import tables

SECRET = "a long and secret phrase"  # noqa: S105 - of made-up people


@pytest.fixture(scope="session")
def keyed():
    return tables.with_record_keys(tacit.datasets.census(3000, seed=3), SECRET, unit="person_id")


@pytest.fixture(scope="session")
def census_table(keyed):
    return tacit.tabulate(
        keyed, ["region", "education", "marital"], weights=None, keys=["rk1", "rk2"]
    )

"""Fixtures shared by all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

# Machines are shared and first calls compile: time says nothing about an example.
settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of public reference data, which a user's clone does not have."""
    if not _SHARED.is_dir():
        pytest.skip(f"reference data are not here: {_SHARED}")
    return _SHARED

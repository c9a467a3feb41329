"""Data on which every method is tried, and how a refusal must look."""

from functools import cache

import numpy as np
import pytest

import tacit
from tacit.core.errors import DataError, ProtectionError, SchemaError
from tacit.core.schema import Role

REFUSALS = (DataError, ProtectionError, SchemaError)


@cache
def _census(n=200, missing=0.0):
    return tacit.datasets.census(n, missing=missing)


@pytest.fixture(scope="session")
def census():
    """Function that returns the same people each time: ``census(200, missing=0.1)``."""
    return _census


def check_message(error):
    """Check that a refusal is one line that says something."""
    assert len(str(error)) > 15
    assert "\n" not in str(error)


@pytest.fixture(scope="session")
def well_said():
    """Check of an error's message."""
    return check_message


@pytest.fixture(scope="session")
def accepted():
    """Function that returns what an action gives, or None where it is refused in good words."""

    def accepted(action, *arguments):
        try:
            return action(*arguments)
        except REFUSALS as error:
            check_message(error)
            return None

    return accepted


def _constant(data):
    return data.take(np.zeros(30, dtype=int))


def _blanked(data):
    design = data.schema.names(Role.WEIGHT, Role.HOUSEHOLD)
    columns = [c for c in data.columns if c not in design]
    return data.with_missing({c: np.ones(len(data), dtype=bool) for c in columns})


def _one_complete(data):
    few = data.take(np.arange(5))
    columns = few.schema.names(Role.KEY, Role.CONFIDENTIAL)
    return few.with_missing({c: np.arange(5) > 0 for c in columns})


def _heavy(data):
    return data.with_arrays({"weight": np.geomspace(1e-3, 1e9, len(data))})


def _bad_weights(data):
    return data.with_arrays({"weight": np.where(np.arange(len(data)) % 5, 1.0, -1.0)})


def _infinite(data):
    income = data.numeric(["income"])[:, 0].copy()
    income[:3] = np.inf
    return data.with_arrays({"income": income})


def _one_household(data):
    return data.with_arrays({"household": np.ones(len(data), dtype=np.int64)})


EDGES = {
    "one row": lambda data: data.take(np.array([0])),
    "two rows": lambda data: data.take(np.array([0, 1])),
    "empty": lambda data: data.take(np.array([], dtype=int)),
    "constant": _constant,
    "all missing": _blanked,
    "one complete record": _one_complete,
    "very unequal weights": _heavy,
    "bad weights": _bad_weights,
    "infinite values": _infinite,
    "one household": _one_household,
}


@pytest.fixture(params=EDGES)
def edge(request):
    """Data at the edge of what can be protected."""
    return EDGES[request.param](_census(60))

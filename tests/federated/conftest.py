"""Agencies, records and channels that misbehave."""

import numpy as np
import polars as pl
import pytest

from tacit.federated.coordinator import Coordinator
from tacit.federated.simulator import InProcess, agencies
from tacit.federated.stopped import LostError


def made_up(n_agencies, n=60, seed=3):
    """Records of agencies of different sizes: numbers, a category, an event, a count, a weight."""
    rng = np.random.default_rng(seed)
    parts = {}
    for k in range(n_agencies):
        size = n + 10 * k
        age, year = rng.normal(50, 10, size), rng.normal(2015, 3, size)
        female = rng.random(size) < 0.5
        risk = 0.05 * (age - 50) + 0.5 * female
        parts[f"agency-{k:02d}"] = pl.DataFrame(
            {
                "age": age,
                "year": year,
                "sex": np.where(female, "f", "m"),
                "income": 3 + 0.2 * age - 0.01 * year + 2 * female + rng.normal(0, 1, size),
                "event": (rng.random(size) < 1 / (1 + np.exp(-risk))).astype(int),
                "visits": rng.poisson(np.exp(0.4 * risk)),
                "w": rng.uniform(0.5, 2, size),
            }
        )
    return parts


@pytest.fixture(scope="session")
def parts():
    """Three agencies."""
    return made_up(3)


@pytest.fixture(scope="session")
def five():
    """Five agencies."""
    return made_up(5)


@pytest.fixture(scope="session")
def files():
    """Three agencies with different variables of some of the same units."""
    rng = np.random.default_rng(0)
    n = 400
    a, b, c = rng.normal(40, 5, n), rng.normal(2000, 3, n), rng.lognormal(3, 1, n)
    whole = pl.DataFrame(
        {
            "id": [f"ü{i}" for i in range(n)],
            "a": a,
            "b": b,
            "c": c,
            "y": 2 * a + 0.5 * b - 0.01 * c + rng.normal(0, 3, n),
        }
    )
    whole = whole.with_columns(b=pl.when(pl.int_range(n) % 50 == 7).then(None).otherwise("b"))
    return {
        "tax": whole.select("id", "y", "a").sample(350, seed=1, shuffle=True),
        "health": whole.select("id", "b").sample(370, seed=2, shuffle=True),
        "school": whole.select("id", "c").sample(380, seed=3, shuffle=True),
    }


class Faulty(InProcess):
    """A channel that can be cut, or can change what passes."""

    def __init__(self, agency):
        super().__init__(agency, [])
        self.cut_at, self.change_reply, self.change_request = None, None, None

    def send(self, request):
        kind = request[8:60].split(b'"')[3].decode()
        if self.cut_at is not None and (self.cut_at == "gone" or self.cut_at == kind):
            self.cut_at = "gone"
            raise LostError("cannot be reached")
        if self.change_request is not None:
            request = self.change_request(kind, request)
        reply = super().send(request)
        return reply if self.change_reply is None else self.change_reply(kind, reply)


@pytest.fixture
def federation():
    """Make a coordinator over faulty channels: ``federation(parts, threshold=3)``."""

    def make(parts, policy=None, threshold=None, encoding=None, members=None):
        members = agencies(parts, policy) if members is None else members
        channels = {a.name: Faulty(a) for a in members}
        coordinator = Coordinator(channels, threshold=threshold, encoding=encoding, workers=1)
        return coordinator, channels

    return make

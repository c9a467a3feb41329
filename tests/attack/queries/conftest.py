"""A town whose people can be set apart, behind an open policy and the default one."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.attack import QueryTarget
from tacit.query import Policy

REGIONS, JOBS, AREAS = 6, 5, 4


def target_of(frame, policy, **roles):
    return QueryTarget(tacit.Microdata.of(frame).with_roles(**roles), policy)


@pytest.fixture(scope="session")
def town():
    """People in 120 groups; one of each group has the flag. Illness is a coin."""
    rng, n = np.random.default_rng(1), 7200
    group = np.arange(n) % (REGIONS * JOBS * AREAS)
    return pl.DataFrame(
        {
            "region": [f"r{g}" for g in group // (JOBS * AREAS)],
            "job": [f"j{g}" for g in group // AREAS % JOBS],
            "area": [f"a{g}" for g in group % AREAS],
            "flag": np.where(np.arange(n) < REGIONS * JOBS * AREAS, "yes", "no"),
            "half": rng.choice(["x", "y"], n),
            "ill": rng.choice(["no", "yes"], n),
        }
    )


@pytest.fixture(scope="session")
def kinds(town):
    """The same town with an illness of four kinds, so that few people suffice to beat guessing."""
    rng = np.random.default_rng(9)
    return town.with_columns(ill=pl.Series(rng.choice(["k1", "k2", "k3", "k4"], len(town))))


@pytest.fixture(scope="session")
def strict():
    """The default policy, without its limit of requests in a time: attackers are patient."""
    policy = Policy.named("strict")
    return policy.replace(guards=tuple(g for g in policy.guards if g.key != "rate-limit"))


@pytest.fixture(scope="session")
def behind(town):
    """Return the town behind a policy."""
    keys = ["region", "job", "area", "flag"]

    def made(policy, frame=None):
        return target_of(town if frame is None else frame, policy, keys=keys, confidential=["ill"])

    return made

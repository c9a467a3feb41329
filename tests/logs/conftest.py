"""Small logs and taxonomies."""

import polars as pl
import pytest

import tacit
from tacit import logs

TERMS = {
    "flu": ["Health/Infections/Influenza", "News/Health"],
    "migraine": ["Health/Nerves/Migraine", "News/Health"],
    "risotto": ["Home/Cooking/Italy/Rice"],
    "lasagne": ["Home/Cooking/Italy/Pasta"],
    "apple": ["Home/Fruit"],
    "apple pie": ["Home/Cooking/Baking/Pies"],
    "chess": ["Games/Board"],
}


@pytest.fixture(scope="session")
def taxonomy():
    return logs.Taxonomy.of(TERMS, title="test")


@pytest.fixture(scope="session")
def made_up():
    """A made-up log of 150 users."""
    return logs.QueryLog.of(tacit.datasets.query_log(150))


@pytest.fixture(scope="session")
def demonstration():
    return logs.demonstration()


@pytest.fixture(scope="session")
def release(made_up, demonstration):
    """That log, protected as by default."""
    return logs.anonymize(made_up, demonstration, k=3, levels=5, seed=11)


@pytest.fixture
def log_of():
    """Make a log from a dict of users and their queries."""

    def log_of(asked):
        rows = [(user, query) for user, queries in asked.items() for query in queries]
        frame = pl.DataFrame(rows, schema={"user": pl.String, "query": pl.String}, orient="row")
        return logs.QueryLog.of(frame)

    return log_of

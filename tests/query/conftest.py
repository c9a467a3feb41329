"""Small servers on which single rules are tried."""

import numpy as np
import polars as pl
import pytest

from tacit import query

SECRET = "a long and secret phrase"  # noqa: S105 - of test data


def make_people(n=2000, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["N", "S", "W"], n, p=[0.6, 0.3, 0.1]),
            "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
            "age": rng.integers(0, 90, n),
            "income": np.round(rng.lognormal(9, 0.8, n), 2),
            "w": np.round(rng.uniform(1, 9, n), 3),
        }
    )


@pytest.fixture(scope="session")
def people():
    return make_people()


@pytest.fixture
def serve():
    """Function that makes a server with some guards: ``serve(frame, guard, guard)``."""

    def serve(frame, *guards, policy=None, **parts):
        policy = policy or query.Policy(name="test", guards=guards)
        source = query.Source(frame, **({"unit": "id", "weight": "w"} | parts))
        return query.Server(source, policy, secret=SECRET)

    return serve


@pytest.fixture
def count():
    """Function that returns one released count: ``count(answer, sex="f")``."""

    def count(answer, column="count", **cell):
        table = answer.frame
        for name, value in cell.items():
            table = table.filter(pl.col(name) == value)
        return table[column].item()

    return count


# -- models ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def model_data():
    """Records with numbers, categories, weights and missing values, for models."""
    rng = np.random.default_rng(11)
    n = 1500
    region = rng.choice(["North", "East", "Süd"], n, p=[0.5, 0.3, 0.2])
    sex = rng.choice(["f", "m"], n, p=[0.55, 0.45])
    age = rng.integers(18, 80, n)
    size = np.round(rng.lognormal(2.5, 0.6, n), 2)
    wage = 20 + 0.2 * age + 4 * (region == "East") + 2 * (sex == "m") + 3 * np.log(size)
    wage = np.round(wage + rng.normal(0, 6, n), 3)
    works = np.where(rng.random(n) < 1 / (1 + np.exp(-(age - 45) / 15)), "yes", "no")
    frame = pl.DataFrame(
        {
            "region": region,
            "sex": sex,
            "works": works,
            "age": age,
            "size": size,
            "wage": wage,
            "visits": rng.poisson(np.exp(0.2 + 0.01 * age)),
            "weight": np.round(rng.uniform(0.5, 4, n), 3),
        }
    )
    gaps = rng.random(n) < 0.04
    return frame.with_columns(age=pl.when(pl.Series(~gaps)).then(pl.col("age")))


@pytest.fixture(scope="session")
def complete_data(model_data):
    """The complete records, for reference programs."""
    return model_data.drop_nulls().to_pandas()


@pytest.fixture(scope="session")
def guarded():
    """Function that makes a server of some guards: ``guarded(frame, guard, unit="unit")``."""

    def guarded(frame, *guards, unit=None):
        source = query.Source(frame, unit=unit, weight="weight")
        return query.Server(source, query.Policy(name="some", guards=guards), secret=SECRET)

    return guarded


@pytest.fixture(scope="session")
def open_server(guarded, model_data):
    """A server without guards."""
    return guarded(model_data)

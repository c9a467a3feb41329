"""A release of awkward data and a scorecard made by hand: the report needs no measure to exist."""

import dataclasses
import datetime as dt

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.data import Microdata
from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard


@pytest.fixture(scope="session")
def awkward() -> Microdata:
    """Records with every kind of column, hostile names and values, and direct identifiers."""
    n = 400
    rng = np.random.default_rng(3)
    income = np.round(rng.lognormal(10, 0.7, n), 2)
    income[0] = 987654.32
    frame = pl.DataFrame(
        {
            "name": [f"Ada Q. Person{i:03}" for i in range(n)],
            "region <b>": rng.choice(["North & East", "<i>South</i>", "Málaga 🏝", "West"], n),
            "age": rng.integers(0, 95, n),
            "income": income,
            "born": [
                dt.date(1930, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 30000, n)
            ],
            "employed": rng.random(n) < 0.6,
            "illness": ["Stoneman syndrome"] + ["flu", "cold", "none"] * 133,
            "nothing": pl.Series([None] * n, dtype=pl.Float64),
            "constant": [1.5] * n,
        }
    )
    data = Microdata.of(frame, source="postgresql://anna:hunter2@db/health#people")
    return data.with_roles(
        identifiers=["name"], keys=["region <b>", "age"], confidential=["income", "illness"]
    )


@pytest.fixture(scope="session")
def release(awkward):
    """Identifiers out, incomes microaggregated, a sample drawn."""
    plan = tacit.Plan(
        [
            tacit.mask.Mdav(columns=["income"], k=5),
            tacit.mask.Sample(fraction=0.9),
        ]
    )
    return plan.apply(awkward, seed=918273645)


@pytest.fixture(scope="session")
def scorecard(release):
    """Measurements as the usual measures would give them."""
    rng = np.random.default_rng(0)
    n_before, n_after = release.original.n_records, release.data.n_records
    sizes = {"before": rng.integers(1, 4, n_before), "after": rng.integers(3, 30, n_after)}
    k = Measurement(
        "k-anonymity",
        "k-anonymity",
        3.0,
        "higher",
        unit="count",
        per_unit=sizes["after"],
        explanation="Every record shares its keys with 2 <others>.",
        warnings=("two keys were <removed>",),
    )
    risk = Measurement(
        "identification-risk",
        "Identification risk",
        0.02,
        "lower",
        unit="percent",
        per_unit=rng.random(n_after) ** 6,
        interval=(0.01, 0.04),
    )
    loss = Measurement(
        "information-loss",
        "Information loss",
        0.12,
        "lower",
        unit="percent",
        details={"table": {"X": {"mean_square_error": 12.5, "mean_absolute_error": float("nan")}}},
    )
    before = {
        k.key: dataclasses.replace(k, value=1.0, per_unit=sizes["before"], warnings=()),
        risk.key: dataclasses.replace(risk, value=0.5, per_unit=rng.random(n_before)),
    }
    left_out = {"sample-uniques": "there are <no> keys"}
    return Scorecard((k, risk), (loss,), before, left_out)

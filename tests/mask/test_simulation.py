"""The model of simulated records: neighbours, related columns, values between ranks."""

from datetime import date, datetime

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.mask._simulation import Neighbourhoods, between_ranks, related_sets


def test_neighbours_resemble_each_other_and_are_never_the_record_itself():
    data = tacit.datasets.census(2000)
    rng = np.random.default_rng(0)
    rows = np.arange(2000)
    found = Neighbourhoods.of(data, ["age", "sex", "hours"], rng).drawn(rows, rng)
    assert (found != rows).all()
    age = data.numeric(["age"])[:, 0]
    assert np.abs(age[found] - age).mean() < 0.3 * np.abs(rng.permutation(age) - age).mean()
    sex = data.frame["sex"].to_numpy()
    assert (sex[found] == sex).mean() > 0.9


def test_a_record_alone_meets_itself():
    data = tacit.datasets.census(1)
    rng = np.random.default_rng(0)
    assert Neighbourhoods.of(data, ["age"], rng).drawn(np.zeros(3, int), rng).tolist() == [0] * 3


def test_columns_of_a_rule_and_strongly_associated_columns_go_together():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3000))
    frame = pl.DataFrame({"a": a, "b": b, "twice": 2 * a, "sign": np.where(b > 0, "+", "-")})
    sets = related_sets(tacit.Microdata.of(frame), frame.columns)
    assert sets[0] == sets[2]
    assert sets[1] == sets[3]
    assert sets[0] != sets[1]
    census = tacit.datasets.census(500)
    columns = ["income", "taxes", "employed", "sex"]
    sets = related_sets(census, columns)
    assert sets[0] == sets[1] == sets[2] != sets[3]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.integers(0, 40), min_size=1, max_size=20), st.integers(0, 99))
def test_values_stay_between_the_neighbours_in_rank_on_the_grid_of_the_column(values, seed):
    rng = np.random.default_rng(seed)
    column = pl.Series("x", [None if v is None else v * 5 for v in values], dtype=pl.Int32)
    rows = np.arange(len(values))
    drawn = between_ranks(column, rows, rng.uniform(-1, 1, len(values)))
    assert drawn.dtype == pl.Int32
    assert drawn.is_null().equals(column.is_null())
    known = sorted(column.drop_nulls())
    for old, new in zip(column, drawn, strict=True):
        if old is None:
            continue
        if known.count(old) > 1:
            assert new == old
        below = max([v for v in known if v < old], default=old)
        above = min([v for v in known if v > old], default=old)
        assert below <= new <= above
        assert new % 5 == 0


def test_numbers_and_times_keep_the_look_of_the_column():
    rng = np.random.default_rng(0)
    money = pl.Series("m", np.round(rng.lognormal(8, 1, 500), 2))
    rows, shift = np.arange(500), rng.uniform(-1, 1, 500)
    drawn = between_ranks(money, rows, shift)
    assert (drawn == drawn.round(2)).all()
    assert len(set(drawn) & set(money)) < 60
    born = pl.Series("d", [date(1950 + i % 50, 1 + i % 12, 1 + i % 28) for i in range(0, 400, 7)])
    drawn = between_ranks(born, np.arange(len(born)), rng.uniform(-1, 1, len(born)))
    assert drawn.dtype == pl.Date
    hours = pl.Series("t", [datetime(2020, 1, 1 + i, (5 * i) % 24) for i in range(20)])
    drawn = between_ranks(hours, np.arange(20), rng.uniform(-1, 1, 20))
    assert all(t.minute == 0 and t.second == 0 for t in drawn)

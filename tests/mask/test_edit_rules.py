"""Methods that move or swap values leave every record within the edit rules of the schema."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.method import methods
from tacit.mask._edit_rules import within_rules

RULES = (
    NonNegative(column="gross"),
    AtLeast(larger="gross", smaller="net"),
    AtLeast(larger="net", smaller="tax"),
    NonNegative(column="tax"),
    ZeroWhen(column="gross", indicator="job", equals="none"),
    ZeroWhen(column="net", indicator="job", equals="none"),
    ZeroWhen(column="tax", indicator="job", equals="none"),
)
MONEY = ["gross", "net", "tax"]
METHODS = {
    "uncorrelated-noise": {"level": 1.0},
    "correlated-noise": {"alpha": 1.0},
    "transformed-noise": {"alpha": 1.0},
    "orthogonal-masking": {"angle": 2.0},
    "resample": {},
    "shuffle": {"given": ["age"]},
    "rank-swap": {"p": 40},
    "data-swap": {"rate": 0.5},
}


def people(n=200, seed=0, missing=0.0, rules=RULES):
    """Records that obey the rules, with many at their borders."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["none", "some", "full"], n)
    tax = np.where(job == "none", 0.0, rng.lognormal(0, 2, n).round(2))
    net = tax + np.where((job == "none") | (rng.random(n) < 0.3), 0.0, rng.lognormal(0, 2, n))
    gross = net + np.where((job == "none") | (rng.random(n) < 0.3), 0.0, rng.lognormal(0, 2, n))
    table = pl.DataFrame(
        {"job": job, "gross": gross, "net": net, "tax": tax, "age": rng.integers(15, 90, n)}
    )
    data = tacit.Microdata.of(table).with_constraints(*rules)
    assert not any(data.broken_constraints().values())
    return data.with_missing({c: rng.random(n) < missing for c in MONEY})


def apply(key, data, columns, seed=1, **parameters):
    method = next(m for m in methods("mask") if m.key == key)
    return tacit.Plan([method(columns=columns, **METHODS[key], **parameters)]).apply(
        data, seed=seed
    )


def test_every_method_that_promises_to_keep_rules_is_tried_here():
    promising = {m.key for m in methods("mask") if "keep_rules" in m.model_fields}
    assert promising - {"hybrid-records"} == set(METHODS)  # which has a test of its own


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("columns", [MONEY, ["net"], ["tax", "gross"]], ids="-".join)
@pytest.mark.parametrize("key", METHODS)
def test_constraints_hold_on_every_record(key, columns, missing):
    data = people(missing=missing)
    release = apply(key, data, columns)
    assert not any(release.data.broken_constraints().values())
    assert not release.newly_broken
    assert not release.frame.equals(data.frame)
    others = [c for c in data.columns if c not in columns]
    assert release.frame.select(others).equals(data.frame.select(others))


@pytest.mark.parametrize("key", METHODS)
def test_without_the_option_rules_are_broken(key):
    """The test above must be able to fail."""
    release = apply(key, people(), ["net"], keep_rules=False)
    assert sum(release.newly_broken.values()) > 0


@settings(max_examples=40, deadline=None)
@given(
    key=st.sampled_from(sorted(METHODS)),
    columns=st.sets(st.sampled_from(MONEY), min_size=1),
    seed=st.integers(0, 10_000),
)
def test_constraints_hold_for_any_data_and_seed(key, columns, seed):
    data = people(60, seed=seed, missing=0.05)
    release = apply(key, data, sorted(columns), seed=seed)
    assert not any(release.data.broken_constraints().values())


@pytest.mark.parametrize("key", ["rank-swap", "data-swap"])
def test_swapping_keeps_margins_and_rules_at_once(key):
    data = people(500, missing=0.05)
    after = apply(key, data, MONEY).frame
    for name in MONEY:
        assert after[name].sort().equals(data.frame[name].sort())
        assert (after[name] != data.frame[name]).sum() > 50


def test_rank_swaps_stay_in_their_window_under_rules():
    data = people(500)
    after = tacit.Plan([mask.RankSwap(columns=["net"], p=4)]).apply(data, seed=1).frame["net"]
    ranks = [data.frame["net"].rank(side).cast(int).to_list() for side in ("min", "max")]
    place = {value: (low, high) for value, low, high in zip(data.frame["net"], *ranks, strict=True)}
    for was, now in zip(data.frame["net"], after, strict=True):
        nearest = max(place[was][0], place[now][0]) - min(place[was][1], place[now][1])
        assert nearest <= 0.04 * 500


def test_an_indicator_that_is_swapped_keeps_its_zeros():
    table = people(300).frame.with_columns(
        code=pl.when(pl.col("job") == "none").then(0).otherwise(pl.col("age") % 5 + 1)
    )
    rule = ZeroWhen(column="gross", indicator="code", equals=0)
    data = tacit.Microdata.of(table).with_constraints(rule)
    method = mask.RankSwap(columns=["code"], p=60)
    release = tacit.Plan([method]).apply(data, seed=1)
    assert not release.newly_broken
    assert release.frame["code"].sort().equals(table["code"].sort())


def test_a_resampled_indicator_is_blanked_where_nothing_else_obeys():
    data = people(300)
    release = tacit.Plan([mask.Resample(table=["job"])]).apply(data, seed=3)
    assert not any(release.data.broken_constraints().values())
    assert release.frame.select(MONEY).equals(data.frame.select(MONEY))


def test_dates_in_order_stay_in_order():
    rng = np.random.default_rng(1)
    start = [
        datetime.date(2020, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 900, 200)
    ]
    end = [
        d + datetime.timedelta(int(x)) for d, x in zip(start, rng.integers(0, 90, 200), strict=True)
    ]
    data = tacit.Microdata.of(pl.DataFrame({"start": start, "end": end}))
    data = data.with_constraints(AtLeast(larger="end", smaller="start"))
    method = mask.RankSwap(columns=["start", "end"], p=30)
    release = tacit.Plan([method]).apply(data, seed=1)
    assert not release.newly_broken
    assert (release.frame["end"] != data.frame["end"]).sum() > 50


def test_a_record_that_broke_a_rule_before_may_still_be_swapped():
    table = pl.DataFrame({"x": [float(i) for i in range(40)], "y": [100.0] * 5 + [0.0] * 35})
    data = tacit.Microdata.of(table).with_constraints(AtLeast(larger="x", smaller="y"))
    release = tacit.Plan([mask.RankSwap(columns=["x"], p=50)]).apply(data, seed=1)
    assert not release.newly_broken
    assert (release.frame["x"] != table["x"]).sum() > 30


def test_only_movable_columns_move_and_impossible_values_are_blanked():
    table = pl.DataFrame({"top": [5.0, 1.0], "middle": [7.0, 7.0], "floor": [3.0, 3.0]})
    rules = (AtLeast(larger="top", smaller="middle"), AtLeast(larger="middle", smaller="floor"))
    data = tacit.Microdata.of(table).with_constraints(*rules)
    moved = within_rules(data, ["middle"])
    # between 3 and 5 the nearest to 7 is 5; between 3 and 1 there is nothing
    assert moved.frame["middle"].to_list() == [5.0, None]
    assert moved.frame.select("top", "floor").equals(table.select("top", "floor"))


def test_large_files_with_tight_rules_are_swapped_in_time():
    rng = np.random.default_rng(2)
    low = rng.lognormal(size=200_000)
    table = pl.DataFrame({"low": low, "high": low * (1 + 1e-6)})
    data = tacit.Microdata.of(table).with_constraints(AtLeast(larger="high", smaller="low"))
    release = tacit.Plan([mask.RankSwap(columns=["high"], p=20)]).apply(data, seed=1)
    assert not release.newly_broken

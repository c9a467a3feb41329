"""What every microaggregation method does alike: strata, outliers, blanks, weights."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.method import methods
from tacit.mask._grouped import Microaggregation, patterns

METHODS = [m for m in methods("mask") if issubclass(m, Microaggregation)]
K = 4


def people(n=240, missing=0.0):
    rng = np.random.default_rng(2)
    table = pl.DataFrame(
        {
            "area": rng.choice(["north", "south", "sea"], n),
            "x": rng.lognormal(size=n),
            "y": rng.lognormal(size=n),
        }
    )
    gaps = {name: rng.random(n) < missing for name in ("x", "y")}
    return tacit.Microdata.of(table).with_missing(gaps)


def masked(method, data, **parameters):
    plan = tacit.Plan([method(columns=["x", "y"], k=K, **parameters)])
    return plan.apply(data, seed=3).frame


def test_all_methods_are_here():
    assert {m.key for m in METHODS} >= {
        "mdav",
        "v-mdav",
        "mixed-mdav",
        "partitioned-mdav",
        "individual-ranking",
        "projected-microaggregation",
        "refined-microaggregation",
        "clustered-microaggregation",
    }


def sets_of(method):
    alone = method.key == "individual-ranking"
    return [["x"], ["y"]] if alone else [["x", "y"]]


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.key)
def test_groups_stay_inside_their_stratum_and_reach_k_there(method, missing):
    release = masked(method, people(missing=missing), within=["area"])
    for names in sets_of(method):
        known = release.drop_nulls(names)
        assert known.group_by("area", *names).len()["len"].min() >= K


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.key)
def test_strata_keep_their_means(method):
    data = people()
    release = masked(method, data, within=["area"])
    means = pl.col("x", "y").mean()
    before = data.frame.group_by("area", maintain_order=True).agg(means)
    after = release.group_by("area", maintain_order=True).agg(means)
    assert np.allclose(before.select("x", "y"), after.select("x", "y"))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.key)
def test_the_most_outlying_records_are_blanked(method):
    data = people(100)
    far = np.arange(100) < 5
    moved = [pl.when(pl.Series(far)).then(1e4).otherwise(c).alias(c) for c in ("x", "y")]
    spread = data.frame.with_columns(moved)
    release = masked(method, spread, outliers=0.05)
    assert release["x"].is_null().to_numpy()[far].all()
    assert release["x"].null_count() == 5
    assert release["x"].max() < 100


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.key)
def test_a_stratum_of_fewer_than_k_is_blanked(method):
    data = people(50)
    lone = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("isle")).otherwise("area")
    table = data.frame.with_columns(lone.alias("area"))
    release = masked(method, table, within=["area"])
    assert release.filter(area="isle").select("x", "y").row(0) == (None, None)


def test_strata_by_a_variable_that_is_masked_itself_are_those_of_the_original():
    """The strata must not move while one variable after the other is masked."""
    table = pl.DataFrame({"x": [1.0] * 6 + [5.0] * 6, "y": [float(i) for i in range(12)]})
    plan = tacit.Plan([mask.IndividualRanking(columns=["x", "y"], k=3, within=["x"])])
    assert (
        plan.apply(table, seed=1).frame["y"].to_list()
        == [1.0] * 3 + [4.0] * 3 + [7.0] * 3 + [10.0] * 3
    )


def test_patterns_split_by_gaps_and_strata():
    present = np.array([[True, False], [True, True], [True, False], [True, True]])
    found = patterns(present, np.array([0, 0, 1, 0]))
    assert sorted(rows.tolist() for rows, _ in found) == [[0], [1, 3], [2]]
    assert all((present[rows] == columns).all() for rows, columns in found)

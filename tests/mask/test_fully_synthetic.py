"""Rubin's fully synthetic data: nobody who answered is released."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import inference, mask
from tacit.core.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(4)
    x = rng.normal(size=3000)
    frame = pl.DataFrame(
        {"nr": np.arange(3000), "x": x, "y": 2 * x + rng.normal(size=3000),
         "asked": np.arange(3000) < 600}
    )  # fmt: skip
    return frame.with_columns(y=pl.when(pl.col("asked")).then(pl.col("y")))


def fully(data, **parameters):
    wanted = {"background": ["nr", "x"], "sampled": "asked", "methods": {"y": "normal"}}
    return tacit.Plan([mask.FullySynthetic(**(wanted | parameters))]).apply(data, seed=1)


def test_only_people_outside_the_sample_are_released(population):
    release = fully(population, m=3)
    for data in release.data_sets:
        assert data.n_records == 600
        assert (data.frame["nr"] >= 600).all()
        assert data.frame["nr"].n_unique() == 600
        assert data.frame.columns == ["nr", "x", "y"]
    assert (release.rows == -1).all()


def test_the_background_is_real_and_the_rest_follows_the_model(population):
    frame = fully(population).frame
    real = population.join(frame.select("nr"), on="nr", maintain_order="right")
    assert frame["x"].to_list() == real["x"].to_list()
    assert np.polyfit(frame["x"], frame["y"], 1)[0] == pytest.approx(2, abs=0.2)


def test_intervals_use_rubins_rule(population):
    release = fully(population, m=10)
    found = inference.analyse(release, inference.Mean(columns=["y"]))
    assert found.rule == "fully"


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"size": 2500}, DataError, "not so many"),
        ({"sampled": "x"}, ParameterError, "no background"),
        ({"sampled": "nr", "background": ["x"]}, DataError, "true or false"),
    ],
)
def test_bad_wishes_are_refused(population, parameters, error, words):
    with pytest.raises(error, match=words):
        fully(population, **parameters)


def test_everybody_asked_is_refused(population):
    with pytest.raises(DataError, match="outside"):
        fully(population.with_columns(asked=pl.lit(True)))


def test_impossible_combinations_rules_and_originals(population):
    """Coarse values, so that some of the sample are met by chance unless forbidden."""
    frame = population.select(
        "asked", x=pl.col("x").round(0).clip(-1, 1).cast(pl.Int64),
        y=pl.when(pl.col("y") > 0).then(pl.lit("yes")).when(pl.col("y") <= 0).then(pl.lit("no")),
        z=pl.col("nr") % 400,
    )  # fmt: skip
    wish = {"background": ["x"], "methods": {}, "m": 2}
    release = fully(frame, impossible=[{"x": 1, "y": "no"}], originals="none", **wish)
    asked = frame.filter("asked").select("x", "y", "z")
    for data in release.data_sets:
        assert data.n_records == 600
        assert data.frame.filter(pl.col("x") == 1)["y"].unique().to_list() == ["yes"]
        assert data.frame.join(asked, on=["x", "y", "z"], how="semi").height == 0
    assert fully(frame, **wish).frame.join(asked, on=["x", "y", "z"], how="semi").height > 0
    rule = {"column": "x", "comparison": "==", "value": -1, "then": "y", "becomes": "yes"}
    ruled = fully(frame, rules=[rule], **wish).frame
    assert ruled.filter(pl.col("x") == -1)["y"].unique().to_list() == ["yes"]


def test_background_that_nobody_of_the_sample_has_is_kept(population):
    frame = population.with_columns(
        place=pl.when(pl.col("nr") % 2 == 0).then(pl.lit("town")).otherwise(pl.lit("land"))
    ).with_columns(place=pl.when("asked").then(pl.lit("town")).otherwise("place"))
    made = fully(frame, background=["nr", "x", "place"]).frame
    assert set(made["place"]) == {"town", "land"}

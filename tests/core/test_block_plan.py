"""A plan in blocks keeps its promises, or is refused before anything is done."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, PlanError, SchemaError

DATA = tacit.datasets.census(1500, missing=0.03)
KEYS = ["region", "sex", "age"]
PLAN = tacit.Plan(
    [
        mask.Recode(column="age", width=10),
        mask.TopCode(column="hours", quantile=0.9, replacement="mean"),
        mask.LocalSuppression(keys=KEYS, k=3, missing="strict"),
        mask.Mdav(columns=["income", "taxes"], k=4),
        mask.Pram(columns=["marital"], stay=0.7),
    ]
)


@pytest.fixture(scope="module")
def release():
    return PLAN.apply(DATA, seed=5, blocks=200)


def test_a_breaker_finds_no_rare_key_and_no_rare_value(release):
    frame = release.frame
    assert frame.group_by(KEYS).len()["len"].min() >= 3
    assert frame.group_by("income", "taxes").len()["len"].min() >= 4


def test_all_records_come_out_in_their_old_places(release):
    assert np.array_equal(release.rows, np.arange(1500))
    assert release.frame.columns == [c for c in DATA.columns if c != "person_id"]
    for untouched in ("weight", "education"):
        assert release.frame[untouched].equals(DATA.frame[untouched])


def test_categories_change_as_often_as_the_matrix_says(release):
    """Similar records in a block would leave the matrix nothing to change to: blocks are random."""
    changed = (release.frame["marital"] != DATA.frame["marital"]).sum()
    assert 30 < changed < 600


def test_the_seed_decides(release):
    assert PLAN.apply(DATA, seed=5, blocks=200).frame.equals(release.frame)
    assert not PLAN.apply(DATA, seed=6, blocks=200).frame.equals(release.frame)


def test_the_order_of_the_file_does_not(release):
    order = np.random.default_rng(1).permutation(1500)
    shuffled = PLAN.apply(DATA.take(order), seed=5, blocks=200).frame
    # records that are equal in every value may swap their random numbers: no one can tell
    assert shuffled.sort(shuffled.columns).equals(release.frame.sort(shuffled.columns))


def test_steps_say_how_they_were_done(release):
    assert "in the engine" in release.steps[1].description
    assert "in blocks of about 200 records" in release.steps[4].description
    assert "blocks" not in release.steps[4].public_note
    assert release.measure()["k-anonymity"].value >= 1


def test_ties_beyond_the_size_of_a_block_are_cut_at_random():
    frame = pl.DataFrame({"income": [0.0] * 900 + list(range(1, 101)), "other": range(1000)})
    release = tacit.Plan([mask.Mdav(columns=["income"], k=3)]).apply(frame, seed=1, blocks=50)
    assert release.frame["income"][:900].sum() == 0
    assert release.frame.group_by("income").len()["len"].min() >= 3


@pytest.mark.parametrize(
    ("method", "blocks", "error", "words"),
    [
        (mask.Sample(fraction=0.5), 200, PlanError, "needs all records"),
        (mask.Mdav(columns=["income"], outliers=0.1), 200, PlanError, "outliers of a block"),
        (mask.Mdav(columns=["income"], k=50), 200, ParameterError, "eight groups"),
    ],
)
def test_what_cannot_be_done_in_blocks_is_refused(method, blocks, error, words):
    with pytest.raises(error, match=words):
        tacit.Plan([method]).apply(DATA, seed=1, blocks=blocks)


def test_an_empty_file_is_refused():
    with pytest.raises(DataError, match="no records"):
        tacit.Plan(PLAN.methods[3:]).apply(DATA.take(np.array([], dtype=int)), seed=1, blocks=200)


def test_fewer_records_than_a_block_are_one_block():
    plan = tacit.Plan([mask.Mdav(columns=["income", "taxes"], k=3)])
    few = DATA.take(np.arange(40))
    in_one = plan.apply(few, seed=1, blocks=10_000).frame
    assert in_one["income"].to_list() == pytest.approx(
        plan.apply(few, seed=1).frame["income"].to_list()
    )


def test_identifiers_are_gone_before_the_first_step():
    with pytest.raises(SchemaError, match="removed before the first step"):
        tacit.Plan([mask.Pram(columns=["person_id"])]).apply(DATA, seed=1, blocks=200)
    only = pl.DataFrame({"name": ["a", "b"]})
    with pytest.raises(DataError, match="every column is an identifier"):
        PLAN.apply(tacit.Microdata.of(only).with_roles(identifiers=["name"]), seed=1, blocks=200)

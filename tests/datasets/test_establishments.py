"""Establishments with a few giants."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import ParameterError
from tacit.datasets import establishments
from tacit.datasets.establishments import SIZE_CLASSES


@pytest.fixture(scope="module")
def data():
    return establishments(15_000)


def test_twenty_two_districts_and_ten_size_classes(data):
    assert data.frame["district"].n_unique() == 22
    assert data.frame["size_class"].n_unique() == 10
    assert len(data.schema["district"].hierarchy.paths) == 22


def test_activities_nest_like_nace(data):
    for activity, division, section, top in data.schema["nace"].hierarchy.paths:
        assert activity.startswith(f"{division}.")
        assert section.isalpha()
        assert top == "*"


def test_size_class_says_how_many_employees(data):
    bounds = data.frame.group_by("size_class").agg(
        low=pl.col("employees").min(), high=pl.col("employees").max()
    )
    for size, low, high in bounds.rows():
        start, _, end = size.rstrip("+").partition("-")
        assert low >= int(start)
        if size != "1000+":
            assert high <= int(end or start)
    assert data.schema["size_class"].categories == SIZE_CLASSES


def test_turnover_is_very_skewed(data):
    turnover = data.frame["turnover"].sort(descending=True)
    assert turnover[:150].sum() > 0.35 * turnover.sum()
    assert turnover.mean() > 3 * turnover.median()


def test_size_place_form_and_branch_single_out_large_units(data):
    """The attack of Bleninger, Drechsler and Ronning: size is known within 2.5 percent."""
    frame = data.frame.with_row_index("row")
    large = frame.filter(pl.col("employees") >= pl.col("employees").quantile(0.9))
    pairs = large.join(frame, on=["district", "legal_form", "nace"]).filter(
        (pl.col("employees") - pl.col("employees_right")).abs() <= 0.025 * pl.col("employees")
    )
    alone = pairs.group_by("row").len()["len"] == 1
    assert alone.mean() > 0.85


def test_some_holdings_own_several_units(data):
    owned = data.frame["holding"].value_counts()["count"]
    assert owned.max() > 5
    assert (owned == 1).mean() > 0.8
    assert data.schema.household == "holding"


def test_nothing_is_negative_unless_asked(data):
    amounts = ["turnover", "wages", "exports", "investment", "result"]
    assert all((data.frame[a] >= 0).all() for a in amounts)
    signed = establishments(15_000, negatives=True)
    assert 0.05 < (signed.frame["result"] < 0).mean() < 0.15
    assert 0.0 < (signed.frame["investment"] < 0).mean() < 0.05
    assert all((signed.frame[a] >= 0).all() for a in amounts[:3])
    assert "result >= 0" in data.broken_constraints()
    assert "result >= 0" not in signed.broken_constraints()


def test_exports_are_part_of_turnover(data):
    frame = data.frame
    assert (frame["exports"] <= frame["turnover"]).all()
    assert (frame.filter(~pl.col("exporter"))["exports"] == 0).all()
    assert np.corrcoef(np.log(frame["employees"]), frame["exporter"])[0, 1] > 0.1


def test_negatives_is_true_or_false():
    with pytest.raises(ParameterError, match="negatives"):
        establishments(5, negatives=0.1)

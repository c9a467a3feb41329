"""Log-linear synthesis: margins, structural zeros, refusals."""

import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError


@pytest.fixture(scope="module")
def frame():
    data = tacit.datasets.census(5000)
    return data.frame.select("sex", "marital", "education", "occupation")


def drawn(frame, **parameters):
    wanted = {"columns": ["sex", "marital", "education"]}
    return tacit.Plan([mask.LogLinearSynthesis(**(wanted | parameters))]).apply(frame, seed=1)


def test_pairs_are_kept_and_other_columns_left_out(frame):
    made = drawn(frame).frame
    assert made.columns == ["sex", "marital", "education"]
    measure = utility.ContingencyLoss(columns=made.columns, distance="total-variation")
    assert measure.measure(frame, made).value < 0.03


def test_margins_not_named_are_lost(frame):
    frame = frame.with_columns(marital=pl.col("sex").replace({"male": "m", "female": "f"}))
    made = drawn(frame, margins=[["marital", "education"]]).frame
    assert 0.4 < ((made["sex"] == "male") == (made["marital"] == "m")).mean() < 0.6
    kept = drawn(frame, margins=[["marital", "sex"]]).frame
    assert ((kept["sex"] == "male") == (kept["marital"] == "m")).all()


def test_impossible_combinations_never_occur(frame):
    none = {"sex": "male", "marital": "widowed"}
    made = drawn(frame, impossible=[none], size=20_000).frame
    assert made.filter((pl.col("sex") == "male") & (pl.col("marital") == "widowed")).height == 0
    assert made.filter(pl.col("marital") == "widowed").height > 0


def test_combinations_nobody_has_stay_impossible_if_asked(frame):
    small = frame.head(60)
    made = drawn(small, keep_zeros=True, size=2000).frame
    assert made.join(small, on=made.columns, how="anti", nulls_equal=True).height == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"margins": [["sex", "occupation"]]}, "not one of the columns"),
        ({"impossible": [{"sex": "robot"}]}, "does not have"),
    ],
)
def test_bad_wishes_are_refused(frame, parameters, words):
    with pytest.raises(DataError, match=words):
        drawn(frame, **parameters)


def test_fine_numbers_are_refused():
    with pytest.raises(DataError, match="too many values"):
        drawn(pl.DataFrame({"x": range(500)}), columns=["x"])


def test_conditions_make_cells_impossible(frame):
    data = tacit.Microdata.of(frame.with_columns(n=pl.int_range(pl.len()) % 4))
    zero = [{"column": "n", "comparison": ">=", "value": 2},
            {"column": "sex", "comparison": "!=", "value": "male"}]  # fmt: skip
    made = drawn(data, columns=["sex", "n"], impossible=[zero]).frame
    assert set(made.filter(pl.col("n") >= 2)["sex"]) == {"male"}

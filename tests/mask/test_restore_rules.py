"""Restoring rules: all hold afterwards, what obeyed is untouched, what moved moved little."""

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.errors import ProtectionError, SchemaError
from tacit.mask.restore_rules import restored

CHAIN = [
    NonNegative(column="c"),
    AtLeast(larger="a", smaller="b"),
    AtLeast(larger="b", smaller="c"),
    ZeroWhen(column="b", indicator="job", equals="no"),
]


def frames():
    number = st.none() | st.integers(-5, 5).map(float) | st.floats(-5, 5)
    row = st.tuples(
        number, number, st.none() | st.integers(-5, 5), st.sampled_from(["yes", "no", None])
    )
    schema = {"a": pl.Float64, "b": pl.Float64, "c": pl.Int32, "job": pl.String}
    rows = st.lists(row, min_size=1, max_size=15)
    return rows.map(lambda r: pl.DataFrame(r, schema=schema, orient="row"))


@settings(max_examples=150, deadline=None)
@given(frames(), st.sampled_from(["larger", "smaller"]))
def test_all_rules_hold_and_records_that_obeyed_are_untouched(before, move):
    data = tacit.Microdata.of(before).with_constraints(*CHAIN)
    obeyed = before.select(
        ~pl.any_horizontal(
            pl.col("c") < 0,
            pl.col("a") < pl.col("b"),
            pl.col("b") < pl.col("c"),
            (pl.col("job") == "no") & (pl.col("b") != 0),
        ).fill_null(False)
    ).to_series()
    result = restored(data, move=move)
    after = result.data.frame
    assert sum(result.data.broken_constraints().values()) == 0
    assert after.filter(obeyed).equals(before.filter(obeyed))
    assert after.schema == before.schema
    for name in before.columns:
        assert after[name].is_null().equals(before[name].is_null())
    assert sum(result.broken.values()) > 0 or result.changed == dict.fromkeys("cab", 0)


def test_values_move_no_farther_than_the_rule():
    before = pl.DataFrame({"x": [-3.0, 2.0], "large": [1.0, 9.0], "small": [4.0, 5.0]})
    rules = (NonNegative(column="x"), AtLeast(larger="large", smaller="small"))
    up = tacit.Plan([mask.RestoreRules(rules=rules)]).apply(before, seed=1).frame
    assert up.rows() == [(0.0, 4.0, 4.0), (2.0, 9.0, 5.0)]
    down = tacit.Plan([mask.RestoreRules(rules=rules, move="smaller")]).apply(before, seed=1).frame
    assert down.rows() == [(0.0, 1.0, 1.0), (2.0, 9.0, 5.0)]


def test_a_zero_above_pulls_down_what_lies_below_it():
    before = pl.DataFrame({"income": [50.0, 50.0], "taxes": [10.0, 10.0], "job": [False, True]})
    data = tacit.Microdata.of(before).with_constraints(
        AtLeast(larger="income", smaller="taxes"),
        ZeroWhen(column="income", indicator="job", equals=False),
    )
    result = restored(data)
    assert result.data.frame.rows() == [(0.0, 0.0, False), (50.0, 10.0, True)]
    assert result.broken == {"income >= taxes": 0, "income = 0 when job = False": 1}
    assert result.changed == {"income": 1, "taxes": 1}


def test_noise_followed_by_restoring_obeys():
    data = tacit.datasets.census(800, missing=0.05)
    noise = mask.UncorrelatedNoise(
        columns=["income", "taxes", "hours"], level=0.5, keep_rules=False
    )
    noisy = tacit.Plan([noise]).apply(data, seed=1)
    assert sum(noisy.newly_broken.values()) > 100
    mended = tacit.Plan([noise, mask.RestoreRules()]).apply(data, seed=1)
    assert mended.newly_broken == {}
    rest = ["region", "age", "weight"]
    assert mended.frame[rest].equals(noisy.frame[rest])


def test_dates_and_long_whole_numbers_keep_their_type_and_digits():
    start = 2**60
    before = pl.DataFrame(
        {
            "born": [date(2000, 1, 1), date(1990, 5, 5)],
            "died": [date(1999, 1, 1), date(2020, 1, 1)],
            "n": [start + 1, -3],
        }
    )
    rules = (AtLeast(larger="died", smaller="born"), NonNegative(column="n"))
    after = tacit.Plan([mask.RestoreRules(rules=rules)]).apply(before, seed=1).frame
    assert after["died"].to_list() == [date(2000, 1, 1), date(2020, 1, 1)]
    assert after["n"].to_list() == [start + 1, 0]


def test_an_indicator_that_is_corrected_calls_for_its_zero():
    before = pl.DataFrame({"rooms": [-2], "rent": [400.0]})
    rules = (ZeroWhen(column="rent", indicator="rooms", equals=0), NonNegative(column="rooms"))
    after = tacit.Plan([mask.RestoreRules(rules=rules)]).apply(before, seed=1).frame
    assert after.rows() == [(0, 0.0)]


def test_a_whole_number_below_a_fraction_stays_whole():
    before = pl.DataFrame({"n": [1], "x": [1.5]})
    rules = (AtLeast(larger="n", smaller="x"),)
    after = tacit.Plan([mask.RestoreRules(rules=rules)]).apply(before, seed=1).frame
    assert after.rows() == [(2, 1.5)]


def test_rules_in_a_circle_make_values_equal():
    before = pl.DataFrame({"n": [3], "x": [1.5]})
    circle = (AtLeast(larger="n", smaller="x"), AtLeast(larger="x", smaller="n"))
    after = tacit.Plan([mask.RestoreRules(rules=circle)]).apply(before, seed=1).frame
    assert after.rows() == [(3, 3.0)]
    close = pl.DataFrame({"a": [2**60], "b": [2**60 + 1]})
    rule = AtLeast(larger="a", smaller="b")
    after = tacit.Plan([mask.RestoreRules(rules=(rule,))]).apply(close, seed=1).frame
    assert after["a"].to_list() == [2**60 + 1]


class Impossible(NonNegative):
    """A rule that nothing obeys."""

    def broken(self):
        return ~super().broken().is_null()


def test_nothing_is_released_where_rules_cannot_hold():
    data = tacit.Microdata.of(pl.DataFrame({"x": [1.5]}))
    with pytest.raises(ProtectionError, match=r"contradict.*1 records"):
        restored(data, [Impossible(column="x")])


def test_a_rule_about_no_column_is_refused_and_one_about_text_cannot_be_broken():
    before = pl.DataFrame({"t": ["-1"], "x": [-1.0]})
    with pytest.raises(SchemaError, match="no column 'z'"):
        tacit.Plan([mask.RestoreRules(rules=(NonNegative(column="z"),))]).apply(before)
    result = restored(tacit.Microdata.of(before), [NonNegative(column="t")])
    assert result.data.frame.equals(before)

"""Information kept: one scale for recoding, suppression and perturbation."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.tradeoff import InformationKept

FILE = tacit.Microdata.of(
    pl.DataFrame({"x": ["a", "b", "c", "d"] * 4, "y": ["p", "q"] * 8, "n": list(range(16))})
)


def kept(original, release, **options):
    return InformationKept(**options).measure(original, release)


def test_everything_is_kept_where_nothing_changed():
    assert kept(FILE, FILE).value == 1.0


def test_by_hand():
    """Four equal categories hold 2 bits; joining them in pairs leaves 1 bit open: half is kept."""
    pairs = mask.Recode(column="x", mapping={"a": "ab", "b": "ab", "c": "cd", "d": "cd"})
    release = tacit.Plan([pairs]).apply(FILE, seed=1)
    assert kept(FILE, release, columns=["x"]).value == pytest.approx(0.5)


def test_blanks_count():
    """Blanking all of x keeps nothing of it; y is untouched."""
    gone = FILE.with_missing({"x": np.ones(16, dtype=bool)})
    found = kept(FILE, gone, columns=["x", "y"])
    assert found.details["columns"] == {"x": 0.0, "y": 1.0}
    assert found.value == 0.5


def test_a_dropped_column_keeps_nothing_and_half_a_file_its_root():
    half = tacit.Plan([mask.Sample(fraction=0.5)]).apply(FILE, seed=1)
    assert kept(FILE, half, columns=["n"]).value == pytest.approx(0.5**0.5)
    assert kept(FILE, FILE.drop(["x"]), columns=["x", "y"]).value == 0.5


def test_stronger_swapping_keeps_less():
    data = tacit.datasets.census(1000)
    shares = [
        kept(data, tacit.Plan([mask.RankSwap(columns=["income"], p=p)]).apply(data, seed=1)).value
        for p in (1, 10, 40)
    ]
    assert shares[0] > shares[1] > shares[2]


def test_a_constant_file_has_nothing_to_keep():
    constant = tacit.Microdata.of(pl.DataFrame({"x": ["a", "a"]}))
    with pytest.raises(DataError, match="no column varies"):
        kept(constant, constant)


@given(st.lists(st.sampled_from(["a", "b", "ü", None]), min_size=2, max_size=30), st.randoms())
@settings(max_examples=40)
def test_between_nothing_and_all(values, random):
    other = list(values)
    random.shuffle(other)
    types = {"x": pl.String, "n": pl.Int64}
    before, after = (
        tacit.Microdata.of(pl.DataFrame({"x": v, "n": range(len(v))}, schema=types))
        for v in (values, other)
    )
    assert 0.0 <= kept(before, after).value <= 1.0


def test_two_numbers_are_told_apart():
    """A cut at the smaller of two values puts them into different classes."""
    two = tacit.Microdata.of(pl.DataFrame({"n": [0, 1]}))
    other = tacit.Microdata.of(pl.DataFrame({"n": [0, 0]}))
    assert kept(two, two).value == 1.0
    assert kept(two, other).value == 0.0

"""Files paired by position: whether their records correspond."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import DataError
from tacit.core.pairing import pair
from tacit.core.record_order import order_warnings

RNG = np.random.default_rng(11)


def people(n):
    return pl.DataFrame(
        {"age": RNG.integers(0, 90, n), "sex": RNG.choice(["f", "m"], n), "pay": RNG.normal(size=n)}
    )


def noisy(frame):
    return frame.with_columns(pay=pl.col("pay") + pl.Series(RNG.normal(0, 0.5, len(frame))))


def checked(original, released, record_id=None):
    return order_warnings(pair(original, released, record_id), by="this")


@pytest.mark.parametrize("n", [3, 50, 500])
def test_files_in_the_same_order_pass(n):
    original = people(n)
    assert checked(original, original.clone()) == ()
    assert checked(original, noisy(original)) == ()


@pytest.mark.parametrize("n", [3, 50, 500])
def test_the_same_records_in_another_order_are_refused(n):
    original = people(n)
    with pytest.raises(DataError, match=r"this: the released records are in another order"):
        checked(original, original.reverse())


def test_masked_and_shuffled_records_are_refused_when_there_are_enough_to_tell():
    original = people(500)
    with pytest.raises(DataError, match="another order"):
        checked(original, noisy(original).sample(fraction=1, shuffle=True, seed=1))


def test_a_small_unrelated_file_is_doubted():
    original = pl.DataFrame({"a": np.arange(60.0), "b": np.arange(60.0) % 7})
    # every second record from the other end: no rank correlation with the original's order
    order = np.r_[np.arange(0, 60, 2), np.arange(59, 0, -2)]
    other = pl.DataFrame({"a": order + 0.5, "b": (order * 5) % 11 + 0.5})
    ranks = [abs(np.corrcoef(original[c].rank(), other[c].rank())[0, 1]) * 59**0.5 for c in "ab"]
    assert max(ranks) < 3, "the files are unrelated by position"
    assert "paired by position" in checked(original, other)[0]


def test_constant_columns_tell_nothing():
    original = people(300)
    assert checked(original, original.with_columns(pl.all().first())) == ()


def test_a_release_or_a_record_number_is_trusted():
    data = tacit.Microdata.of(people(300).with_row_index("nr"))
    release = tacit.Plan().apply(data, seed=1)
    assert checked(data, release) == ()
    shuffled = data.frame.sample(fraction=1, shuffle=True, seed=2)
    assert checked(data, shuffled, "nr") == ()
    with pytest.raises(DataError, match="another order"):
        checked(data, shuffled)


def test_design_columns_do_not_vouch_for_the_order():
    original = people(300).with_columns(w=pl.Series(np.arange(300) + 1.0))
    data = tacit.Microdata.of(original).with_roles(weight="w")
    shuffled = noisy(original).sample(fraction=1, shuffle=True, seed=3)
    released = shuffled.with_columns(original["w"])
    with pytest.raises(DataError, match="another order"):
        checked(data, released)

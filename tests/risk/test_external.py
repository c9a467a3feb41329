"""How external values compare with released ones, found out from the records that correspond."""

from datetime import date

import numpy as np
import polars as pl
import pytest

from tacit import Microdata
from tacit.core.errors import ParameterError
from tacit.core.pairing import Pair, pair
from tacit.risk._external import external_fields


def field_of(before, after, *, errors=None, coarse=True, rows=None):
    original = Microdata.of(pl.DataFrame({"x": before}, strict=False))
    released = Microdata.of(pl.DataFrame({"x": after}, strict=False))
    both = pair(original, released) if rows is None else Pair(original, released, np.array(rows))
    return external_fields(both, ["x"], errors or {}, coarse=coarse)[0]


def same(field):
    return (field.external == field.released).tolist()


def test_unchanged_values_are_compared_exactly():
    for values in ([3, 1, 2], ["b", "a", None], [0.5, None, 2.5], [True, False, None]):
        field = field_of(values, values)
        assert (field.agreement, field.changed) == ("exact", False)
        assert same(field) == [True, True, True]
        assert field.note == "equal values"


def test_rounding_of_numbers_is_a_grouping_the_intruder_knows():
    field = field_of([11, 12, 13, 21, 22, 40], [10, 10, 10, 20, 20, 40])
    assert (field.agreement, field.changed) == ("exact", True)
    assert all(same(field))
    assert len(set(field.external.tolist())) == 3
    assert "coarsened" in field.note


def test_noise_on_distinct_numbers_is_not_taken_for_a_grouping():
    before = np.arange(50.0)
    noise = np.random.default_rng(1).normal(0, 2, 50)
    field = field_of(before, before + noise)
    assert field.agreement == "near"
    assert field.error == pytest.approx(np.sqrt(np.mean(noise**2)))
    assert field.unchanged == 0


def test_numbers_of_which_most_stayed_equal_keep_that_knowledge():
    before = np.arange(100.0) % 20
    after = before.copy()
    after[:10] += np.array([5, -5] * 5)
    field = field_of(before, after)
    assert field.agreement == "near"
    assert field.unchanged == pytest.approx(0.9)
    assert field.error == pytest.approx(5)
    assert field.gap == pytest.approx(1)
    assert same(field)[10:] == [True] * 90


def test_rounding_errors_of_means_are_not_changes():
    field = field_of([0.3, 44.0], [0.1 + 0.2, 44.0])
    assert (field.agreement, field.changed) == ("exact", False)


def test_errors_of_the_intruder_join_the_changes():
    before, after = np.arange(40.0), np.arange(40.0) + np.array([3.0, -3.0] * 20)
    assert field_of(before, after, errors={"x": 4.0}).error == pytest.approx(5)
    assert field_of(before, before, errors={"x": 4.0}).error == pytest.approx(4)
    assert field_of(before, before, errors={"x": 4.0}).agreement == "near"


def test_recoded_categories_are_translated():
    field = field_of(["nurse", "doctor", "cook", "nurse"], ["health", "health", "cook", "health"])
    assert (field.agreement, field.changed) == ("exact", True)
    assert all(same(field))


def test_merging_into_an_existing_category_is_recoding_too():
    field = field_of(["a", "b", "c", "a"], ["a", "a", "c", "a"])
    assert field.agreement == "exact"
    assert all(same(field))


def test_swapped_categories_are_misread_with_the_share_changed():
    before = ["a", "b", "c", "d", "e", "f", "g", "h"]
    field = field_of(before, ["b", "a", *before[2:]])
    assert field.agreement == "misread"
    assert field.error == pytest.approx(0.25)
    assert field_of(before, before, errors={"x": 0.1}).error == pytest.approx(0.1)
    assert field_of(before, ["b", "a", *before[2:]], errors={"x": 0.5}).error == pytest.approx(
        0.625
    )


def test_numbers_put_into_bands_are_translated_also_where_not_sampled():
    before = [10, 11, 12, 30, 31, 32]
    field = field_of(before, ["low", "low", "high", "high"], rows=[0, 2, 3, 5])
    low, high = field.released[0], field.released[2]
    assert field.external.tolist() == [low] * 3 + [high] * 3


def test_dates_are_compared_in_days():
    before = [date(2000, 1, d) for d in range(1, 29)]
    after = [date(2000, 1, 1 + (d + 2) % 28) for d in range(1, 29)]
    assert field_of(before, after).agreement == "near"
    assert field_of(before, before).agreement == "exact"
    assert field_of(before, before, errors={"x": 10}).error == 10


def test_exact_matching_ignores_what_masking_did():
    field = field_of([11.0, 12.0], [11.5, 12.0], coarse=False)
    assert (field.agreement, field.changed) == ("exact", False)
    assert same(field) == [False, True]


def test_knowledge_of_single_records():
    data = Microdata.of(pl.DataFrame({"age": [1, 2, 3], "pay": [9, 8, 7], "all": [1, 1, 2]}))
    data = data.with_roles(keys=["age"]).with_knowledge(["all"], {"pay": [True, False, True]})
    age, pay, everyone = external_fields(pair(data), ["age", "pay", "all"], {}, coarse=True)
    assert (age.external >= 0).all()
    assert (pay.external >= 0).tolist() == [True, False, True]
    assert (everyone.external >= 0).all()
    assert (pay.released >= 0).all()


def test_wrong_errors_are_refused():
    with pytest.raises(ParameterError, match="'y'"):
        field_of([1], [1], errors={"y": 1.0})
    with pytest.raises(ParameterError, match="probability"):
        field_of(["a"], ["a"], errors={"x": 1.5})


def test_nothing_there_on_one_side():
    field = field_of([1.0, 2.0], [None, None])
    assert field.agreement == "exact"
    assert field.released.tolist() == [-1, -1]
    missing = pl.Series([None, None], dtype=pl.Float64)
    assert field_of(missing, [1.0, 2.0], errors={"x": 1.0}).external.tolist() == [-1, -1]


def test_tiny_errors_on_a_wide_range_do_not_overflow():
    field = field_of([0.0, 1e18, 5.0], [1e-9, 1e18, 5.0 + 1e-9])
    assert field.places is not None
    assert field.places[0].min() >= 0

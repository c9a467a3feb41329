"""Pairing for linkage: a shuffled file is never silently taken for a safe one."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import risk
from tacit.core.errors import DataError, SchemaError

RNG = np.random.default_rng(5)


def noisy(n, level=0.3):
    original = pl.DataFrame({c: RNG.normal(size=n) for c in "abc"})
    released = original.with_columns(pl.all() + pl.Series(RNG.normal(0, level, n)))
    return original, released


@pytest.fixture(params=["DistanceLinkage", "RankLinkage", "MicroaggregationLinkage"])
def linkage(request):
    return getattr(risk, request.param)


def test_a_shuffled_file_is_refused(linkage):
    original, released = noisy(300)
    assert linkage().measure(original, released).value > 0.1
    with pytest.raises(DataError, match=r"another order.*record_id"):
        linkage().measure(original, released.sample(fraction=1, shuffle=True, seed=1))


def test_interval_and_probabilistic_linkage_refuse_it_too():
    original, released = noisy(300)
    shuffled = released.sample(fraction=1, shuffle=True, seed=1)
    for measure in (risk.IntervalDisclosure(), risk.ProbabilisticLinkage(attributes=["a", "b"])):
        with pytest.raises(DataError, match="another order"):
            measure.measure(original, shuffled)


def test_a_few_reordered_but_unchanged_records_are_refused_however_few():
    original = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    with pytest.raises(DataError, match="another order"):
        risk.DistanceLinkage().measure(original, original.reverse())


def test_a_small_file_without_relation_is_measured_with_a_warning():
    original = pl.DataFrame({"a": RNG.normal(size=50), "b": RNG.normal(size=50)})
    other = pl.DataFrame({"a": RNG.permutation(50) + 0.5, "b": RNG.permutation(50) * 1.0})
    found = risk.DistanceLinkage().measure(original, other)
    related = max(
        abs(np.corrcoef(original[c].rank(), other[c].rank())[0, 1]) * 7 for c in ("a", "b")
    )
    assert bool(found.warnings) == (related < 3)


def test_a_record_number_pairs_shuffled_files_of_any_length():
    original, released = noisy(300)
    number = pl.Series("nr", RNG.permutation(300))
    original, released = original.with_columns(number), released.with_columns(number)
    attributes = ["a", "b", "c"]
    straight = risk.DistanceLinkage(attributes=attributes).measure(original, released)
    by_number = risk.DistanceLinkage(attributes=attributes, record_id="nr")
    shuffled = by_number.measure(original, released.sample(fraction=1, shuffle=True, seed=2))
    assert np.array_equal(straight.per_unit, shuffled.per_unit)
    part = by_number.measure(original, released.head(100))
    assert part.details["records_released"] == 100
    assert np.all(part.per_unit[100:] == 0)


def test_bad_record_numbers_are_refused():
    original, released = noisy(30)
    number = pl.Series("nr", [1] * 30)
    both = original.with_columns(number), released.with_columns(number)
    with pytest.raises(DataError, match="another value on each record"):
        risk.DistanceLinkage(record_id="nr", attributes=["a"]).measure(*both)
    with pytest.raises(SchemaError, match="no column 'nr'"):
        risk.DistanceLinkage(record_id="nr", attributes=["a"]).measure(original, released)


def test_files_of_other_lengths_and_empty_ones_are_refused(linkage):
    original, released = noisy(30)
    with pytest.raises(DataError, match="cannot be paired"):
        linkage().measure(original, released.head(20))
    with pytest.raises(DataError, match="at least one record"):
        linkage().measure(original.clear(), released.clear())


def test_a_wholly_synthetic_release_has_no_pairs(linkage):
    original, released = noisy(30)
    data = tacit.Microdata.of(released).numbered()
    synthetic = data.with_local(data.local.with_columns(pl.lit(-1).alias(tacit.core.data.ROW)))
    with pytest.raises(DataError, match="no released record comes from"):
        linkage().measure(original, synthetic)


def test_other_columns(linkage):
    original, released = noisy(30)
    with pytest.raises(DataError, match="numeric columns that both files have"):
        linkage().measure(original, released.rename({"a": "x", "b": "y", "c": "z"}))
    found = linkage().measure(original, released.drop("c"))
    assert any("c" in warning for warning in found.warnings)


def test_a_named_attribute_that_the_release_lacks_is_named():
    original, released = noisy(30)
    with pytest.raises(DataError, match="release has no column 'c'"):
        risk.DistanceLinkage(attributes=["a", "c"]).measure(original, released.drop("c"))
    with pytest.raises(SchemaError, match="no column 'd'"):
        risk.DistanceLinkage(attributes=["a", "d"]).measure(original, released)

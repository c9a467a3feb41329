"""A released file that does not fit its original: handled by a stated rule, or refused in words.

For every measure and every misfit one of three things must happen: an error that says what is
wrong, a warning beside the number, or the very number that a release which fits would give.
"""

from functools import cache

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError, SchemaError

MEASURES = [*tacit.methods("risk"), *tacit.methods("utility")]
NUMBERS = ["age", "hours", "income", "taxes"]
CATEGORIES = ["region", "sex", "education", "marital", "occupation"]
every_measure = pytest.mark.parametrize("method", MEASURES, ids=lambda m: m.key)

NEEDS_NO_PAIRS = {
    "analytical-validity", "contingency-loss", "correct-attribution", "delta-presence",
    "eigenvalue-loss", "extreme-values", "household-risk", "individual-risk", "k-anonymity",
    "l-diversity", "linkability", "log-linear-risk", "log-linear-utility", "matching-people",
    "po50", "population-uniques", "probabilistic-loss", "propensity", "regression-overlap",
    "replicated-uniques", "sample-uniques", "singling-out", "specks", "subdomain-means", "suda",
    "survey-estimates", "syntactic-models", "t-closeness", "table-utility",
}  # fmt: skip
"""Measures of a file, or of two files as a whole: the order and number of records do not matter."""


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(250).drop(["person_id"])


@pytest.fixture(scope="module")
def release(data):
    return tacit.Plan([mask.RankSwap(columns=NUMBERS, p=8)]).apply(data, seed=1)


@pytest.fixture(scope="module")
def fitting(data, release):
    """Function that returns what the measure says of the release itself, and of some records."""

    @cache
    def fitting(method, n_records=250):
        measure = method(**method.example)
        return measure.measure(data, release.data.take(np.arange(n_records)))

    return fitting


def columns_of(method, data):
    """Columns that the example names."""
    found = []
    for value in method.example.values():
        for item in value if isinstance(value, list) else [value]:
            found += item if isinstance(item, list) else [item]
    return [c for c in dict.fromkeys(found) if c in data.columns]


def answer(method, data, released, well_said):
    """Return the measurement, or nothing where it is refused in good words."""
    try:
        return method(**method.example).measure(data, released)
    except (DataError, SchemaError) as error:
        well_said(error)
        return None


def same(found, expected):
    return found.value == pytest.approx(expected.value, rel=1e-9, abs=1e-12, nan_ok=True)


@every_measure
def test_a_plain_file_in_order_is_as_good_as_the_release(method, data, release, fitting):
    found = method(**method.example).measure(data, release.frame)
    assert same(found, fitting(method))


@every_measure
def test_none_of_the_columns(method, data, release, well_said):
    other = release.frame.drop(columns_of(method, data)).with_columns(z=pl.lit(1))
    found = answer(method, data, other, well_said)
    assert found is None or found.warnings


@every_measure
def test_one_column_less_is_named_in_the_error_or_in_a_warning(method, data, release):
    name = columns_of(method, data)[0]
    try:
        said = method(**method.example).measure(data, release.frame.drop(name)).warnings
    except (DataError, SchemaError) as error:
        said = (str(error),)
    assert any(name in text for text in said)


@every_measure
def test_columns_in_another_order_and_new_ones_change_nothing(method, data, release, fitting):
    other = release.frame.select(reversed(release.frame.columns)).with_columns(z=pl.lit("new"))
    assert same(method(**method.example).measure(data, other), fitting(method))


@every_measure
def test_fewer_records(method, data, release, well_said, fitting):
    found = answer(method, data, release.frame.head(200), well_said)
    if method.key in NEEDS_NO_PAIRS:
        assert same(found, fitting(method, 200))
    else:
        assert found is None, "without pairs there is no number"


@every_measure
def test_more_records(method, data, release, well_said):
    more = pl.concat([release.frame, release.frame.head(20)])
    found = answer(method, data, more, well_said)
    assert (found is None) == (method.key not in NEEDS_NO_PAIRS)


@every_measure
def test_shuffled_records(method, data, release, well_said, fitting):
    shuffled = release.frame.sample(fraction=1, shuffle=True, seed=2)
    found = answer(method, data, shuffled, well_said)
    if method.key in NEEDS_NO_PAIRS or method.key == "membership-inference":
        assert found.value == pytest.approx(fitting(method).value, rel=1e-6, abs=1e-6, nan_ok=True)
    else:
        assert found is None, "pairs by position would be wrong"


PAIRED = [m for m in MEASURES if "record_id" in m.model_fields]


def test_all_measures_of_pairs_take_a_record_id():
    rest = {m.key for m in MEASURES} - NEEDS_NO_PAIRS - {m.key for m in PAIRED}
    assert rest == {"membership-inference"}, "which marks members in a column of its own"


@pytest.mark.parametrize("method", PAIRED, ids=lambda m: m.key)
def test_shuffled_records_with_a_number_are_paired_by_it(method, data, release):
    original, released = (f.with_row_index("nr") for f in (data.frame, release.frame))
    measure = method(**method.example, record_id="nr")
    data = tacit.Microdata.of(original).with_schema(data.schema)
    straight = measure.measure(data, released)
    shuffled = measure.measure(data, released.sample(fraction=1, shuffle=True, seed=2))
    assert shuffled.value == pytest.approx(straight.value)


@every_measure
def test_other_labels_for_the_same_categories(method, data, release, well_said, fitting):
    other = release.frame.with_columns([("~" + pl.col(c)).alias(c) for c in CATEGORIES])
    found = answer(method, data, other, well_said)
    assert found is None or same(found, fitting(method)) or found.warnings


@every_measure
def test_other_labels_and_fewer_records(method, data, release, well_said, fitting):
    other = release.frame.head(200).with_columns([("~" + pl.col(c)).alias(c) for c in CATEGORIES])
    found = answer(method, data, other, well_said)
    assert found is None or same(found, fitting(method, 200)) or found.warnings


@every_measure
def test_numbers_that_became_text(method, data, release, well_said, fitting):
    other = release.frame.with_columns(pl.col(NUMBERS).cast(pl.String))
    found = answer(method, data, other, well_said)
    assert found is None or same(found, fitting(method)) or found.warnings


@every_measure
def test_whole_numbers_that_became_floats_are_the_same(method, data, release, fitting):
    other = release.frame.with_columns(pl.col("age", "hours").cast(pl.Float64))
    assert same(method(**method.example).measure(data, other), fitting(method))


@every_measure
def test_an_empty_release(method, data, release, well_said):
    assert answer(method, data, release.frame.clear(), well_said) is None

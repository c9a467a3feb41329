"""Sums of agreement without comparing every pair, against comparing every pair."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.risk._agreement import AgreementModel
from tacit.risk._external import KnownField


def fields_of(rng, n, t, kinds):
    found = []
    for number, kind in enumerate(kinds):
        a, b = rng.integers(0, 4, n), rng.integers(0, 4, t)
        if kind in ("near", "mixed"):
            places = (rng.integers(0, 60, n), rng.integers(0, 60, t))
            codes = places if kind == "near" else (a, b)
            unchanged = 0.7 if kind == "mixed" else 0.0
            field = KnownField(f"f{number}", *codes, "near", 2.0, True, places, unchanged, 1.0)
        elif kind == "misread":
            field = KnownField(f"f{number}", a, b, "misread", 0.2)
        else:
            field = KnownField(f"f{number}", a, b)
        found.append(field)
    return found


def rows_of(fields):
    places = [f.places for f in fields if f.places is not None]
    targets = np.column_stack([f.external for f in fields] + [p[0] for p in places])
    records = np.column_stack([f.released for f in fields] + [p[1] for p in places])
    return targets, records


@pytest.mark.parametrize(
    "kinds",
    [
        ["exact"],
        ["exact", "exact"],
        ["misread"],
        ["misread", "exact", "misread"],
        ["near"],
        ["near", "near", "exact"],
        ["mixed", "exact"],
        ["mixed", "misread", "near", "exact"],
    ],
)
def test_totals_equal_the_sum_over_all_pairs(kinds):
    rng = np.random.default_rng(5)
    fields = fields_of(rng, 40, 60, kinds)
    targets, records = rows_of(fields)
    weights = rng.uniform(0.5, 3, 60)
    model = AgreementModel(fields)
    expected = [
        weights @ model.each(np.repeat(target[None], len(records), axis=0), records)
        for target in targets
    ]
    found = model.totals(targets, records, weights, range(len(kinds)))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert found.max() > 0, "something must agree for the test to mean anything"


def test_a_field_unknown_to_one_side_always_agrees():
    field = KnownField("x", np.array([-1, 1, 1]), np.array([1, -1, 2]))
    model = AgreementModel([field])
    each = model.each(field.external[:, None], field.released[:, None])
    assert each.tolist() == [1.0, 1.0, 0.0]


def test_probabilities_of_a_misread_field_sum_to_one():
    field = KnownField("x", np.arange(5), np.zeros(5, int), "misread", 0.3)
    each = AgreementModel([field]).each(field.external[:, None], field.released[:, None])
    assert each.sum() == pytest.approx(1)
    assert each[0] == pytest.approx(0.7)


def test_nearer_numbers_agree_more():
    places = (np.arange(30), np.zeros(30, int))
    field = KnownField("x", *places, "near", 1.0, True, places)
    codes = np.column_stack([places[0], places[0]])
    others = np.column_stack([places[1], places[1]])
    each = AgreementModel([field]).each(codes, others)
    assert np.all(np.diff(each) <= 0)
    assert each[4] == pytest.approx(np.exp(-0.5)), "four steps are one standard error"
    assert each[16] > 0 == each[17], "beyond four errors numbers do not agree"


def test_too_many_perturbed_fields_are_refused():
    one = np.zeros(2, int)
    fields = [KnownField(f"f{i}", one, one, "misread", 0.1) for i in range(13)]
    with pytest.raises(DataError, match="fewer keys"):
        AgreementModel(fields)

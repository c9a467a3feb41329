"""Probability ratios by patterns of known and missing fields, against a loop over all pairs."""

import numpy as np
import pytest

from tacit.core.errors import DataError
from tacit.risk import _probability_ratios
from tacit.risk._agreement import AgreementModel
from tacit.risk._external import KnownField
from tacit.risk._probability_ratios import RatioModel


def random_fields(seed, n, t, share_missing):
    rng = np.random.default_rng(seed)

    def codes(size):
        values = rng.integers(0, 3, size)
        return np.where(rng.random(size) < share_missing, -1, values)

    exact = KnownField("a", codes(n), codes(t))
    misread = KnownField("b", codes(n), codes(t), "misread", 0.2)
    near_before, near_after = codes(n), codes(t)
    places = (
        np.where(near_before < 0, -1, 5 * near_before),
        np.where(near_after < 0, -1, 5 * near_after),
    )
    near = KnownField("c", near_before, near_after, "near", 1.0, True, places, 0.5, 1.0)
    return [exact, misread, near]


def looped_ratios(fields, weights, base):
    """Eq. (4.11) of truta2003 as it stands, one pair at a time."""
    model = AgreementModel(fields)
    places = [f.places for f in fields if f.places is not None]
    targets = np.column_stack([f.external for f in fields] + [p[0] for p in places])
    records = np.column_stack([f.released for f in fields] + [p[1] for p in places])
    m = len(fields)
    place_of = {c: m + q for q, c in enumerate(c for c in range(m) if fields[c].places is not None)}

    def only(rows, kept):
        shown = np.full_like(rows, -1)
        for c in kept:
            shown[:, c] = rows[:, c]
            if c in place_of:
                shown[:, place_of[c]] = rows[:, place_of[c]]
        return shown

    def agreement(target, others, kept):
        mine = np.repeat(target[None], len(others), axis=0)
        return model.each(only(mine, kept), only(others, kept))

    def share_of_one(target, c):
        has = targets[:, c] >= 0
        return weights[has] @ agreement(target, targets[has], [c]) / weights[has].sum()

    def chance(target, kept):
        """A gap agrees with the chance that others do, so a field never adds to the share."""
        product = np.ones(len(targets))
        for c in kept:
            known = agreement(target, targets, [c])
            product *= np.where(targets[:, c] >= 0, known, share_of_one(target, c))
        return weights @ product / weights.sum()

    ratios = np.empty((len(targets), len(records)))
    for i, target in enumerate(targets):
        for k, record in enumerate(records):
            kept = [c for c in range(m) if target[c] >= 0 and record[c] >= 0]
            top = model.each(target[None], record[None])[0]
            apart = np.prod([share_of_one(target, c) for c in kept])
            bottom = chance(target, kept) if base == "joint" else apart
            ratios[i, k] = top / bottom
    return ratios


@pytest.mark.parametrize("base", ["joint", "independent"])
@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_ratios_equal_the_loop_over_all_pairs(base, share_missing):
    fields = random_fields(7, 25, 30, share_missing)
    weights = np.random.default_rng(1).uniform(0.5, 4, 25)
    at, to = np.arange(20), np.arange(20)[::-1].copy()
    expected = looped_ratios(fields, weights, base)
    found = RatioModel(fields, weights, base).ratios(at, to)
    np.testing.assert_allclose(found.total, expected.sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(found.own, expected[at, to], rtol=1e-10)


def test_a_missing_released_field_speaks_neither_for_nor_against():
    field = KnownField("x", np.array([0, 1, 1, 1]), np.array([-1, 1, 1, 1]))
    found = RatioModel([field], None, "joint").ratios(np.arange(4), np.arange(4))
    assert found.own.tolist() == pytest.approx([1.0, 4 / 3, 4 / 3, 4 / 3])


def test_too_many_patterns_are_refused(monkeypatch):
    monkeypatch.setattr(_probability_ratios, "_MOST_PATTERNS", 3)
    fields = random_fields(1, 30, 30, 0.4)
    with pytest.raises(DataError, match="fewer keys"):
        RatioModel(fields, None, "joint").ratios(np.arange(30), np.arange(30))

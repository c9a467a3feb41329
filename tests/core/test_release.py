"""Releases: rows, edit rules, scorecards."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError
from tacit.core.families import Mask, Risk, Utility
from tacit.core.measurement import Measurement


def keyed(cls):
    """Give a test's measure a key without entering it in the registry."""
    cls.key = cls.__name__.lower()
    return cls


@keyed
class Share(Risk):
    """Share of records that are released."""

    def measure(self, original, release=None):
        value = 1.0 if release is None else release.data.n_records / original.n_records
        return Measurement(self.key, "Share", value, "lower")


@keyed
class Kept(Utility):
    """Number of columns."""

    def measure(self, original, release=None):
        return Measurement(self.key, "Kept", float(len(release.data.columns)), "higher")


@keyed
class Unfit(Risk):
    """Always object."""

    def objection(self, original):
        return "there are no keys"

    def measure(self, original, release=None):
        raise RuntimeError("must not be called")


@keyed
class OnlyReleases(Risk):
    """Fail on the original alone."""

    def measure(self, original, release=None):
        if release is None:
            raise DataError("there is nothing to compare with")
        return Measurement(self.key, "Only", 1.0, "lower")


@keyed
class Broken(Utility):
    """Fail with something that is not the user's fault."""

    def measure(self, original, release=None):
        raise ZeroDivisionError


@pytest.fixture
def release():
    data = tacit.datasets.census(100)
    return tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)


def test_measures_by_hand(release):
    card = release.measure([Share(), Kept()])
    assert card["share"].value == 0.5
    assert card.before["share"].value == 1.0
    assert card["kept"].value == len(release.data.columns)
    assert "kept" not in card.before


def test_measures_that_do_not_fit_are_listed_with_the_reason(release):
    card = release.measure([Unfit(), OnlyReleases()])
    assert card.left_out == {
        "unfit": "there are no keys",
        "onlyreleases": "there is nothing to compare with",
    }
    assert list(card) == []
    assert card.before == {}


def test_a_bug_in_a_measure_is_not_hidden(release):
    with pytest.raises(ZeroDivisionError):
        release.measure([Broken()])


def test_one_measure_twice_is_refused(release):
    with pytest.raises(ParameterError, match=r"each measure once.*share"):
        release.measure([Share(), Share()])


def test_default_card_has_risk_and_utility(release):
    card = release.measure()
    assert card.risks
    assert card.utilities
    defaults = {m.key for f in ("risk", "utility") for m in tacit.methods(f) if m.default}
    assert {m.key for m in card} | set(card.left_out) == defaults


def test_rows_say_where_records_came_from(release):
    original = release.original.local["age"].to_numpy()
    assert np.array_equal(original[release.rows], release.frame["age"].to_numpy())


def test_records_without_an_origin_are_simulated():
    class Invent(Mask):
        """Make records up."""

        def apply(self, data, rng):
            return tacit.Microdata.of(pl.DataFrame({"x": [0, 0, 0]}))

    release = tacit.Plan([Invent()]).apply(pl.DataFrame({"x": [1]}), seed=1)
    assert release.rows.tolist() == [-1, -1, -1]


def test_newly_broken_rules_are_counted():
    data = tacit.datasets.census(200)
    assert tacit.Plan().apply(data, seed=1).newly_broken == {}
    capped = tacit.Plan([mask.TopCode(column="income", threshold=1)]).apply(data, seed=1)
    n_taxed = int((data.frame["taxes"] > 1).sum())
    assert capped.newly_broken == {"income >= taxes": n_taxed}


def test_as_many_broken_records_as_before_may_be_others():
    class Negate(Mask):
        """Turn every sign."""

        def apply(self, data, rng):
            return data.with_arrays({"x": -data.numeric(["x"])[:, 0]})

    frame = pl.DataFrame({"x": [1.0, 2.0, -3.0, -4.0, None]})
    data = tacit.Microdata.of(frame).with_constraints(tacit.NonNegative(column="x"))
    release = tacit.Plan([Negate()]).apply(data, seed=1)
    assert data.broken_constraints() == release.data.broken_constraints() == {"x >= 0": 2}
    assert release.newly_broken == {"x >= 0": 2}, "the two that were above zero"
    assert tacit.Plan().apply(data, seed=1).newly_broken == {}, "broken before is not new"
    fewer = tacit.Plan([mask.Sample(fraction=0.6)]).apply(data, seed=1)
    assert fewer.newly_broken == {}


def test_hidden_columns_are_not_in_the_frame(release):
    assert release.frame.columns == [c for c in release.original.columns if c != "person_id"]


def test_original_is_untouched(release):
    assert release.original.frame.equals(tacit.datasets.census(100).frame)

"""What an intruder knows: errors, coverage, per-record knowledge."""

import numpy as np
import pytest

import tacit
from tacit.attack import Knowledge, Linkage, audit
from tacit.core.errors import DataError, ParameterError, SchemaError


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(800)


def test_errors_change_about_their_share(data):
    file, covered = Knowledge(error=0.3, coverage=0.25).external(data)
    assert covered.sum() == 200
    wrong = np.mean((file.local["education"] != data.local["education"]).to_numpy())
    assert 0.1 < wrong < 0.3  # some wrong draws give the right value again
    spread = np.std(file.numeric(["age"]) - data.numeric(["age"]))
    assert spread == pytest.approx(0.3 * np.std(data.numeric(["age"])), rel=0.15)
    assert file.local["income"].equals(data.local["income"])


def test_more_errors_find_fewer_people(data):
    rates = [Linkage().run((data, data), Knowledge(error=e)).success.value for e in (0, 0.1, 0.4)]
    assert rates[0] > 0.9
    assert rates[0] > rates[1] > rates[2]


def test_what_is_known_about_nobody_does_not_link(data):
    nobody = {"region": np.zeros(800, dtype=bool), "age": np.zeros(800, dtype=bool)}
    known = Knowledge(some=nobody)
    assert Linkage().run((data, data), known).success.value < 0.3


def test_who_is_not_certain_of_membership_finds_fewer(data):
    """Half certain, half of the finds; the finding says that it is the journalist's."""
    sure, unsure = (Linkage().run((data, data), Knowledge(membership=m)) for m in (1.0, 0.5))
    assert unsure.success.value == pytest.approx(sure.success.value / 2)
    assert (sure.details["scenario"], unsure.details["scenario"]) == ("prosecutor", "journalist")


@pytest.mark.parametrize("bad", [{"error": -1}, {"coverage": 2}, {"coalition": 0}, {"spy": 1}])
def test_bad_values_are_refused(bad):
    with pytest.raises(ParameterError):
        Knowledge(**bad)


@pytest.mark.parametrize(("rows", "columns", "words"), [(0, 9, "empty"), (5, 3, "lacks columns")])
def test_a_hold_out_that_does_not_fit_is_refused_at_once(data, rows, columns, words):
    held = data.local[:rows] if columns == 9 else data.local[:rows, :columns]
    with pytest.raises(DataError, match=words):
        audit((data, data), Knowledge(holdout=held), attacks=[])


def test_a_hold_out_has_the_kinds_of_the_original(data):
    """A file read again may hold codes as numbers, or know no roles."""
    control = Knowledge(holdout=data.local.drop("household", "weight")).control(data)
    assert control.schema.keys == data.schema.keys
    assert "weight" not in control.schema
    assert Knowledge().control(data) is None


@pytest.mark.parametrize(
    ("some", "words"), [({"spy": np.ones(800, bool)}, "spy"), ({"age": np.ones(3, bool)}, "3 for")]
)
def test_flags_that_do_not_fit_are_refused_at_once(data, some, words):
    with pytest.raises((DataError, SchemaError), match=words):
        audit((data, data), Knowledge(some=some), attacks=[])

"""Every measure gives the same number, or the same refusal, on every engine."""

from dataclasses import replace
from functools import cache

import pytest
from tests.engines.everywhere import IN_ENGINE, every

import tacit
from tacit import mask
from tacit.core.data import ROW
from tacit.core.errors import TacitError

DATA = tacit.datasets.census(300)
PLAN = tacit.Plan([mask.Recode(column="region", level=1), mask.Round(columns=["income"], base=7)])
MEASURES = [*tacit.methods("risk"), *tacit.methods("utility")]
NATIVE = [m for m in MEASURES if m.at_scale == "native"]


@cache
def released():
    return PLAN.apply(DATA, seed=2)


def without_numbers():
    """Return the released records without the hidden numbers, which no engine has."""
    data = released().data
    return replace(data, lazy=data.lazy.drop(ROW))


@cache
def expected(method):
    return measured(method, DATA, without_numbers())


def measured(method, original, data):
    """Return the number of a release whose two sides may live in an engine, or the refusal."""
    release = replace(released(), original=original, data=data)
    try:
        return method(**method.example).measure(original, release).value
    except TacitError as error:
        return str(error)


@every(MEASURES)
def test_every_measure_on_every_engine(method, enter):
    found, wanted = measured(method, enter(DATA), enter(without_numbers())), expected(method)
    assert found == (wanted if isinstance(wanted, str) else pytest.approx(wanted, nan_ok=True))


@every(NATIVE, IN_ENGINE)
def test_counted_inside_the_engine_the_number_is_the_same(method, enter, monkeypatch):
    """What is done only beyond a million records is done for these few."""
    monkeypatch.setattr("tacit.core.engine_keys.MANY_RECORDS", 10)
    found = measured(method, enter(DATA), enter(without_numbers()))
    assert found == pytest.approx(expected(method))

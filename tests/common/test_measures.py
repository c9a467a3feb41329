"""What every measure of risk or utility must do, whoever wrote it."""

import dataclasses
import json

import numpy as np
import pytest

import tacit
from tacit.core.bundle import input_digest
from tacit.core.errors import DataError
from tacit.core.measurement import Measurement

MEASURES = [*tacit.methods("risk"), *tacit.methods("utility")]
every_measure = pytest.mark.parametrize("method", MEASURES, ids=lambda m: m.key)


@pytest.fixture(scope="module")
def some_release(census):
    """A release that lost records, detail and precision, but no numeric column."""
    plan = tacit.Plan(
        [
            tacit.mask.Recode(column="region", level=1),
            tacit.mask.Round(columns=["age", "hours", "income", "taxes"], base=7),
            tacit.mask.Sample(fraction=0.7),
        ]
    )
    return plan.apply(census(), seed=4)


def measured(method, original, release):
    measure = method(**method.example)
    objection = measure.objection(original)
    if objection is not None:
        assert isinstance(objection, str)
        raise DataError(objection)
    return measure.measure(original, release)


def check_measurement(measurement, method):
    assert isinstance(measurement, Measurement)
    assert measurement.key == method.key
    assert measurement.title
    low, high = measurement.bounds
    assert np.isnan(measurement.value) or low <= measurement.value <= high
    assert measurement.explanation.endswith(".")
    json.dumps(measurement.as_dict(), allow_nan=False)
    if measurement.interval is not None:
        assert measurement.interval[0] <= measurement.interval[1]


@every_measure
def test_measure_of_a_release(method, census, some_release):
    measurement = measured(method, census(), some_release)
    check_measurement(measurement, method)
    assert not np.isnan(measurement.value)
    assert measurement.better in ("lower", "higher")
    if measurement.per_unit is not None and method.family == "risk":
        # One value per released record, or per unit that an intruder looks for.
        lengths = {some_release.data.n_records, census().n_records}
        assert len(measurement.per_unit) in lengths


@every_measure
def test_measuring_twice_gives_the_same(method, census, some_release):
    first, second = (measured(method, census(), some_release) for _ in range(2))
    assert first.as_dict() == second.as_dict()


@every_measure
def test_measuring_changes_nothing(method):
    data = tacit.datasets.census(150)
    release = tacit.Plan([tacit.mask.Sample(fraction=0.8)]).apply(data, seed=1)
    before = input_digest(data), input_digest(release.data)
    measured(method, data, release)
    assert (input_digest(data), input_digest(release.data)) == before


@every_measure
def test_a_release_of_everything(method, census):
    release = tacit.Plan().apply(census(), seed=1)
    check_measurement(measured(method, census(), release), method)


@every_measure
def test_a_release_with_recoded_columns_is_measured_or_refused(method, accepted, census):
    plan = tacit.Plan([tacit.mask.Recode(column="age", width=10)])
    measurement = accepted(measured, method, census(), plan.apply(census(), seed=1))
    if measurement is not None:
        check_measurement(measurement, method)


@every_measure
def test_measures_of_edge_cases_work_or_are_refused(method, edge, accepted):
    release = tacit.Plan().apply(edge, seed=1)
    measurement = accepted(measured, method, edge, release)
    if measurement is not None:
        check_measurement(measurement, method)


@every_measure
def test_data_without_roles_are_measured_or_refused(method, accepted, census):
    frame = census().frame
    measurement = accepted(
        measured, method, tacit.Microdata.of(frame), tacit.Plan().apply(frame, seed=1)
    )
    if measurement is not None:
        check_measurement(measurement, method)


@pytest.fixture(scope="module")
def in_two_orders(census):
    """The same release twice, the second time in another order, and that order."""
    plan = tacit.Plan(
        [tacit.mask.Mdav(columns=["income", "taxes"]), tacit.mask.Sample(fraction=0.9)]
    )
    release = plan.apply(census(), seed=2)
    order = np.random.default_rng(0).permutation(release.data.n_records)
    return release, dataclasses.replace(release, data=release.data.take(order)), order


@every_measure
def test_values_per_record_belong_to_the_records_they_are_said_to(method, census, in_two_orders):
    release, reordered, order = in_two_orders
    try:
        first, second = (measured(method, census(), r) for r in (release, reordered))
    except DataError:
        return
    if first.per_unit is None:
        return
    before, after = (np.asarray(m.per_unit, dtype=float) for m in (first, second))
    if first.units == "original":
        assert len(before) == census().n_records
        assert np.allclose(before, after, equal_nan=True)
    else:
        assert len(before) == release.data.n_records
        assert np.allclose(before[order], after, equal_nan=True)

"""What every registered method must do, whoever wrote it.

A new method needs no test here: it is found in the registry and tried with its own ``example``.
"""

import inspect
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.core.bundle import input_digest
from tacit.core.errors import (
    DataError,
    ParameterError,
    ProtectionError,
    SchemaError,
    TacitError,
    WriteError,
)  # fmt: skip
from tacit.core.measurement import Measurement
from tacit.core.schema import Kind, Role

REPOSITORY = Path(__file__).resolve().parents[2]
METHODS = tacit.methods()
MASKS = tacit.methods("mask")
MEASURES = [*tacit.methods("risk"), *tacit.methods("utility")]
FORMATS = tacit.methods("format")
DOCUMENTS = tacit.methods("document")
REFUSALS = (DataError, ProtectionError, SchemaError)


def named(method):
    return f"{method.family}:{method.key}"


every_method = pytest.mark.parametrize("method", METHODS, ids=named)
every_mask = pytest.mark.parametrize("method", MASKS, ids=named)
every_measure = pytest.mark.parametrize("method", MEASURES, ids=named)
every_format = pytest.mark.parametrize("method", FORMATS, ids=named)
every_document = pytest.mark.parametrize("method", DOCUMENTS, ids=named)


@cache
def census(n=200, missing=0.0):
    return tacit.datasets.census(n, missing=missing)


def applied(method, data, seed=1):
    return tacit.Plan([method(**method.example)]).apply(data, seed=seed)


@cache
def some_release():
    """A release that lost records, detail and precision, but no numeric column."""
    plan = tacit.Plan(
        [
            tacit.mask.Recode(column="region", level=1),
            tacit.mask.Round(columns=["age", "hours", "income", "taxes"], base=7),
            tacit.mask.Sample(fraction=0.7),
        ]
    )
    return plan.apply(census(), seed=4)


# -- declared once, and completely --------------------------------------------------------------


def bibliography():
    path = REPOSITORY / "docs" / "references.bib"
    return set(re.findall(r"^@\w+\{([^,\s]+),", path.read_text(encoding="utf-8"), re.MULTILINE))


@every_method
def test_has_a_title_and_a_key(method):
    assert method.title
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", method.key)
    assert method.__name__.isidentifier()


@every_method
def test_is_documented(method):
    text = inspect.getdoc(method) or ""
    assert method.summary().endswith(".")
    if method.family != "format":
        assert re.search(r"^Examples\n-+\n", text, re.MULTILINE), "needs a section Examples"
        assert ">>>" in text


@every_method
def test_says_what_it_does_with_missing_values_weights_and_households(method):
    text = (inspect.getdoc(method) or "").lower()
    words = ["missing"] if method.family == "format" else ["missing", "weight", "household"]
    for word in words:
        assert word in text, f"the docstring must speak of: {word}"


@every_method
def test_explains_every_parameter(method):
    for name, field in method.model_fields.items():
        assert field.description, f"write a text under the field {name!r}"
        assert field.description.rstrip().endswith((".", ":")), name


@every_method
def test_cites_sources_that_exist(method):
    unknown = set(method.cites) - bibliography()
    assert not unknown, f"not in docs/references.bib: {', '.join(sorted(unknown))}"
    if method.family in ("mask", "risk", "utility"):
        assert method.cites, "say where the method comes from"


@every_method
def test_has_a_test_file(method):
    place = Path(inspect.getfile(method)).relative_to(REPOSITORY / "src" / "tacit")
    assert (REPOSITORY / "tests" / place.parent / f"test_{place.name}").is_file()


@every_method
def test_example_is_complete(method):
    assert isinstance(method(**method.example), method)


@every_mask
def test_search_space_holds_valid_values(method):
    for name, values in method.search_space().items():
        for value in values:
            others = {k: v for k, v in method.example.items() if k != name}
            tried = [dict(method.example) | {name: value}, others | {name: value}, {name: value}]
            assert any(_is_valid(method, parameters) for parameters in tried), (name, value)


def _is_valid(method, parameters):
    """Tell whether nothing is wrong with these values; a missing companion is not their fault."""
    try:
        method(**parameters)
    except ParameterError as error:
        return "needs" in str(error)
    return True


# -- plain data -----------------------------------------------------------------------------------


@every_method
def test_survives_json_and_toml(method):
    step = method(**method.example)
    assert method(**json.loads(json.dumps(step.as_dict(), allow_nan=False))) == step
    assert method.model_validate_json(step.model_dump_json()) == step
    if method.family == "mask":
        plan = tacit.Plan([step, step])
        assert tacit.Plan.from_toml(plan.to_toml()) == plan


@every_method
def test_json_schema_can_be_drawn_as_a_form(method):
    schema = method.model_json_schema()
    assert set(schema.get("properties", {})) == set(method.model_fields)
    json.dumps(schema, allow_nan=False)


@every_method
def test_is_frozen(method):
    step = method(**method.example)
    for name in method.model_fields:
        with pytest.raises(Exception, match="frozen"):
            setattr(step, name, getattr(step, name))


@every_method
def test_unknown_parameter_is_named(method):
    with pytest.raises(ParameterError, match="'surely_not_a_parameter'"):
        method(**method.example, surely_not_a_parameter=1)


@every_method
def test_misspelt_parameter_suggests_the_right_one(method):
    for name in method.model_fields:
        typo = f"{name}x"
        with pytest.raises(ParameterError, match=f"{typo!r}; did you mean") as caught:
            method(**method.example, **{typo: 1})
        assert "did you mean" in str(caught.value)


@every_method
def test_wrong_type_is_named(method):
    for name in method.model_fields:
        with pytest.raises(ParameterError, match=re.escape(f"'{name}")):
            method(**dict(method.example) | {name: object()})


@every_mask
def test_public_note_keeps_parameters_inside(method):
    step = method(**method.example)
    note = step.public_note()
    assert note
    assert "\n" not in note
    assert not re.search(r"\d", note.replace(method.title, ""))
    assert not [c for c in census().columns if re.search(rf"\b{c}\b", note)]
    assert step.describe().startswith(method.title)


# -- masks ----------------------------------------------------------------------------------------


def touched(method, data):
    """Columns that a mask may change: those its parameters name, or else the keys; and weights."""
    named = set(re.findall(r"\w+", json.dumps(method(**method.example).as_dict())))
    columns = named & set(data.columns) or set(data.schema.keys) | set(data.schema.linked)
    if "reweight" in method.model_fields:
        columns |= set(data.schema.names(Role.WEIGHT))
    return columns


def check_consistent(release):
    """Check that a release is what its schema says."""
    data, table = release.data, release.data.local
    assert release.frame.columns == data.columns
    assert not set(release.original.schema.identifiers) & set(data.columns)
    assert len(release.rows) == data.n_records
    for variable in data.schema.variables:
        column = table[variable.name]
        if variable.kind is Kind.NUMERIC:
            assert column.dtype.is_numeric(), variable.name
            assert not (column.dtype.is_float() and column.is_nan().any()), variable.name
        if variable.kind is Kind.ORDINAL and variable.categories is not None:
            values = set(column.drop_nulls().cast(pl.String))
            assert values <= set(variable.categories), variable.name
    assert data.broken_constraints() is not None
    assert release.newly_broken is not None


@every_mask
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_example_gives_a_consistent_release(method, missing):
    check_consistent(applied(method, census(missing=missing)))


@every_mask
def test_example_does_something(method):
    data = census()
    release = applied(method, data)
    before = data.drop(data.schema.identifiers).frame
    assert not release.frame.equals(before)


@every_mask
def test_input_is_untouched(method):
    data = tacit.datasets.census(200, missing=0.05)
    digest, copy, schema = input_digest(data), data.frame.clone(), data.schema
    applied(method, data)
    assert input_digest(data) == digest
    assert data.frame.equals(copy)
    assert data.schema == schema


@every_mask
def test_same_seed_same_output(method):
    first, second = (applied(method, census(missing=0.05), seed=8) for _ in range(2))
    assert first.frame.equals(second.frame)
    assert np.array_equal(first.rows, second.rows)


@every_mask
def test_random_numbers_come_from_the_generator_alone(method):
    np.random.seed(1)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    applied(method, census())
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@every_mask
def test_other_columns_are_equal(method):
    data = census(missing=0.05)
    release = applied(method, data)
    real = release.rows >= 0
    original = data.local[release.rows[real]]
    released = release.frame.filter(real)
    for column in set(release.data.columns) - touched(method, data):
        assert released[column].equals(original[column]), column


@every_mask
def test_works_without_weights_households_and_roles(method):
    bare = census().drop(["weight", "household", "person_id"])
    check_consistent(applied(method, bare))
    try:
        release = applied(method, bare.frame)
    except REFUSALS as error:
        check_message(error)
    else:
        check_consistent(release)


def check_message(error):
    """Check that a refusal is one line that says something."""
    assert len(str(error)) > 15
    assert "\n" not in str(error)


def _constant(data):
    first = data.local[[0]]
    return data.take(np.zeros(30, dtype=int)) if len(first) else data


def _blanked(data):
    design = data.schema.names(Role.WEIGHT, Role.HOUSEHOLD)
    columns = [c for c in data.columns if c not in design]
    return data.with_missing({c: np.ones(len(data), dtype=bool) for c in columns})


def _heavy(data):
    return data.with_arrays({"weight": np.geomspace(1e-3, 1e9, len(data))})


def _bad_weights(data):
    return data.with_arrays({"weight": np.where(np.arange(len(data)) % 5, 1.0, -1.0)})


def _infinite(data):
    income = data.numeric(["income"])[:, 0].copy()
    income[:3] = np.inf
    return data.with_arrays({"income": income})


def _one_household(data):
    return data.with_arrays({"household": np.ones(len(data), dtype=np.int64)})


EDGES = {
    "one row": lambda data: data.take(np.array([0])),
    "two rows": lambda data: data.take(np.array([0, 1])),
    "empty": lambda data: data.take(np.array([], dtype=int)),
    "constant": _constant,
    "all missing": _blanked,
    "one complete record": lambda data: _blanked(data).take(np.arange(5)),
    "very unequal weights": _heavy,
    "bad weights": _bad_weights,
    "infinite values": _infinite,
    "one household": _one_household,
}
every_edge = pytest.mark.parametrize("edge", EDGES)


@every_mask
@every_edge
def test_edge_cases_work_or_are_refused(method, edge):
    data = EDGES[edge](census(60))
    try:
        release = applied(method, data)
    except REFUSALS as error:
        check_message(error)
    else:
        check_consistent(release)


@every_mask
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    missing=st.sampled_from([0.0, 0.3, 0.8]),
)
def test_any_data_work_or_are_refused(method, n, seed, missing):
    data = tacit.datasets.census(n, seed=seed, missing=missing)
    try:
        release = applied(method, data, seed=seed)
    except REFUSALS as error:
        check_message(error)
    else:
        check_consistent(release)


@every_mask
def test_a_column_that_is_not_there_is_named(method):
    named = touched(method, census()) & set(map(str, _texts(method.example)))
    if not named:
        pytest.skip("the example names no column")
    column = min(named)
    with pytest.raises(SchemaError, match=f"no column '{column}'"):
        applied(method, census().drop([column]))


def _texts(value):
    if isinstance(value, dict):
        return [t for v in value.values() for t in _texts(v)]
    if isinstance(value, list | tuple):
        return [t for v in value for t in _texts(v)]
    return [value] if isinstance(value, str) else []


# -- measures -------------------------------------------------------------------------------------


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
def test_measure_of_a_release(method):
    measurement = measured(method, census(), some_release())
    check_measurement(measurement, method)
    assert not np.isnan(measurement.value)
    if method.family == "risk":
        assert measurement.better == "lower" or method.key == "k-anonymity"
    if measurement.per_unit is not None and method.family == "risk":
        # One value per released record, or per unit that an intruder looks for.
        lengths = {some_release().data.n_records, census().n_records}
        assert len(measurement.per_unit) in lengths


@every_measure
def test_measuring_twice_gives_the_same(method):
    first, second = (measured(method, census(), some_release()) for _ in range(2))
    assert first.as_dict() == second.as_dict()


@every_measure
def test_measuring_changes_nothing(method):
    data = tacit.datasets.census(150)
    release = applied(tacit.mask.Sample, data)
    before = input_digest(data), input_digest(release.data)
    measured(method, data, release)
    assert (input_digest(data), input_digest(release.data)) == before


@every_measure
def test_a_release_of_everything(method):
    release = tacit.Plan().apply(census(), seed=1)
    check_measurement(measured(method, census(), release), method)


@every_measure
def test_a_release_with_recoded_columns_is_measured_or_refused(method):
    plan = tacit.Plan([tacit.mask.Recode(column="age", width=10)])
    try:
        measurement = measured(method, census(), plan.apply(census(), seed=1))
    except REFUSALS as error:
        check_message(error)
    else:
        check_measurement(measurement, method)


@every_measure
@every_edge
def test_measures_of_edge_cases_work_or_are_refused(method, edge):
    data = EDGES[edge](census(60))
    release = tacit.Plan().apply(data, seed=1)
    try:
        measurement = measured(method, data, release)
    except REFUSALS as error:
        check_message(error)
    else:
        check_measurement(measurement, method)


@every_measure
def test_data_without_roles_are_measured_or_refused(method):
    frame = census().frame
    try:
        measurement = measured(method, tacit.Microdata.of(frame), tacit.Plan().apply(frame, seed=1))
    except REFUSALS as error:
        check_message(error)
    else:
        check_measurement(measurement, method)


# -- formats and documents ------------------------------------------------------------------------


@every_format
def test_format_writes_what_it_reads(method, tmp_path):
    data = census(30).drop(["person_id"]).numbered()
    path = tmp_path / f"data{method.suffixes[0]}"
    try:
        method(**method.example).write(data, path)
    except WriteError as error:
        check_message(error)
        return
    again = tacit.read(path).frame
    assert again.columns == data.columns, "no hidden column may be written"
    assert again["income"].to_list() == pytest.approx(data.frame["income"].to_list())
    assert again["region"].to_list() == data.frame["region"].to_list()


@every_format
def test_format_refuses_a_file_that_is_not_one(method, tmp_path):
    path = tmp_path / f"data{method.suffixes[0]}"
    path.write_bytes(b"\x00\xff\x13\x37" * 40)
    with pytest.raises(TacitError) as caught:
        method(**method.example).read(path)
    check_message(caught.value)


@every_format
def test_suffixes_are_distinct(method):
    others = [s for f in FORMATS if f is not method for s in f.suffixes]
    assert method.suffixes
    assert all(s.startswith(".") and s == s.lower() for s in method.suffixes)
    assert not set(method.suffixes) & set(others)


@every_document
def test_document_keeps_secrets(method):
    release = some_release().plan.apply(census(), seed=918273645546372819)
    text = method(**method.example).render(release, release.measure())
    assert text
    assert method.filename
    assert "918273645546372819" not in text
    assert not [name for name in census().frame["person_id"] if name in text]

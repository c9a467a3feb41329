"""Plans: order, TOML, seeds."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import (
    DataError,
    ParameterError,
    PlanError,
    SchemaError,
    UnknownMethodError,
    WriteError,
)
from tacit.core.families import Mask

STEPS = st.one_of(
    st.builds(
        mask.Sample, fraction=st.floats(0.01, 1), replacement=st.booleans(), reweight=st.booleans()
    ),
    st.builds(mask.Round, columns=st.text(min_size=1), base=st.floats(1e-3, 1e6)),
    st.builds(
        mask.Recode,
        column=st.text(min_size=1),
        mapping=st.dictionaries(st.text(), st.text(), min_size=1, max_size=4),
    ),
    st.builds(
        mask.TopCode,
        column=st.text(min_size=1),
        threshold=st.one_of(st.floats(-1e9, 1e9), st.text()),
        at_least=st.integers(1, 9),
    ),
)


class Recorder(Mask):
    """Draw one number and remember it in a column."""

    def apply(self, data, rng):
        return data.with_arrays({"x": rng.random(len(data))})


def patients():
    return tacit.datasets.patients()


# -- applying -----------------------------------------------------------------------------------


def test_identifiers_go_first_even_with_an_empty_plan():
    release = tacit.Plan().apply(patients(), seed=1)
    assert release.frame.columns == ["Age", "State", "Diagnosis", "Income", "Billing"]
    assert release.steps[0].public_note == "Direct identifiers removed"
    assert "Name" in release.steps[0].description


def test_order_matters_and_is_kept():
    data = tacit.Microdata.of(pl.DataFrame({"x": [4, 4, 6]}))
    round_first = [
        mask.Round(columns="x", base=5, direction="up"),
        mask.TopCode(column="x", threshold=7),
    ]
    assert tacit.Plan(round_first).apply(data, seed=1).frame["x"].to_list() == [5, 5, 7]
    assert tacit.Plan(round_first[::-1]).apply(data, seed=1).frame["x"].to_list() == [5, 5, 10]


def test_the_first_job_of_the_paper():
    plan = tacit.Plan([mask.Mdav(columns=["Age"], k=2), mask.Sample(fraction=0.8)])
    release = plan.apply(patients(), seed=7)
    assert len(release.frame) == 8
    assert [step.n_records for step in release.steps] == [10, 10, 8]


def test_same_seed_same_release_other_seed_other_release():
    plan = tacit.Plan([mask.Sample(fraction=0.5)])
    data = tacit.datasets.census(200)
    once, again, other = (plan.apply(data, seed=seed).frame for seed in (3, 3, 4))
    assert once.equals(again)
    assert not once.equals(other)


def test_without_a_seed_a_fresh_one_is_drawn_and_kept():
    plan = tacit.Plan([mask.Sample(fraction=0.5)])
    data = tacit.datasets.census(200)
    first, second = plan.apply(data), plan.apply(data)
    assert first.seed != second.seed
    assert plan.apply(data, seed=first.seed).frame.equals(first.frame)


def test_steps_have_independent_seeds():
    data = tacit.Microdata.of(pl.DataFrame({"x": np.zeros(50)}))
    alone = tacit.Plan([Recorder()]).apply(data, seed=9).frame["x"]
    twice = tacit.Plan([Recorder(), Recorder()]).apply(data, seed=9).frame["x"]
    assert not alone.equals(twice)
    # A step draws the same numbers whatever the steps before it drew.
    quiet = mask.TopCode(column="x", threshold=99)
    after_quiet = tacit.Plan([quiet, Recorder()]).apply(data, seed=9).frame["x"]
    assert after_quiet.equals(twice)


def test_rows_survive_every_step():
    data = tacit.Microdata.of(pl.DataFrame({"x": list(range(100))}))
    plan = tacit.Plan([mask.Sample(size=50), mask.Round(columns="x", base=1), mask.Sample(size=20)])
    release = plan.apply(data, seed=1)
    assert release.rows.tolist() == release.frame["x"].to_list()


def test_a_plain_frame_is_accepted_and_untouched():
    frame = pl.DataFrame({"x": [1.234, 5.678]})
    copy = frame.clone()
    release = tacit.Plan([mask.Round(columns="x", base=1)]).apply(frame, seed=0)
    assert release.frame["x"].to_list() == [1.0, 6.0]
    assert frame.equals(copy)


def test_what_is_not_a_frame_is_refused():
    with pytest.raises(DataError, match="not a dataframe"):
        tacit.Plan().apply([1, 2, 3], seed=1)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_bad_seed(seed):
    with pytest.raises(ParameterError, match="seed"):
        tacit.Plan().apply(patients(), seed=seed)


def test_large_and_numpy_seeds():
    for seed in (2**200, np.int64(5), 0):
        assert tacit.Plan().apply(patients(), seed=seed).seed == int(seed)


# -- building -----------------------------------------------------------------------------------


def test_steps_may_be_plain_data():
    plan = tacit.Plan([{"method": "sample", "fraction": 0.5}])
    assert plan.methods == (mask.Sample(fraction=0.5),)
    assert list(plan) == [mask.Sample(fraction=0.5)]
    assert len(plan) == 1


@pytest.mark.parametrize("step", ["mdav", 3, mask.Mdav, None])
def test_what_is_not_a_step(step):
    with pytest.raises(ParameterError, match="masking methods"):
        tacit.Plan([step])


def test_measures_are_not_steps():
    with pytest.raises(UnknownMethodError, match="no mask method 'csv'"):
        tacit.Plan([{"method": "csv"}])


def test_misspelt_methods_and_parameters_suggest():
    with pytest.raises(UnknownMethodError, match="did you mean 'mdav'"):
        tacit.Plan([{"method": "mdva"}])
    with pytest.raises(ParameterError, match="did you mean 'fraction'"):
        tacit.Plan([{"method": "sample", "fracton": 0.5}])


# -- TOML ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(STEPS, max_size=6))
def test_toml_keeps_order_and_parameters(steps):
    plan = tacit.Plan(steps)
    assert tacit.Plan.from_toml(plan.to_toml()) == plan


def test_save_and_load(tmp_path):
    plan = tacit.Plan([mask.Sample(size=3), mask.Recode(column="État", mapping={"é": "ß"})])
    path = tmp_path / "plan.toml"
    plan.save(path)
    assert tacit.Plan.load(path) == plan
    plan.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["plan.toml"]


def test_a_plan_is_readable():
    text = tacit.Plan([mask.Sample(fraction=0.5)]).to_toml()
    assert 'method = "sample"' in text
    assert "fraction = 0.5" in text
    assert "replacement" not in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[step", "not valid TOML"),
        ("[[steps]]\nmethod = 'mdav'", "no entry 'steps'; did you mean 'step'"),
        ("format = 99", "another version"),
        ("step = 3", r"\[\[step\]\]"),
        ("step = ['mdav']", r"\[\[step\]\]"),
    ],
)
def test_malformed_plans(text, message):
    with pytest.raises(PlanError, match=message):
        tacit.Plan.from_toml(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(PlanError, match="no plan file"):
        tacit.Plan.load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("# é".encode("latin-1"))
    with pytest.raises(PlanError, match="UTF-8"):
        tacit.Plan.load(tmp_path / "latin.toml")


def test_saving_where_one_cannot(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="could not write"):
        tacit.Plan().save(tmp_path / "file" / "plan.toml")


@pytest.mark.parametrize("given", ["mdav", mask.Sample(size=1), {"method": "sample", "size": 1}])
def test_one_method_alone_is_not_a_plan(given):
    with pytest.raises(ParameterError, match="put it into a list"):
        tacit.Plan(given)


def test_a_step_on_an_identifier_is_told_why_it_is_not_there():
    plan = tacit.Plan([mask.Recode(column="Name", mapping={"a": "b"})])
    with pytest.raises(SchemaError, match="'Name' is an identifier, which is removed before"):
        plan.apply(patients())
    with pytest.raises(SchemaError, match="no column 'Nam'"):
        tacit.Plan([mask.Recode(column="Nam", mapping={"a": "b"})]).apply(patients())


def test_a_file_of_identifiers_only_is_not_released():
    data = tacit.read(pl.DataFrame({"a": [1, 2]})).with_roles(identifiers=["a"])
    with pytest.raises(DataError, match="nothing is left to release"):
        tacit.Plan().apply(data)

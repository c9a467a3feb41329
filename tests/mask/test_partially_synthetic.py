"""Partially synthetic data: what stays, what is drawn."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.core.keys import encode, frequencies


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(1500, missing=0.02)


def partial(data, **parameters):
    return tacit.Plan([mask.PartiallySynthetic(**parameters)]).apply(data, seed=2)


def test_other_columns_and_records_without_risk_stay(data):
    release = partial(data, columns=["marital", "income"], at_risk=2, keys=["sex", "age", "region"])
    rare = frequencies(encode(data, ["sex", "age", "region"])) < 2
    before = data.drop(["person_id"]).frame
    assert release.frame.filter(~rare).equals(before.filter(~rare))
    assert release.frame.drop("marital", "income").equals(before.drop("marital", "income"))
    assert not release.frame.filter(rare).equals(before.filter(rare))


def test_no_unique_number_at_risk_is_released_as_it_was(data):
    rich = {"column": "income", "comparison": ">", "value": 20_000}
    release = partial(data, columns=["income"], where=[rich])
    chosen = (data.frame["income"] > 20_000).fill_null(False)
    same = data.frame.filter(chosen)["income"] == release.frame.filter(chosen)["income"]
    assert chosen.sum() > 100
    assert same.sum() == 0


def test_rules_hold(data):
    release = partial(data, columns=["employed", "income", "taxes", "hours"], m=2)
    for made in release.data_sets:
        assert not any(made.broken_constraints().values())


def test_relation_to_what_stays_is_kept(data):
    release = partial(data, columns=["taxes"])
    pairs = release.frame.select("income", "taxes").drop_nulls().to_numpy().T
    assert np.corrcoef(*pairs)[0, 1] > 0.9


def test_nobody_at_risk_changes_nothing(data):
    never = {"column": "income", "comparison": ">", "value": 1e12}
    release = partial(data, columns=["income"], where=[never])
    assert release.frame.equals(data.drop(["person_id"]).frame)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"columns": ["weight"]}, ParameterError, "weight"),
        ({"columns": ["income"], "at_risk": 3}, DataError, "keys"),
    ],
)
def test_bad_wishes_are_refused(parameters, error, words, data):
    bare = data.with_roles(keys=[])
    with pytest.raises(error, match=words):
        partial(bare, **parameters)


def test_texts_only_predict_nothing():
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(80)], "x": [i % 7 for i in range(80)]})
    assert partial(frame, columns=["x"]).frame["name"].equals(frame["name"])


NEVER = {"column": "age", "comparison": "<", "value": 16, "then": "marital",
         "becomes": "never married"}  # fmt: skip


def test_rules_that_contradict_each_other_release_nothing(data):
    rules = [NEVER, NEVER | {"becomes": "married"}]
    with pytest.raises(ProtectionError, match="contradict"):
        partial(data, columns=["marital"], rules=rules)


def test_a_rule_about_a_column_that_stays_is_obeyed_by_the_one_that_is_drawn(data):
    release = partial(data, columns=["age"], rules=[NEVER])
    young = release.frame.filter(pl.col("age") < 16)["marital"].drop_nulls()
    assert young.unique().to_list() == ["never married"]
    careless = partial(data, columns=["age"], predictors={"age": ["sex"]}).frame
    assert careless.filter(pl.col("age") < 16)["marital"].drop_nulls().n_unique() > 1


def test_impossible_combinations_never_appear(data):
    zero = [{"column": "income", "comparison": ">", "value": 30_000},
            {"column": "education", "comparison": "==", "value": "primary"}]  # fmt: skip
    release = partial(data, columns=["education"], impossible=[zero], m=2)
    for made in release.data_sets:
        rich = made.frame.filter(pl.col("income") > 30_000)
        assert rich.height > 100
        assert "primary" not in rich["education"].to_list()


def test_an_impossible_record_that_stays_is_not_released(data):
    with pytest.raises(ProtectionError, match="contradict"):
        partial(data, columns=["income"], impossible=[{"sex": "male"}])


def test_a_misspelt_condition_is_refused_and_does_not_release_the_original(data):
    where = {"column": "sex", "comparison": "==", "value": "Male"}
    with pytest.raises(DataError, match="does not have"):
        partial(data, columns=["income"], where=[where])


def test_incomes_chosen_for_being_high_stay_high():
    """Reiter (2003): what is drawn for the chosen must be learnt from the chosen."""
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"age": rng.integers(18, 80, 3000), "pay": rng.lognormal(10, 0.8, 3000)})
    rich = {"column": "pay", "comparison": ">", "value": 40_000}
    made = partial(frame, columns=["pay"], where=[rich], m=2)
    for data_set in made.data_sets:
        pay = data_set.frame["pay"]
        assert pay.mean() == pytest.approx(frame["pay"].mean(), rel=0.03)
        assert (pay > 40_000).sum() == (frame["pay"] > 40_000).sum()
        assert pay.filter(frame["pay"] > 40_000).is_in(frame["pay"].to_list()).sum() == 0
    with pytest.raises(DataError, match="10 at least"):
        partial(frame, columns=["pay"], where=[rich | {"value": frame["pay"].sort()[-5]}])

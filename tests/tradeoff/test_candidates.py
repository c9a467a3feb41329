"""Candidates from the registry: by roles and kinds, found out by trying."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError
from tacit.tradeoff import Try
from tacit.tradeoff.candidates import (
    fitting_candidates,
    fitting_steps,
    mending_steps,
    plain_methods,
    probe,
    protected_columns,
    renumbering_steps,
    tried,
)
from tacit.tradeoff.space import Varied


@pytest.fixture(scope="module")
def census():
    return tacit.datasets.census(300)


@pytest.fixture(scope="module")
def steps(census):
    return fitting_steps(census, protected_columns(census))


def test_every_step_works_on_the_data(census, steps):
    for step in steps:
        for u in (0.0, 1.0):
            method = step.filled([u] * len(step.spaces))
            assert tacit.Plan([method]).apply(census, seed=1).data.n_records == 300


def test_numbers_and_categories_get_methods_of_their_own(steps):
    columns = {s.method: set(s.fixed["columns"]) for s in steps if "columns" in s.fixed}
    assert columns[mask.RankSwap] == {"age", "income", "taxes"}
    assert columns[mask.Pram] == {"region", "sex", "education", "marital"}


def test_methods_of_one_column_are_for_keys(census, steps):
    single = {s.fixed["column"] for s in steps if "column" in s.fixed}
    assert single
    assert single <= set(census.schema.keys)


def test_values_that_a_column_does_not_have_are_left_out(steps):
    ways = [s for s in steps if "column" in s.fixed and "level" in s.spaces]
    levels = {s.fixed["column"]: s.spaces["level"].values for s in ways}
    assert 3 not in levels["marital"]
    assert levels["age"] == (1, 2, 3)


def test_methods_that_change_the_number_of_records_are_left_out(steps):
    assert not {mask.Sample, mask.SimulatedRecords, mask.ControlledSample} & {
        s.method for s in steps
    }


def test_rules_that_break_are_mended(census, steps):
    assert [type(m) for m in mending_steps(census, steps)] == [mask.RestoreRules]
    no_rules = census.with_schema(census.schema.replace(constraints=()))
    assert mending_steps(no_rules, steps[:1]) == []


def test_household_numbers_are_replaced(census):
    assert [type(m) for m in renumbering_steps(census)] == [mask.NewIdentifiers]
    assert renumbering_steps(tacit.datasets.patients(50)) == []


def test_plain_methods_need_nothing():
    assert all(not type(m).search_space() for m in plain_methods())


def test_a_new_method_is_found(census, monkeypatch):
    """A method that nobody has heard of is a candidate as soon as it is registered."""
    from typing import Annotated

    from tacit.core import method as registry
    from tacit.core.families import Mask
    from tacit.core.method import Columns

    monkeypatch.setitem(registry._registry, "mask", dict(registry._registry["mask"]))

    class Mirror(Mask, key="mirror-for-a-test", title="Mirror"):
        """Give each record the values of its mirror image."""

        columns: Columns
        """Columns."""
        times: Annotated[int, Try(1, 3)] = 1
        """How often."""

        def apply(self, data, rng):
            return data.with_local(
                data.local.with_columns(pl.col(c).reverse() for c in self.columns)
            )

    found = fitting_steps(census, ["income", "taxes"])
    assert Mirror in {s.method for s in found}


def test_columns_without_roles_are_all_protected(numbers):
    assert protected_columns(numbers) == ["a", "b", "c"]
    (candidate,) = fitting_candidates(numbers)
    assert len(candidate.places) == 2
    assert None in candidate.places[1]


def test_few_records_are_spread_and_a_refusal_is_no_candidate(census):
    few = probe(census, 10)
    assert few.n_records == 10
    assert tried(Varied(mask.Mdav, columns=["income"], k=2), few) is not None
    assert tried(mask.Mdav(columns=["no such column"], k=2), few) is None
    assert probe(census.take(np.arange(1))).n_records == 1


def test_nothing_fits_a_file_of_weights():
    weights = tacit.Microdata.of(pl.DataFrame({"w": [1.0, 2.0]})).with_roles(weight="w")
    with pytest.raises(DataError, match="no method fits"):
        fitting_candidates(weights)


def test_a_method_that_breaks_is_left_out_aloud(monkeypatch):
    """A bug in a method once kept it from every search, and nobody was told."""

    def broken(self, data, rng):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(mask.RankSwap, "apply", broken)
    few = probe(tacit.datasets.census(50))
    with pytest.warns(RuntimeWarning, match="rank-swap broke on these data.*ZeroDivisionError"):
        assert tried(mask.RankSwap(columns=["income"], p=5), few) is None

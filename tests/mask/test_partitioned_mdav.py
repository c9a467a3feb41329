"""MDAV on a few related variables at a time."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.mask.partitioned_mdav import correlated_sets


def related(n=300):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(n), rng.standard_normal(n)
    noise = 0.05 * rng.standard_normal((n, 4))
    return np.column_stack([a, b, a, -b]) + noise


def test_related_variables_come_together_whatever_the_sign():
    assert sorted(map(sorted, correlated_sets(related(), 2))) == [[0, 2], [1, 3]]


def test_every_variable_is_in_one_set_of_at_most_the_size():
    values = np.random.default_rng(1).standard_normal((50, 7))
    sets = correlated_sets(values, 3)
    assert sorted(j for chosen in sets for j in chosen) == list(range(7))
    assert [len(chosen) for chosen in sets] == [3, 3, 1]
    assert [len(chosen) for chosen in correlated_sets(values, 1)] == [1] * 7


def test_a_breaker_finds_no_combination_of_fewer_than_k_within_a_set():
    table = pl.DataFrame(dict(zip("abcd", related().T, strict=True)))
    method = mask.PartitionedMdav(columns=["a", "b", "c", "d"], k=4, variables_per_group=2)
    frame = tacit.Plan([method]).apply(table, seed=1).frame
    for chosen in (["a", "c"], ["b", "d"]):
        assert frame.group_by(chosen).len()["len"].min() >= 4
    assert frame.group_by("a", "b", "c", "d").len()["len"].min() < 4


def test_sets_can_be_chosen_by_hand():
    table = pl.DataFrame(dict(zip("abcd", related().T, strict=True)))
    method = mask.PartitionedMdav(columns=["a", "b", "c", "d"], sets=(("a", "b"), ("c", "d")))
    frame = tacit.Plan([method]).apply(table, seed=1).frame
    assert frame.group_by("a", "b").len()["len"].min() >= 3


def test_less_is_lost_than_with_all_variables_at_once():
    table = pl.DataFrame(dict(zip("abcd", related().T, strict=True)))
    columns = ["a", "b", "c", "d"]

    def loss(method):
        frame = tacit.Plan([method]).apply(table, seed=1).frame
        return ((frame.to_numpy() - table.to_numpy()) ** 2).sum()

    apart = loss(mask.PartitionedMdav(columns=columns, variables_per_group=2))
    assert apart < loss(mask.Mdav(columns=columns))


def test_text_is_refused():
    with pytest.raises(SchemaError, match="nominal"):
        tacit.Plan([mask.PartitionedMdav(columns=["t"])]).apply(
            pl.DataFrame({"t": ["a", "b", "c"]})
        )


def test_infinite_values_are_refused():
    before = pl.DataFrame({"x": [1.0, 2.0, float("inf")] * 2, "y": [1.0, 2.0, 3.0] * 2})
    for sets in (None, (("x",), ("y",))):
        with pytest.raises(DataError, match="'x' holds infinite values"):
            tacit.Plan([mask.PartitionedMdav(columns=["y", "x"], sets=sets)]).apply(before, seed=1)


def test_sets_that_leave_a_variable_out_are_refused():
    """A variable in no set would be released as it is."""
    for sets in ((("a",),), (("a", "b"), ("b",)), (("a", "b", "c"),)):
        with pytest.raises(ParameterError, match="sets"):
            mask.PartitionedMdav(columns=["a", "b"], sets=sets)

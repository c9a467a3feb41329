"""Collapsing categories: sums kept, sensitive cells gone, the loss small and by hand."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import ParameterError, SchemaError
from tacit.tables import Dimension, MinFrequency, PPercent, Table, redesign, tabulate


def _records(seed=0, n=400):
    rng = np.random.default_rng(seed)
    weights = np.array([40, 30, 20, 6, 3, 1.0])
    return pl.DataFrame(
        {
            "a": rng.choice([f"a{i}" for i in range(6)], n, p=weights / weights.sum()),
            "b": rng.choice([f"b{i}" for i in range(4)], n),
            "x": np.round(np.exp(rng.normal(3, 1, n)), 1),
        }
    )


def test_the_two_rare_codes_are_merged_by_hand():
    """Counts 9, 1, 1: only y and z, one each, are below two, and merging them loses least."""
    table = tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y", "z"]}), "a")
    result = redesign(table, MinFrequency(n=2))
    assert result.merged == {"a": {"y+z": ("y", "z")}}
    assert len(result.sensitive) == 0
    assert result.table.value.tolist() == [11, 9, 2]


def test_a_merge_equals_tabulating_recoded_records():
    """The independent road: recode the records and tabulate them again."""
    records = _records()
    rule = PPercent(p=20) | MinFrequency(n=4)
    result = redesign(tabulate(records, ["a", "b"], "x"), rule)
    recode = {
        name: {old: new for new, several in codes.items() for old in several}
        for name, codes in result.merged.items()
    }
    again = records.with_columns(pl.col(c).replace(to) for c, to in recode.items())
    table = tabulate(again, ["a", "b"], "x")
    found = rule.sensitive(table)
    assert len(found) == len(result.sensitive)
    result.table.check_additive()
    ours = {result.table.labels(i): v for i, v in enumerate(result.table.value)}
    theirs = {table.labels(i): v for i, v in enumerate(table.value)}
    assert ours == pytest.approx(theirs)
    assert len(result.sensitive) < len(rule.sensitive(tabulate(records, ["a", "b"], "x")))


def test_codes_merged_away_leave_their_parent(full_table):
    tree = Dimension.nested("r", {"Total": ["A", "B"], "A": ["a1", "a2"], "B": ["b1", "b2"]})
    leaves = np.array([1.0, 1, 30, 40])
    table = full_table(leaves, tree)
    table = table.replace(count=table.value.astype(int))
    result = redesign(table, MinFrequency(n=2))
    assert result.table.dimensions[0].codes == ("Total", "A", "B", "b1", "b2")
    assert result.merged == {"r": {"A": ("a1", "a2")}}
    result.table.check_additive()


def test_limits_are_kept():
    table = tabulate(_records(), ["a", "b"], "x")
    rule = PPercent(p=20) | MinFrequency(n=4)
    before = len(rule.sensitive(table))
    one = redesign(table, rule, most_merges=1)
    assert sum(len(m) for m in one.merged.values()) == 1
    only_b = redesign(table, rule, dimensions=["b"])
    assert set(only_b.merged) <= {"b"}
    assert len(redesign(table, rule, allow=before).merged) == 0
    frozen = table.replace(frozen=np.ones(table.n_cells, bool))
    assert redesign(frozen, rule).merged == {}


def test_bad_input_is_refused():
    table = tabulate(_records(), "a", "x")
    with pytest.raises(SchemaError, match="region"):
        redesign(table, MinFrequency(n=3), dimensions=["region"])
    with pytest.raises(ParameterError):
        redesign(table, MinFrequency(n=3), allow=-1)
    bare = Table(table.value, table.relations)
    with pytest.raises(SchemaError, match="dimensions"):
        redesign(bare, MinFrequency(n=3))

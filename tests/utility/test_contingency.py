"""Tables before and after."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError


def test_distances_by_hand():
    before = pl.DataFrame({"c": ["a"] * 6 + ["b"] * 4})
    after = pl.DataFrame({"c": ["a"] * 4 + ["b"] * 6})
    found = utility.ContingencyLoss(columns=["c"], order=1).measure(before, after)
    row = found.details["tables"][0]
    assert row["total_variation"] == pytest.approx(0.2)
    p, q = np.array([0.6, 0.4]), np.array([0.4, 0.6])
    assert row["hellinger"] == pytest.approx(np.sqrt(1 - np.sqrt(p * q).sum()))
    assert row["chi_square"] == pytest.approx(0.04 / 0.6 + 0.04 / 0.4)
    assert row["entropy_change"] == pytest.approx(0.0)


def test_identity_is_0_and_disjoint_labels_are_1_with_a_warning():
    before = pl.DataFrame({"c": ["a", "b", "a"], "d": ["x", "y", "y"]})
    assert utility.ContingencyLoss(columns=["c", "d"]).measure(before, before).value == 0.0
    after = before.with_columns(c=pl.lit("other"))
    found = utility.ContingencyLoss(columns=["c"], order=1).measure(before, after)
    assert found.value == pytest.approx(1.0)
    assert "'c'" in found.warnings[0]


def test_swapping_keeps_margins_and_moves_pairs():
    data = tacit.datasets.census(2000).drop(["weight"])
    release = tacit.Plan([mask.DataSwap(columns=["education"], rate=0.5)]).apply(data, seed=1)
    columns = ["education", "sex", "marital"]
    one = utility.ContingencyLoss(columns=columns, order=1).measure(data, release)
    two = utility.ContingencyLoss(columns=columns, order=2).measure(data, release)
    three = utility.ContingencyLoss(columns=columns, order=3).measure(data, release)
    assert one.value == pytest.approx(0.0, abs=1e-9)
    assert 0 < two.value < three.value
    same = next(r for r in two.details["tables"] if set(r["columns"]) == {"sex", "marital"})
    assert same["hellinger"] == pytest.approx(0.0, abs=1e-9)


def test_cramers_v_falls_when_a_relation_is_broken():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 3000)
    before = pl.DataFrame({"a": a, "b": a})
    after = pl.DataFrame({"a": a, "b": rng.permutation(a)})
    row = utility.ContingencyLoss(columns=["a", "b"]).measure(before, after).details["tables"][0]
    assert row["cramers_v_change"] == pytest.approx(-1.0, abs=0.05)
    assert row["new_cells"] == 6


def test_suppressed_values_and_weights_show():
    before = pl.DataFrame({"c": ["a", "a", "b", "b"], "w": [1.0, 1.0, 1.0, 7.0]})
    data = tacit.Microdata.of(before).with_roles(weight="w")
    after = before.with_columns(c=pl.Series(["a", "a", "b", None]))
    plain = utility.ContingencyLoss(columns=["c"], order=1, distance="total-variation")
    assert plain.measure(before.drop("w"), after.drop("w")).value == pytest.approx(0.25)
    assert plain.measure(data, after).value == pytest.approx(0.7)


def test_numbers_that_became_text_are_matched_by_label():
    before = pl.DataFrame({"n": [1, 2, 2]})
    after = pl.DataFrame({"n": ["1", "2", "2"]})
    assert utility.ContingencyLoss(columns=["n"], order=1).measure(before, after).value == 0.0


def test_too_many_or_too_few_columns_are_refused():
    wide = pl.DataFrame({f"c{i}": ["a", "b"] for i in range(30)})
    with pytest.raises(DataError, match="too many tables"):
        utility.ContingencyLoss(order=4).measure(wide, wide)
    with pytest.raises(DataError, match="as many columns"):
        utility.ContingencyLoss(columns=["c0"], order=2).measure(wide, wide)
    with pytest.raises(DataError, match="at least one record"):
        utility.ContingencyLoss(columns=["c0"], order=1).measure(wide, wide.head(0))


def test_recoded_columns_are_left_out_unless_named():
    before = pl.DataFrame({"c": ["a", "b", "a"], "d": ["x", "y", "y"], "e": ["p", "p", "q"]})
    after = before.with_columns(c=pl.lit("other"))
    found = utility.ContingencyLoss().measure(before, after)
    assert found.value == 0.0
    assert found.warnings == ("'c' has other categories in the release: left out",)
    assert utility.CategoryChanges().measure(before, after).value == 0.0
    assert utility.CategoryChanges(columns=["c"]).measure(before, after).value == 1.0


def test_numbers_compare_as_numbers_whatever_their_type():
    table = pl.DataFrame({"n": [1, 2, 3, 3]})
    release = pl.DataFrame({"n": [1.0, 2.0, 3.0, 2.5]})
    found = utility.ContingencyLoss(columns=["n"], order=1, distance="total-variation")
    assert found.measure(table, release).value == pytest.approx(0.25)

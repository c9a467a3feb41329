"""t-closeness against a linear program that moves the earth."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit import risk
from tacit.core.errors import DataError

TREE = tacit.Tree(
    paths=(("a1", "a", "*"), ("a2", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"), ("b3", "b", "*"))
)
LEAVES = [path[0] for path in TREE.paths]


def moved_earth(p, q, cost):
    """Least cost of turning p into q, as a transport problem."""
    m = len(p)
    equal = np.zeros((2 * m, m * m))
    for i, j in itertools.product(range(m), repeat=2):
        equal[i, i * m + j] = equal[m + j, i * m + j] = 1
    return linprog(cost.ravel(), A_eq=equal, b_eq=np.concatenate([p, q])).fun


def costs(kind, present):
    m = len(present)
    if kind == "equal":
        return 1.0 - np.eye(m)
    if kind == "ordered":
        at = np.arange(m)
        return np.abs(at[:, None] - at[None]) / max(m - 1, 1)
    paths = {p[0]: p for p in TREE.paths}
    level = lambda a, b: next(i for i in range(3) if paths[a][i] == paths[b][i])  # noqa: E731
    return np.array([[level(a, b) / 2 for b in present] for a in present])


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(LEAVES)), min_size=2, max_size=30),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
)
def test_distances_equal_the_least_cost_of_moving(rows, kind):
    table = pl.DataFrame({"k": [r[0] for r in rows], "v": [r[1] for r in rows]})
    data = tacit.Microdata.of(table).with_hierarchies(v=TREE)
    found = risk.TCloseness(keys=["k"], confidential=["v"], distance=kind).measure(data)
    present = sorted(set(table["v"]))
    q = np.array([(table["v"] == v).mean() for v in present])
    expected = 0.0
    for key in set(table["k"]):
        inside = table.filter(pl.col("k") == key)["v"]
        p = np.array([(inside == v).mean() for v in present])
        expected = max(expected, moved_earth(p, q, costs(kind, present)))
    assert found.value == pytest.approx(expected, abs=1e-8)


def test_beta_and_delta_by_hand():
    table = pl.DataFrame({"k": [1, 1, 2, 2], "v": list("xyxx")})
    details = risk.TCloseness(keys=["k"], confidential=["v"]).measure(table).details["columns"]["v"]
    assert details["beta"] == pytest.approx((0.5 - 0.25) / 0.25)
    assert details["enhanced_beta"] == pytest.approx(min(1.0, -np.log(0.25)))
    assert details["delta"] == np.inf


def test_one_class_is_close_and_own_classes_are_far():
    data = tacit.datasets.census(300)
    one = data.frame.with_columns(k=pl.lit(1))
    assert risk.TCloseness(keys=["k"], confidential=["income"]).measure(one).value == 0.0
    own = risk.TCloseness(keys=["person_id"], confidential=["marital"]).measure(data)
    assert own.value > 0.8


def test_a_missing_tree_is_named():
    table = pl.DataFrame({"k": [1], "v": ["x"]})
    with pytest.raises(DataError, match="tree"):
        risk.TCloseness(keys=["k"], confidential=["v"], distance="hierarchical").measure(table)

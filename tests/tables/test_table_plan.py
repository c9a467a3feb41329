"""Plans for tables: plain data, the same table again, nothing unprotected."""

import numpy as np
import polars as pl
import pytest
from tests.tables.publishing import REGIONS, records

from tacit import tables
from tacit.core.errors import ParameterError, PlanError
from tacit.tables.table_plan import TablePlan, read_plan, table_digest

DIMENSION = tables.Dimension.nested("region", REGIONS)


def plan(**changes):
    given = {
        "by": [["region", "nace"]], "value": "turnover", "rule": "p(10)|freq(3)",
        "method": tables.SuppressModular(cost="unity"), "hierarchies": {"region": DIMENSION},
    }  # fmt: skip
    return TablePlan(**(given | changes))


@pytest.mark.parametrize(
    "made",
    [
        plan(),
        plan(rule="(dominance(2,75)|p(10))&freq(3)"),
        plan(rule=None, method=tables.RandomRounding(base=5, seed=9)),
        plan(by=[["region", "nace"], ["region", "size"]], holding="id", missing="own category"),
    ],
)
def test_survives_toml(made):
    assert TablePlan.from_toml(made.to_toml(source="x")) == made


def test_a_plan_file_is_read_with_what_it_says_of_its_use(tmp_path):
    (tmp_path / "plan.toml").write_text(plan().to_toml(source="here"), encoding="utf-8")
    made, about = read_plan(tmp_path / "plan.toml")
    assert made == plan()
    assert about["source"] == "here"


@pytest.mark.parametrize(
    "text", ["", "format = 7\n[table]\n", "= nonsense", 'format = 1\ntable = "x"']
)
def test_other_files_are_refused(text, tmp_path):
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError):
        read_plan(tmp_path / "plan.toml")
    with pytest.raises(PlanError, match="no plan file"):
        read_plan(tmp_path / "none.toml")


def test_the_same_data_give_the_same_table():
    first, second = (plan().apply(records()) for _ in range(2))
    assert np.array_equal(first.published, second.published, equal_nan=True)
    assert table_digest(first.original) == table_digest(second.original)
    other = plan().tabulate(records().with_columns(pl.col("turnover") + 1))
    assert table_digest(other) != table_digest(first.original)


def test_a_drawn_seed_is_kept_for_repetition():
    drawn = plan(method=tables.RandomRounding(base=500))
    made = drawn.apply(records())
    again = drawn.repeatable(made).apply(records())
    assert np.array_equal(made.published, again.published)
    assert plan().repeatable(made) == plan(), "a method without a seed stays as it is"


def test_linked_tables_are_protected_together():
    made = plan(by=[["region", "nace"], ["region", "size"]]).apply(records())
    one, two = made.split().values()
    mine = {one.original.labels(i): s for i, s in enumerate(one.suppressed)}
    for i, hidden in enumerate(two.suppressed):
        region, size = two.original.labels(i)
        if size == "Total":
            assert mine[region, "Total"] == hidden
    assert made.audit().passed


def test_nothing_to_protect_is_refused():
    with pytest.raises(PlanError, match="nothing says which cells are sensitive"):
        plan(rule=None).apply(records())
    whole = records().with_columns(pl.col("turnover").floor())
    with pytest.raises(PlanError, match="nothing says"):
        plan(rule=None, method=tables.ConventionalRounding()).apply(whole)


def test_what_is_no_protection_is_refused():
    with pytest.raises(ParameterError, match="protection"):
        plan(method={"method": "mdav", "columns": ["x"]})
    with pytest.raises(ParameterError):
        plan(method=tables.PPercent(p=10))
    with pytest.raises(ParameterError, match="'wrong'"):
        plan(wrong=1)


def test_contributions_are_kept_as_deep_as_the_method_looks():
    """M3A needs all of a few dozen; a newcomer names the method and nothing else."""
    made = plan(method=tables.M3A(crowd=30), rule="dominance(2,75)", hierarchies={})
    assert made.tabulate(records()).respondents.depth >= 30
    assert tables.CellKeyMagnitude(largest=3, shares=(1, 0.5, 0.5)).depth == 3
    assert tables.SuppressModular().depth == 1


@pytest.mark.parametrize(
    ("rule", "depth"),
    [
        ("dominance(7,80)", 7),
        ("p(10,6)", 7),
        ("pq(10,40,8)|freq(3)", 9),
        ("request(20,10)&freq(3)", 9),
        ("request(70)", 1),
    ],
)
def test_contributions_are_kept_as_deep_as_the_rule_looks(rule, depth):
    made = plan(rule=rule, hierarchies={}, method=tables.SuppressModular())
    assert made.rule.depth == depth
    assert made.tabulate(records()).respondents.depth == max(depth, 5)

"""Linked tables: one table of all cells, and the parts back again."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.tables import ProtectedTable, Sensitive

REGIONS = {"Total": ["N", "S"], "N": ["N1", "N2"]}


def records(n=60, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S"], n),
            "size": rng.choice(["1", "2"], n),
            "sector": rng.choice(["a", "b", "c"], n),
            "x": rng.integers(1, 50, n).astype(float),
            "id": rng.integers(0, n // 3, n),
        }
    )


def two_tables(frame, **options):
    by_size = tacit.tabulate(
        frame, ["region", "size"], "x", hierarchies={"region": REGIONS}, **options
    )
    by_sector = tacit.tabulate(frame, ["region", "sector"], "x", **options)
    return {"sizes": by_size, "sectors": by_sector}


def as_sets(relations):
    rows = (relations[[i], :].tocoo() for i in range(relations.shape[0]))
    return [frozenset(zip(r.coords[1].tolist(), r.data.tolist(), strict=True)) for r in rows]


@settings(max_examples=15)
@given(st.integers(1, 80), st.integers(0, 99))
def test_cells_are_shared_and_relations_hold_once(n, seed):
    both = two_tables(records(max(n, 3), seed))
    linked = tables.link(both)
    shared = {"Total", "N1", "N2", "S"} & set(linked.dimensions[0].codes)
    observed = set(both["sectors"].dimensions[0].codes)
    assert linked.n_cells == sum(map(len, both.values())) - len(shared & observed)
    assert not np.abs(linked.residuals()).max() > 1e-9
    rows = as_sets(linked.relations)
    assert len(set(rows)) == len(rows)
    for name, table in both.items():
        cells = linked.parts[name]
        assert linked.value[cells].tolist() == table.value.tolist()
        moved = {frozenset((int(cells[c]), s) for c, s in row) for row in as_sets(table.relations)}
        assert moved <= set(rows)
    assert len(rows) <= sum(t.relations.shape[0] for t in both.values())


def test_a_dimension_that_is_absent_stands_at_its_total():
    linked = tables.link(two_tables(records()))
    cell = linked.cell(region="N1")
    assert linked.labels(cell) == ("N1", "Total", "Total")
    assert linked.value[cell] == records().filter(pl.col("region") == "N1")["x"].sum()
    with pytest.raises(SchemaError, match="no such cell"):
        linked.cell(size="1", sector="a")


def test_the_same_table_twice_is_the_table():
    table = two_tables(records())["sizes"]
    linked = tables.link({"one": table, "two": table})
    assert linked.n_cells == table.n_cells
    assert linked.relations.shape == table.relations.shape
    alone = tables.link({"one": table})
    assert alone.value[alone.parts["one"]].tolist() == table.value.tolist()


def test_rules_see_contributions_and_named_units_across_tables():
    both = two_tables(records(), unit="id")
    linked = tables.link(both)
    for name, table in both.items():
        cells = linked.parts[name]
        for rule in (tables.PPercent(p=15), tables.MinFrequency(n=5)):
            assert rule.sensitive(linked).cells[cells].tolist() == (
                rule.sensitive(table).cells.tolist()
            )
        assert (linked.respondents.unit[cells] == table.respondents.unit).all()


def test_units_without_a_name_are_kept_apart():
    linked = tables.link(two_tables(records()))
    own = {
        name: set(linked.respondents.unit[np.setdiff1d(cells, other)].ravel().tolist()) - {-1}
        for (name, cells), other in zip(
            linked.parts.items(), list(linked.parts.values())[::-1], strict=True
        )
    }
    assert not own["sizes"] & own["sectors"]


def test_different_breakdowns_of_the_same_variable():
    """Zones that cut across the regions: linked only at the total and at common codes."""
    frame = records().with_columns(
        zone=pl.col("region").replace({"N1": "z1", "N2": "z2", "S": "z2"})
    )
    zones = tacit.tabulate(frame.drop("region").rename({"zone": "region"}), "region", "x")
    linked = tables.link({"regions": tacit.tabulate(frame, "region", "x"), "zones": zones})
    assert linked.n_cells == 4 + 3 - 1
    assert linked.relations.shape[0] == 2


def test_wishes_of_all_parts_are_kept():
    both = two_tables(records())
    both["sizes"] = both["sizes"].freeze({"region": "N1"}).with_cost({"region": "N1"}, 3)
    both["sectors"] = both["sectors"].force({"sector": "a"}).with_bounds({"sector": "a"}, upper=1e6)
    linked = tables.link(both)
    assert np.flatnonzero(linked.frozen).tolist() == [linked.cell(region="N1")]
    assert np.flatnonzero(linked.forced).tolist() == [linked.cell(sector="a")]
    assert linked.cost[linked.cell(region="N1")] == pytest.approx(
        max(3, both["sectors"].value[both["sectors"].cell(region="N1")] * 0 + 3)
    )
    assert linked.bounds[1][linked.cell(sector="a")] == 1e6


def test_a_protected_table_comes_apart_again():
    linked = tables.link(two_tables(records())).force({"region": "N1"})
    hidden = np.zeros(linked.n_cells, dtype=bool)
    hidden[[linked.cell(region="N1"), linked.cell(size="1"), linked.cell(sector="b")]] = True
    parts = ProtectedTable.suppressing(
        linked, Sensitive.by("rule", hidden, 1.0), hidden, "by hand"
    ).split()
    assert set(parts) == {"sizes", "sectors"}
    assert parts["sizes"].frame.columns == ["region", "size", "x", "status"]
    for name, codes in (("sizes", {"size": "1"}), ("sectors", {"sector": "b"})):
        table = parts[name].original
        assert parts[name].suppressed[table.cell(**codes)]
        assert parts[name].suppressed[table.cell(region="N1")]
        assert parts[name].suppressed.sum() == 2
        assert table.forced[table.cell(region="N1")]


def test_tables_that_differ_are_refused_by_name():
    both = two_tables(records())
    other = tacit.tabulate(records().with_columns(pl.col("x") + 1), ["region", "sector"], "x")
    with pytest.raises(DataError, match=r"differ in the value.*\(Total, Total\).*'sectors'"):
        tables.link({"sizes": both["sizes"], "sectors": other})


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda t: {}, ParameterError, "no table to link"),
        (lambda t: t | {"c": t["sizes"].replace(variable="y")}, SchemaError, "same variable"),
        (
            lambda t: t | {"c": tacit.tabulate(records(), "region", "x", total="all")},
            SchemaError, "'Total' and 'all'",
        ),
        (
            lambda t: t | {"c": t["sizes"].replace(dimensions=(), codes=np.empty((0, 0)))},
            SchemaError, "without dimensions",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_linked(change, error, says):
    with pytest.raises(error, match=says):
        tables.link(change(two_tables(records())))


def test_what_was_not_linked_does_not_come_apart(small):
    whole = ProtectedTable(small, Sensitive.none(12), small.value)
    with pytest.raises(SchemaError, match="not linked"):
        tables.split(whole)

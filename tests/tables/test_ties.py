"""Columns that follow from one another: what adds up across tables is never left out."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit import tables

RULE = "dominance(1,60)|freq(4)"


def business(seed=3, n=300, **columns):
    """Provinces p0..p8 in regions R0..R2; sizes and amounts by chance."""
    rng = np.random.default_rng(seed)
    province = rng.integers(0, 9, n)
    made = pl.DataFrame(
        {
            "province": [f"p{i}" for i in province],
            "region": [f"R{i // 3}" for i in province],
            "size": [f"s{i}" for i in rng.integers(0, 3, n)],
            "x": np.ceil(rng.lognormal(3, 1.5, n)),
        }
    )
    return made.with_columns(**columns)


def plan(*by, **changes):
    given = {"by": by, "value": "x", "rule": RULE, "method": tables.SuppressModular()}
    return tables.TablePlan(**(given | changes))


def worked_out(frame, made, by):
    """The least and the largest total of each leaf of each table, from the files published alone.

    The unknowns are the totals by all columns at once, where there are records; nothing of the
    relations of the package is used.
    """
    names = sorted({name for columns in by for name in columns})
    rows = frame.select(names).unique().rows(named=True)
    conditions, amounts, leaves = [], [], []
    for columns, part in zip(by, made.split().values(), strict=True):
        total = next(d.total for d in part.original.dimensions)
        value = next(name for name in part.public.columns if name not in columns)
        for published, cell in zip(part.published, part.public.rows(named=True), strict=True):
            held = np.array([all(cell[c] in (total, r[c]) for c in columns) for r in rows], float)
            assert np.isnan(published) == (cell[value] in (None, "c", "x"))
            if np.isnan(published):
                leaves.append((columns, cell, held))
            else:
                conditions.append(held)
                amounts.append(published)
    for columns, cell, held in leaves:
        ends = [
            linprog(sign * held, A_eq=np.array(conditions), b_eq=amounts, method="highs")
            for sign in (1.0, -1.0)
        ]
        low, high = (e.fun if e.status == 0 else np.inf for e in ends)
        yield columns, cell, low, (-high if np.isfinite(high) else np.inf)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(60, 400), st.booleans())
def test_nobody_finds_a_sensitive_cell_by_comparing_the_tables(seed, n, crossed):
    frame = business(seed, n)
    by = (("province", "size"), ("region", "size")) if crossed else (("province",), ("region",))
    made = plan(*by).apply(frame)
    assert made.original.ties == ("province and region",)
    sensitive = made.original
    for columns, cell, low, high in worked_out(frame, made, by):
        at = sensitive.cell(**{c: cell[c] for c in columns})
        if made.sensitive.cells[at]:
            value = sensitive.value[at]
            assert high - value >= made.sensitive.above[at] - 1e-6
            assert value - low >= min(made.sensitive.below[at], value) - 1e-6


def test_without_the_ties_the_same_attack_succeeds():
    frame = business(3, 400)
    by = (("province", "size"), ("region", "size"))
    apart = plan(*by)
    loose = tables.link(dict(apart.tabulate(frame).linked))
    assert loose.ties == ()
    exposed = 0
    made = apart.protect(loose)
    for columns, cell, low, high in worked_out(frame, made, by):
        at = loose.cell(**{c: cell[c] for c in columns})
        exposed += bool(made.sensitive.cells[at] and high - low < 1e-6)
    assert exposed


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_all_sums_between_two_tables_are_found(data):
    """They are as many as the records allow: the rest of what the records span."""
    n_one, n_other, n_groups = (data.draw(st.integers(1, 4)) for _ in range(3))
    group = [data.draw(st.lists(st.integers(0, n_groups - 1), min_size=k, max_size=k))
             for k in (n_one, n_other)]  # fmt: skip
    rows = [
        {"f": f"f{i}", "c": f"c{j}", "d": d, "x": float(1 + 3 * i + 7 * j + 20 * (d == "u"))}
        for i in range(n_one) for j in range(n_other) for d in "uv"
        if group[0][i] == group[1][j]
    ]  # fmt: skip
    if not rows:
        return
    frame = pl.DataFrame(rows)
    linked = plan(("f", "d"), ("c", "d")).tabulate(frame)
    codes = {d.name: np.array(d.codes)[linked.codes[:, j]] for j, d in enumerate(linked.dimensions)}
    held = np.array(
        [[all(codes[k][i] in ("Total", r[k]) for k in "fcd") for r in rows]
         for i in range(linked.n_cells)], float
    )  # fmt: skip
    assert np.abs(linked.relations @ held).max(initial=0) == 0
    rank = np.linalg.matrix_rank(linked.relations.toarray())
    assert rank == linked.n_cells - np.linalg.matrix_rank(held)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(60, 300))
def test_two_columns_that_follow_from_two_others_are_one_attack(seed, n):
    """Provinces by branch beside regions by section: each region's section is a sum of cells."""
    branch = np.random.default_rng(seed + 1).integers(0, 4, n)
    frame = business(
        seed, n, branch=pl.Series([f"b{i}" for i in branch]),
        section=pl.Series([f"S{i // 2}" for i in branch]),
    )  # fmt: skip
    by = (("province", "branch"), ("region", "section"))
    made = plan(*by).apply(frame)
    assert made.original.ties == ("province and region", "branch and section")
    sensitive = made.original
    for columns, cell, low, high in worked_out(frame, made, by):
        at = sensitive.cell(**{c: cell[c] for c in columns})
        if made.sensitive.cells[at]:
            value = sensitive.value[at]
            assert high - value >= made.sensitive.above[at] - 1e-6
            assert value - low >= min(made.sensitive.below[at], value) - 1e-6


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=4), min_size=2, max_size=3))
def test_all_sums_of_several_such_columns_are_found(maps):
    """Each map sends the codes of a column of one table to those of a column of the other."""
    rows = [
        {f"f{k}": f"f{i}" for k, i in enumerate(at)}
        | {f"c{k}": f"c{of[i]}" for k, (i, of) in enumerate(zip(at, maps, strict=True))}
        | {"x": 1.0}
        for at in product(*(range(len(of)) for of in maps))
    ]
    frame = pl.DataFrame(rows)
    fine, coarse = (tuple(f"{side}{k}" for k in range(len(maps))) for side in "fc")
    linked = plan(fine, coarse).tabulate(frame)
    codes = {d.name: np.array(d.codes)[linked.codes[:, j]] for j, d in enumerate(linked.dimensions)}
    held = np.array(
        [[all(codes[k][i] in ("Total", r[k]) for k in codes) for r in rows]
         for i in range(linked.n_cells)], float
    )  # fmt: skip
    empty = np.eye(linked.n_cells)[held.sum(axis=1) == 0]
    assert np.abs(linked.relations @ held).max(initial=0) == 0
    rank = np.linalg.matrix_rank(np.vstack([linked.relations.toarray(), empty]))
    assert rank == linked.n_cells - np.linalg.matrix_rank(held)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 3), st.integers(2, 4), st.booleans(), st.booleans())
def test_a_code_made_of_two_columns_is_tied_to_both(n_one, n_other, turned, crossed):
    """Each cell by sex and age is a cell by the code made of them."""
    rows = [
        {"sex": f"s{i}", "age": f"a{j}", "made": f"s{i}a{j}", "z": z, "x": 1.0}
        for i in range(n_one) for j in range(n_other) for z in "uv"
    ]  # fmt: skip
    by = (("sex", "age"), ("made", "z") if crossed else ("made",))
    linked = plan(*(by[::-1] if turned else by)).tabulate(pl.DataFrame(rows))
    codes = {d.name: np.array(d.codes)[linked.codes[:, j]] for j, d in enumerate(linked.dimensions)}
    held = np.array(
        [[all(codes[k][i] in ("Total", r[k]) for k in codes) for r in rows]
         for i in range(linked.n_cells)], float
    )  # fmt: skip
    assert np.abs(linked.relations @ held).max(initial=0) == 0
    rank = np.linalg.matrix_rank(linked.relations.toarray())
    assert rank == linked.n_cells - np.linalg.matrix_rank(held)


def test_a_sum_is_written_with_the_fewest_codes():
    tree = {"Total": ["A", "B"], "A": ["p0", "p1", "p2"], "B": [f"p{i}" for i in range(3, 9)]}
    frame = business().with_columns(
        area=pl.when(pl.col("region") == "R0").then(pl.lit("west")).otherwise(pl.lit("east"))
    )
    made = plan(
        ("province",),
        ("area",),
        hierarchies={"province": tables.Dimension.nested("province", tree)},
    ).tabulate(frame)
    a, west = made.cell(province="A"), made.cell(area="west")
    rows = [made.relations[[i], :].indices.tolist() for i in range(made.relations.shape[0])]
    assert sorted([a, west]) in [sorted(row) for row in rows]
    assert made.is_total[west]


def test_a_table_without_the_subtotals_of_another_is_tied_by_its_own_codes():
    """Only the first table has regions inside provinces; the last two still add up."""
    frame = business()
    tree = {f"R{i}": [f"p{j}" for j in range(3 * i, 3 * i + 3)] for i in range(3)}
    tree = {"province": {"Total": list(tree), **tree}}
    made = tables.link(
        {
            "tree": tacit.tabulate(frame, "province", "x", hierarchies=tree),
            "fine": tacit.tabulate(frame, ["province", "size"], "x"),
            "coarse": tacit.tabulate(frame, ["region", "size"], "x"),
        },
        records=frame,
    )
    coarse = made.cell(region="R1", size="s0")
    fine = [made.cell(province=f"p{j}", size="s0") for j in (3, 4, 5)]
    rows = [sorted(np.flatnonzero(row)) for row in made.relations.toarray()]
    assert sorted([coarse, *fine]) in rows
    assert made.is_total[coarse]
    assert sorted([made.cell(province="R1"), made.cell(region="R1")]) in rows


def test_groups_of_several_codes_on_both_sides_are_equal_sums():
    frame = pl.DataFrame(
        {"f": list("aabb") + list("ccdd"), "c": list("1212") + list("3434"), "x": range(1, 9)}
    )
    made = plan(("f",), ("c",)).tabulate(frame)
    equal = made.relations[np.flatnonzero(made.total_of < 0), :].toarray()
    assert len(equal) == 2
    assert (np.abs(equal).sum(axis=1) == 4).all()
    assert made.is_total.sum() == 1
    plan(("f",), ("c",), rule="freq(3)").protect(made).verify().require()


def test_codes_of_the_same_meaning_are_one():
    frame = business().with_columns(name=pl.col("region").str.to_lowercase())
    made = plan(("region", "size"), ("name", "size")).apply(frame)
    by_code, by_name = made.split().values()
    assert (np.isnan(by_code.published) == np.isnan(by_name.published)).all() or made.audit().passed
    assert made.original.ties == ("region and name",)


def test_columns_that_say_nothing_of_each_other_add_no_sums():
    made = plan(("province",), ("size",)).tabulate(business())
    assert made.ties == ()
    assert made.relations.shape[0] == 2


def test_a_column_with_one_code_is_no_tie():
    made = plan(("province",), ("kind",)).tabulate(business().with_columns(kind=pl.lit("k")))
    assert made.ties == ()


def test_a_table_with_both_columns_says_so_without_the_records():
    frame = business()
    three = [("province", "size"), ("region", "size"), ("province", "region")]
    made = tables.link({"-".join(by): tacit.tabulate(frame, by, "x") for by in three})
    assert made.ties == ("province and region",)
    assert made.relations.shape == plan(*three).tabulate(frame).relations.shape


@pytest.mark.parametrize("engine", ["lazy", "pandas", "duckdb"])
def test_every_engine_finds_them(engine):
    frame, opened = business(), None
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        opened = duckdb.connect()
        opened.register("frame", frame.to_arrow())
        data = opened.table("frame")
    else:
        data = frame.lazy() if engine == "lazy" else frame.to_pandas()
    by = (("province", "size"), ("region", "size"))
    expected, found = plan(*by).tabulate(frame), plan(*by).tabulate(data)
    assert found.ties == expected.ties == ("province and region",)
    assert (found.relations != expected.relations).nnz == 0
    if opened:
        opened.close()


@pytest.mark.parametrize("missing", ["own category", "drop"])
def test_records_without_a_code_are_treated_as_in_the_tables(missing):
    frame = business().with_columns(
        province=pl.when(pl.col("x") > 200).then(None).otherwise(pl.col("province")),
        region=pl.when(pl.col("x") > 200).then(None).otherwise(pl.col("region")),
    )
    made = plan(("province",), ("region",), missing=missing).apply(frame)
    assert made.original.ties == ("province and region",)
    assert ("missing" in made.original.dimensions[0].codes) == (missing == "own category")
    assert not np.abs(made.original.residuals()).max() > 1e-6
    assert made.verify().passed


def test_records_without_a_value_do_not_tie():
    frame = business().with_columns(
        x=pl.when(pl.col("province") == "p0").then(None).otherwise(pl.col("x"))
    )
    made = plan(("province",), ("region",), missing_value="drop").tabulate(frame)
    assert "p0" not in made.dimensions[0].codes
    assert made.ties == ("province and region",)

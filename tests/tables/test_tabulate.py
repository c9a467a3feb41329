"""Tables from records: equal to counting by hand, on every engine, whatever the records."""

import datetime as dt
from collections import defaultdict
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.hierarchy import Intervals, Prefixes, Tree
from tacit.tables import _checkpoint, _leaves
from tacit.tables.contributions import UNNAMED

REGIONS = {"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}
NACE = [{"Total": ["A", "B"], "A": ["1", "2"], "B": ["3", "4"]}, {"Total": ["odd", "even"], "odd": ["1", "3"], "even": ["2", "4"]}]  # noqa: E501  # fmt: skip
BOTH = {"region": REGIONS, "nace": NACE}


def records(n, seed, negative=False):
    rng = np.random.default_rng(seed)
    low = -20 if negative else 0
    return pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2"], n),
            "nace": rng.choice(["1", "2", "3", "4"], n),
            "x": rng.integers(low, 30, n).astype(float),
            "y": rng.integers(0, 9, n).astype(float),
            "w": rng.integers(2, 40, n) / 4,
            "unit": rng.choice([f"ü{i}" for i in range(max(n // 2, 1))], n),
            "holding": rng.integers(0, max(n // 4, 1), n),
            "asks": rng.random(n) < 0.2,
        }
    )


def by_hand(frame, dimensions, column=None, weighted=False, top=5):
    """Return for each cell the sums and contributions, record by record."""
    held = [
        {code: {d.leaves[j] for j in d.contains[[i], :].indices} for i, code in enumerate(d.codes)}
        for d in dimensions
    ]
    rows = frame.rows(named=True)
    for cell in product(*(d.codes for d in dimensions)):
        inside = [
            (i, r) for i, r in enumerate(rows)
            if all(str(r[d.name]) in h[c] for d, h, c in zip(dimensions, held, cell, strict=True))
        ]  # fmt: skip
        size, amount, asks = defaultdict(float), defaultdict(float), defaultdict(bool)
        heaviest = defaultdict(float)
        for i, r in inside:
            unit = ("record", i) if column is None or r[column] is None else r[column]
            size[unit] += r["x"]
            amount[unit] += r["x"] * (r["w"] if weighted else 1)
            asks[unit] |= r["asks"]
            heaviest[unit] = max(heaviest[unit], r["w"] if weighted else 1)
        for unit, w in heaviest.items():
            # A sum of records that no weight up to the largest turns into the weighted sum.
            if not (size[unit] and 0 < amount[unit] / size[unit] <= w * (1 + 1e-9)):
                size[unit] = amount[unit] / w
        ranked = sorted(size, key=lambda u: -abs(size[u]))[:top]
        yield {
            "count": len(inside),
            "value": sum(r["x"] * (r["w"] if weighted else 1) for _, r in inside),
            "y": sum(r["y"] * (r["w"] if weighted else 1) for _, r in inside),
            "n_units": len(size),
            "absolute": sum(map(abs, amount.values())),
            "top": [abs(size[u]) for u in ranked] + [0.0] * (top - len(ranked)),
            "asked": sum(asks.values()),
            "in_all": sorted(ranked, key=str) if len(size) <= top else None,
        }


def check(table, frame, contributions, **options):
    expected = list(by_hand(frame, table.dimensions, **options))
    assert table.count.tolist() == [cell["count"] for cell in expected]
    np.testing.assert_allclose(table.value, [cell["value"] for cell in expected], atol=1e-9)
    assert contributions.n_units.tolist() == [cell["n_units"] for cell in expected]
    np.testing.assert_allclose(
        contributions.absolute, [cell["absolute"] for cell in expected], atol=1e-9
    )
    np.testing.assert_allclose(np.abs(contributions.top), [cell["top"] for cell in expected])
    assert ((contributions.unit >= 0).sum(axis=1) == np.minimum(contributions.n_units, 5)).all()
    table.check_additive()


ENGINES = {
    "polars": lambda frame: frame,
    "polars lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
}
OPTIONS = {
    "plain": {},
    "weighted": {"weights": "w"},
    "units": {"unit": "unit", "holding": "holding", "request": "asks"},
    "all": {"unit": "unit", "holding": "holding", "request": "asks", "weights": "w", "sums": ["y"]},
}


# -- equal to counting by hand -------------------------------------------------------------------


@settings(max_examples=25)
@given(
    n=st.integers(0, 40), seed=st.integers(0, 999), negative=st.booleans(), weighted=st.booleans()
)
def test_records_are_counted_as_by_hand(n, seed, negative, weighted):
    frame = records(n, seed, negative)
    weights = "w" if weighted else None
    table = tacit.tabulate(frame, ["region", "nace"], "x", hierarchies=BOTH, weights=weights)
    check(table, frame, table.respondents, weighted=weighted)


@settings(max_examples=25)
@given(n=st.integers(1, 40), seed=st.integers(0, 999), negative=st.booleans(), gaps=st.booleans())
def test_units_are_added_up_over_each_cell_and_counted_once(n, seed, negative, gaps):
    frame = records(n, seed, negative)
    if gaps:
        missing = pl.Series(np.arange(n) % 3 == 0)
        frame = frame.with_columns(pl.when(~missing).then(pl.col("holding")).alias("holding"))
    table = tacit.tabulate(
        frame, ["region", "nace"], "x", hierarchies=BOTH, unit="unit", holding="holding",
        weights="w", request="asks", sums=["y"],
    )  # fmt: skip
    check(table, frame, table.respondents, column="unit", weighted=True)
    check(table, frame, table.holdings, column="holding", weighted=True)
    expected = list(by_hand(frame, table.dimensions, column="holding", weighted=True))
    np.testing.assert_allclose(table.sums["y"], [cell["y"] for cell in expected])
    complete = table.holdings.n_units <= 5
    asked = (table.holdings.requested > 0).sum(axis=1)
    assert asked[complete].tolist() == [
        cell["asked"] for cell, whole in zip(expected, complete, strict=True) if whole
    ]


@pytest.mark.parametrize("part", [1, 7, 40])
def test_units_that_are_read_in_parts_are_never_cut(monkeypatch, part):
    """A unit of which half is in the next part would count twice, with half of what it has."""
    frame = records(200, 5, negative=True)
    options = {"hierarchies": BOTH, **OPTIONS["all"]}
    whole = tacit.tabulate(frame, ["region", "nace"], "x", **options)
    heights = []
    monkeypatch.setattr(_checkpoint, "PART", part)
    read = _checkpoint.Checkpoints.sorted_parts

    def noted(*given):
        for one in read(*given):
            heights.append(one.height)
            yield one

    monkeypatch.setattr(_checkpoint.Checkpoints, "sorted_parts", noted)
    table = tacit.tabulate(ENGINES["duckdb"](frame), ["region", "nace"], "x", **options)
    assert len(heights) > 2
    for kind in ("respondents", "holdings"):
        one, other = getattr(whole, kind), getattr(table, kind)
        for name in ("top", "n_units", "absolute", "weight", "unit", "requested"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("spread", [False, True], ids=["one cell", "several cells"])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_gains_and_losses_of_a_unit_do_not_hide_its_weighted_contribution(engine, spread):
    """10 of weight 1 and -10 of weight 20: nothing unweighted, and most of the cell weighted."""
    frame = pl.DataFrame(
        {"r": ["a", "b" if spread else "a", "a", "a"], "u": list("kkmn"),
         "x": [10.0, -10.0, 3.0, 2.0], "w": [1.0, 20.0, 1.0, 1.0]}
    )  # fmt: skip
    given = ENGINES[engine](frame)
    found = tacit.tabulate(given, "r", "x", weights="w", unit="u").respondents
    assert found.top[0].tolist() == [-9.5, 3.0, 2.0, 0.0, 0.0]
    assert found.weight[0].tolist() == [20.0, 1.0, 1.0, 0.0, 0.0]
    assert found.absolute[0] == 195.0
    rule = tables.Dominance(n=20, k=90, absolute=True)
    assert rule.sensitive(tacit.tabulate(given, "r", "x", weights="w", unit="u")).cells[0]


def test_the_same_unit_has_the_same_number_in_every_cell():
    frame = pl.DataFrame(
        {"r": ["a", "b", "b", "c"], "x": [5.0, 7.0, 1.0, 2.0], "u": ["k", "k", "m", "n"]}
    )
    table = tacit.tabulate(frame, "r", "x", unit="u")
    unit = {code: table.respondents.unit[table.cell(r=code)].tolist() for code in "abc"}
    total = table.respondents.unit[0].tolist()
    assert unit["a"][0] == unit["b"][0] == total[0]
    assert unit["b"][1] == total[2]
    assert unit["c"][0] == total[1]
    assert table.respondents.top[0, :3].tolist() == [12, 2, 1]
    assert table.respondents.n_units.tolist() == [3, 1, 2, 1]


@pytest.mark.parametrize("low", [-3, 2**62], ids=["negative", "beyond 62 bits"])
def test_the_number_of_a_unit_does_not_depend_on_which_others_are_there(low):
    frame = pl.DataFrame({"r": list("aabb"), "x": [10.0, 4.0, 1.0, 6.0], "u": [5, 7, low, 9]})
    one, more = (tacit.tabulate(frame, "r", "x", unit="u", top=n).respondents.unit for n in (1, 3))
    assert one[:, 0].tolist() == more[:, 0].tolist() == [5, 5, 9]
    assert 0 <= more[2, 1] < UNNAMED


def test_records_have_numbers_of_their_own_that_follow_them_into_totals():
    table = tacit.tabulate(records(30, 1), ["region", "nace"], "x", hierarchies=BOTH)
    single = np.flatnonzero(table.count == 1)
    total = set(table.respondents.unit[table.cell()].tolist())
    known = {u for cell in single for u in table.respondents.unit[cell][:1].tolist()}
    assert total - {-1} <= set(table.respondents.unit[~table.is_total].ravel().tolist())
    assert -1 not in known


# -- the same on every engine --------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_table(engine, options):
    frame = records(300, 7, negative=True)
    arguments = {"by": ["region", "nace"], "value": "x", "hierarchies": BOTH, **OPTIONS[options]}
    expected = tacit.tabulate(frame, **arguments)
    same(tacit.tabulate(ENGINES[engine](frame), **arguments), expected)


def same(found, expected):
    np.testing.assert_allclose(found.value, expected.value, atol=1e-9)
    assert found.dimensions == expected.dimensions
    assert found.count.tolist() == expected.count.tolist()
    for kind in ("respondents", "holdings"):
        one, other = getattr(found, kind), getattr(expected, kind)
        if other is not None:
            assert one.n_units.tolist() == other.n_units.tolist()
            np.testing.assert_allclose(one.absolute, other.absolute, atol=1e-9)
            np.testing.assert_allclose(np.abs(one.top), np.abs(other.top))


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("options", OPTIONS)
def test_leaving_out_small_contributions_first_changes_nothing(monkeypatch, engine, options):
    """Large files take a first pass that drops what cannot be among the largest."""
    frame = records(500, 3, negative=True)
    frame = pl.concat(
        [frame, frame.with_columns(x=pl.lit(0.0)), frame.with_columns(x=pl.lit(25.0))]
    )
    arguments = {"by": ["region", "nace"], "value": "x", "hierarchies": BOTH, **OPTIONS[options]}
    expected = tacit.tabulate(frame, **arguments)
    monkeypatch.setattr(_leaves, "SIEVE_FROM", 0)
    same(tacit.tabulate(ENGINES[engine](frame), **arguments), expected)


def test_a_file_is_read_in_duckdb_without_loading_it(tmp_path):
    path = tmp_path / "many.parquet"
    frame = records(2000, 5)
    frame.write_parquet(path)
    found = tacit.tabulate(duckdb.read_parquet(str(path)), ["region", "nace"], "x")
    same(found, tacit.tabulate(frame, ["region", "nace"], "x"))


def test_the_input_is_untouched():
    frame = records(50, 2)
    before = frame.clone()
    tacit.tabulate(frame, ["region"], "x", holding="holding", weights="w")
    assert frame.equals(before)


# -- what users may give -------------------------------------------------------------------------


def test_a_table_of_counts():
    table = tacit.tabulate(records(50, 1), ["region"])
    assert table.is_count
    assert table.value.tolist() == table.count.tolist()
    assert table.respondents is None
    weighted = tacit.tabulate(records(50, 1), ["region"], weights="w")
    assert weighted.value[0] == pytest.approx(records(50, 1)["w"].sum())
    assert weighted.value.tolist() == weighted.weighted_count.tolist()
    units = tacit.tabulate(records(50, 1), ["region"], unit="unit")
    assert units.respondents.n_units[0] == records(50, 1)["unit"].n_unique()
    assert units.value[0] == 50


def test_no_dimension_at_all():
    table = tacit.tabulate(records(20, 1), [], "x", unit="unit")
    assert table.n_cells == 1
    assert table.value[0] == records(20, 1)["x"].sum()
    assert table.respondents.n_units[0] == records(20, 1)["unit"].n_unique()


def test_weights_and_hierarchies_come_from_the_schema():
    tree = Tree(paths=(("N1", "N"), ("N2", "N"), ("S1", "S"), ("S2", "S")))
    data = tacit.Microdata.of(records(30, 1)).with_roles(weight="w").with_hierarchies(region=tree)
    table = tacit.tabulate(data, ["region"], "x")
    assert set(table.dimensions[0].codes) == {"Total", "N", "S", "N1", "N2", "S1", "S2"}
    assert table.weighted_count is not None
    assert tacit.tabulate(data, ["region"], "x", weights=None).weighted_count is None


def test_prefixes_and_intervals():
    frame = pl.DataFrame({"zip": ["11", "12", "21"], "age": [5, 7, 31], "x": [1.0, 2.0, 3.0]})
    table = tacit.tabulate(
        frame, ["zip", "age"], "x",
        hierarchies={"zip": Prefixes(length=2), "age": Intervals(widths=(10,))},
    )  # fmt: skip
    assert table.value[table.cell(zip="1*", age="[0, 10)")] == 3
    assert table.dimensions[1].leaves == ("5", "7", "31")
    table.check_additive()


def test_numbers_dates_and_flags_are_codes_too():
    frame = pl.DataFrame(
        {
            "n": [10, 2, 2],
            "f": [1.0, 2.0, 2.0],
            "d": [dt.date(2020, 1, 2)] * 3,
            "b": [True, False, True],
            "t": ["日本", "", " 1"],
        }
    )
    for engine in ENGINES:
        given = ENGINES[engine](frame)
        leaves = {c: tacit.tabulate(given, [c]).dimensions[0].leaves for c in frame.columns}
        assert leaves == {
            "n": ("2", "10"), "f": ("1", "2"), "d": ("2020-01-02",), "b": ("false", "true"),
            "t": ("", " 1", "日本"),
        }, engine  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_days_stay_days_where_some_are_missing(engine):
    days = [dt.date(2020, 1, 2), None, dt.date(2019, 5, 5)]
    frame = pl.DataFrame({"d": days, "t": days}, schema={"d": pl.Date, "t": pl.Datetime})
    for column in frame.columns:
        table = tacit.tabulate(ENGINES[engine](frame), [column], missing="own category")
        assert table.dimensions[0].leaves == ("2019-05-05", "2020-01-02", "missing")
        assert table.value.tolist() == [3, 1, 1, 1]


def test_spans_of_time_are_no_codes():
    frame = pl.DataFrame({"d": [dt.timedelta(3)]})
    with pytest.raises(SchemaError, match="spans of time"):
        tacit.tabulate(frame, "d")


def test_shadow_and_cost_variables():
    frame = pl.DataFrame({"r": ["a", "a", "b"], "x": [1.0, 2.0, 3.0], "z": [9.0, 4.0, 5.0]})
    table = tacit.tabulate(frame, "r", "x", shadow="z", cost="z")
    assert table.value.tolist() == [6, 3, 3]
    assert table.respondents.top[1, :2].tolist() == [9, 4]
    assert table.respondents.absolute.tolist() == [18, 13, 5]
    assert table.respondents.net.tolist() == [18, 13, 5]
    assert table.cost.tolist() == [18, 13, 5]


def test_requests_by_code():
    frame = pl.DataFrame({"r": list("aab"), "x": [3, 2, 1], "q": ["1", "", "2"]})
    table = tacit.tabulate(frame, "r", "x", request="q")
    assert table.respondents.requested[0, :3].tolist() == [1, 0, 2]
    number = tacit.tabulate(frame.with_columns(q=pl.Series([1, None, 2])), "r", "x", request="q")
    assert number.respondents.requested[0, :3].tolist() == [1, 0, 2]


def test_negative_contributions_open_the_bounds():
    frame = pl.DataFrame({"r": ["a", "a", "b"], "x": [-1.0, 2.0, 3.0]})
    table = tacit.tabulate(frame, "r", "x")
    assert (table.value >= 0).all()
    assert np.isneginf(table.bounds[0]).all()
    assert table.respondents.absolute.tolist() == [6, 3, 3]
    assert table.respondents.top[0].tolist()[:3] == [3, 2, -1]


# -- empty and sparse ------------------------------------------------------------------------------


def test_codes_without_records_are_empty_cells():
    table = tacit.tabulate(records(30, 1), ["region"], "x", hierarchies={"region": REGIONS})
    assert table.is_empty[table.cell(region="S3")]
    assert table.value[table.cell(region="S3")] == 0


@pytest.mark.parametrize("options", OPTIONS)
def test_no_records_at_all(options):
    for hierarchies in (BOTH, {}):
        table = tacit.tabulate(
            records(0, 1), ["region", "nace"], "x", hierarchies=hierarchies, **OPTIONS[options]
        )
        assert not table.value.any()
        assert table.is_empty.all()
        assert table.n_cells == (8 * 9 if hierarchies else 1)


def test_leaving_empty_cells_out_keeps_all_others_and_their_sums():
    frame = records(25, 4)
    full = tacit.tabulate(frame, ["region", "nace"], "x", hierarchies=BOTH, holding="holding")
    part = tacit.tabulate(
        frame, ["region", "nace"], "x", hierarchies=BOTH, holding="holding", keep_empty=False
    )
    assert part.n_cells == (full.count > 0).sum()
    at = full.cells(part.frame.select("region", "nace"))
    assert part.value.tolist() == full.value[at].tolist()
    assert part.holdings.n_units.tolist() == full.holdings.n_units[at].tolist()
    part.check_additive()
    kept = full.relations[:, at]
    kept = kept[np.diff(kept.indptr) > 0, :]
    expected = {tuple(sorted(zip(r.indices, r.data, strict=True))) for r in kept}
    assert {tuple(sorted(zip(r.indices, r.data, strict=True))) for r in part.relations} == expected


def test_too_many_combinations_are_refused_with_advice():
    frame = pl.DataFrame({f"c{j}": [str(i) for i in range(60)] for j in range(4)})
    with pytest.raises(DataError, match=r"13,845,841, at most 5,000,000.*keep_empty=False"):
        tacit.tabulate(frame, frame.columns)
    sparse = tacit.tabulate(frame, frame.columns, keep_empty=False)
    assert sparse.n_cells == 1 + 60 * 15
    sparse.check_additive()


# -- bad input -------------------------------------------------------------------------------------


def test_missing_codes_are_named_or_handled_as_told():
    frame = pl.DataFrame({"r": ["a", None, "b"], "k": [1, None, 3], "x": [1.0, 2.0, 4.0]})
    for engine in ENGINES.values():
        given = engine(frame)
        with pytest.raises(DataError, match=r"'r' is missing on some records.*1 of 3"):
            tacit.tabulate(given, ["r", "k"], "x")
        own = tacit.tabulate(given, ["r", "k"], "x", missing="own category")
        assert own.value[own.cell(r="missing")] == 2
        assert own.value[own.cell(r="missing", k="missing")] == 2
        assert own.value[0] == 7
        assert tacit.tabulate(given, ["r", "k"], "x", missing="drop").value[0] == 5
    with pytest.raises(SchemaError, match="has a code 'missing' and records without"):
        tacit.tabulate(pl.DataFrame({"r": ["missing", None]}), ["r"], missing="own category")
    with pytest.raises(ParameterError, match="category of their own"):
        tacit.tabulate(frame, ["r"], missing="ignore")


def test_a_missing_category_joins_a_hierarchy():
    frame = pl.DataFrame({"region": ["N1", None, "S1"], "x": [1.0, 2.0, 4.0]})
    table = tacit.tabulate(
        frame, "region", "x", hierarchies={"region": REGIONS}, missing="own category"
    )
    assert table.value[0] == 7
    assert table.value[table.cell(region="N")] == 1
    table.check_additive()


def test_missing_values_are_refused_or_do_not_count():
    frame = pl.DataFrame({"r": ["a", "a", "b"], "x": [1.0, None, 4.0]})
    with pytest.raises(DataError, match=r"'x' is missing on some records.*missing_value='drop'"):
        tacit.tabulate(frame, "r", "x")
    table = tacit.tabulate(frame, "r", "x", missing_value="drop")
    assert table.count.tolist() == [2, 1, 1]
    assert table.respondents.n_units.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"region": ["X8", "X9"]}, r"not in its hierarchy.*'X8', 'X9'"),
        ({"region": ["N", "N1"]}, r"sums of others.*'N'"),
        ({"x": [np.inf, 1.0]}, "'x' has values without limit"),
        ({"w": [0.0, 1.0]}, "weight 'w' must be a number above 0"),
        ({"w": [None, 1.0]}, "'w' is missing on some records"),
    ],
)  # fmt: skip
def test_bad_records_are_named(change, says):
    frame = pl.DataFrame({"region": ["N1", "N2"], "x": [1.0, 2.0], "w": [1.0, 1.0]} | change)
    with pytest.raises(DataError, match=says):
        tacit.tabulate(frame, "region", "x", hierarchies={"region": REGIONS}, weights="w")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"by": ["regio"]}, "no column 'regio'; did you mean 'region'"),
        ({"by": ["region", "region"]}, "by names a column twice"),
        ({"by": ["region"], "value": "unit"}, "needs numeric columns"),
        ({"by": ["region"], "hierarchies": {"nace": NACE}}, "'nace', which does not span"),
        ({"by": ["region"], "top": 0}, "top must be at least 1"),
        ({"by": ["region"], "holding": "hold"}, "no column 'hold'"),
        ({"by": ["region"], "shadow": "x"}, "needs a value to stand for"),
    ],
)
def test_bad_arguments_are_named(arguments, says):
    with pytest.raises((ParameterError, SchemaError), match=says):
        tacit.tabulate(records(5, 1), **arguments)


def test_a_code_named_like_the_total():
    frame = pl.DataFrame({"r": ["Total", "a"]})
    with pytest.raises(SchemaError, match="also the name of the total"):
        tacit.tabulate(frame, "r")
    assert tacit.tabulate(frame, "r", total="all").dimensions[0].total == "all"


def test_column_names_that_look_like_ours():
    frame = pl.DataFrame({"__value": ["a", "b"], "c0": [1.0, 2.0], "__weight": [1.0, 3.0]})
    table = tables.tabulate(frame, "__value", "c0", weights="__weight")
    assert table.value.tolist() == [7, 1, 6]


def test_pandas_index_and_categories():
    frame = pd.DataFrame(
        {"r": pd.Categorical(["b", "a", "b"]), "x": [1, 2, 3]}, index=["i", "j", "k"]
    )
    assert tacit.tabulate(frame, "r", "x").frame.rows() == [
        ("Total", 6.0, 3), ("a", 2.0, 1), ("b", 4.0, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"weights": "w"}, {"holding": "h"}, {"unit": "h"}])
def test_cents_add_up_to_the_same_bits_in_any_order(options):
    rng = np.random.default_rng(7)
    n = 30_000
    frame = pl.DataFrame(
        {
            "act": rng.integers(0, 80, n).astype(str),
            "product": rng.integers(0, 20, n).astype(str),
            "x": np.round(rng.lognormal(4, 2, n), 2),
            "w": np.round(rng.uniform(1, 9, n), 1),
            "h": rng.integers(0, 9_000, n),
        }
    )
    first = tacit.tabulate(frame, ["act", "product"], "x", **options)
    for seed in range(4):
        mixed = frame.sample(fraction=1, shuffle=True, seed=seed)
        again = tacit.tabulate(mixed, ["act", "product"], "x", **options)
        assert again.value.tobytes() == first.value.tobytes()
        for name in ("absolute", "top"):
            mine, theirs = (getattr(t.respondents, name) for t in (again, first))
            assert mine.tobytes() == theirs.tobytes(), name

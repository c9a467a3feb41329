"""Tables from ready aggregates: the same as from records, and bad ones refused by name."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, SchemaError

REGIONS = {"Total": ["N", "S"], "N": ["N1", "N2"]}


def from_records(n, seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S"], n),
            "size": rng.choice(["1", "2", "3"], n),
            "x": rng.integers(1, 50, n).astype(float),
        }
    )
    return tacit.tabulate(
        frame, ["region", "size"], "x",
        hierarchies={"region": REGIONS, "size": {"Total": ["1", "2", "3"]}},
    )  # fmt: skip


def as_rows(table, kept=None):
    tops = {f"top{j}": table.respondents.top[:, j] for j in range(3)}
    frame = table.frame.with_columns(**{name: pl.Series(top) for name, top in tops.items()})
    return frame if kept is None else frame.filter(pl.Series(kept))


def read_back(frame, **options):
    return tables.from_aggregates(
        frame, ["region", "size"], "x", count="count", top=["top0", "top1", "top2"],
        hierarchies={"region": REGIONS, "size": {"Total": ["1", "2", "3"]}}, **options,
    )  # fmt: skip


@settings(max_examples=20)
@given(st.integers(0, 60), st.integers(0, 99), st.sampled_from(["all", "leaves", "not empty"]))
def test_the_same_table_with_or_without_totals(n, seed, which):
    table = from_records(n, seed)
    kept = {
        "all": np.ones(table.n_cells, bool),
        "leaves": ~table.is_total,
        "not empty": ~table.is_empty,
    }[which]
    again = read_back(as_rows(table, kept).sample(fraction=1, shuffle=True, seed=seed))
    assert again.value.tolist() == table.value.tolist()
    assert again.count.tolist() == table.count.tolist()
    assert again.respondents.top.tolist() == table.respondents.top[:, :3].tolist()
    assert (again.relations != table.relations).nnz == 0
    for rule in (tables.PPercent(p=15), tables.Dominance(n=2, k=80), tables.MinFrequency(n=3)):
        assert rule.sensitive(again).cells.tolist() == rule.sensitive(table).cells.tolist()
        assert rule.sensitive(again).above == pytest.approx(rule.sensitive(table).above)


def test_cells_without_a_row_may_be_left_out():
    table = from_records(9, 1)
    part = read_back(as_rows(table, ~table.is_empty), keep_empty=False)
    assert part.n_cells == (~table.is_empty).sum()
    part.check_additive()


def test_counts():
    frame = pl.DataFrame({"r": ["a", "b"], "n": [3, 1]})
    table = tables.from_aggregates(frame, "r", count="n")
    assert table.is_count
    assert table.value.tolist() == [4, 3, 1]
    assert len(tables.MinFrequency(n=3).sensitive(table)) == 1


def test_status_levels_bounds_and_costs():
    frame = pl.DataFrame(
        {
            "r": ["Total", "a", "b", "c", "d"],
            "x": [10.0, 1.0, 2.0, 3.0, 4.0],
            "status": ["P", "u", "S", "m", "w"],
            "lpl": [0.0, 0.5, 0, 0, 0],
            "upl": [0.0, 0.7, 0, 0, 0],
            "low": [0.0, 0.0, 1.0, 0, 0],
            "high": [50.0, 5.0, 5.0, 5.0, 5.0],
            "cost": [9.0, 1.0, 1.0, 1.0, 1.0],
        }
    )
    table = tables.from_aggregates(
        frame, "r", "x", status="status", below="lpl", above="upl", lower="low", upper="high",
        cost="cost",
    )  # fmt: skip
    assert np.flatnonzero(table.unsafe).tolist() == [table.cell(r="a")]
    assert np.flatnonzero(table.frozen).tolist() == [0]
    assert np.flatnonzero(table.forced).tolist() == [table.cell(r="c")]
    assert np.flatnonzero(table.waived).tolist() == [table.cell(r="d")]
    found = table.sensitive()
    assert (found.below[1], found.above[1]) == (0.5, 0.7)
    assert table.bounds[0].tolist() == [0, 0, 1, 0, 0]
    assert table.bounds[1].tolist() == [50, 5, 5, 5, 5]
    assert table.cost.tolist() == [9, 1, 1, 1, 1]


def test_holdings_need_the_rows_of_totals():
    frame = pl.DataFrame(
        {"r": ["Total", "a", "b"], "x": [9.0, 4.0, 5.0], "n": [3, 1, 2], "h": [2, 1, 1], "t": [5.0, 4.0, 5.0]}  # noqa: E501
    )  # fmt: skip
    read = {"count": "n", "holding_count": "h", "holding_top": ["t"]}
    with pytest.raises(DataError, match=r"'h' counts a total.*\(Total\): 2, its parts 3 to 4"):
        tables.from_aggregates(frame.with_columns(h=pl.Series([2, 1, 3])), "r", "x", **read)
    one_in_both = frame.with_columns(h=pl.Series([2, 1, 2]))
    table = tables.from_aggregates(one_in_both, "r", "x", **read)
    assert table.holdings.n_units.tolist() == [2, 1, 2]
    with pytest.raises(DataError, match=r"holdings may be in several cells.*\(Total\)"):
        tables.from_aggregates(frame[1:], "r", "x", **read)


def test_official_table_of_tau_argus(shared_data):
    """pp.tab comes with two sums that are wrong by 1 in Var2; its shadow variable is right."""
    folder = shared_data / "tables" / "tauargus" / "tableinput"
    names = ["Size", "Region", "x", "n", "shadow", "cost", "top1", "top2", "status", "lpl", "upl"]
    text = [
        [part.strip('"') for part in line.split(";")]
        for line in (folder / "pp.tab").read_text(encoding="latin-1").splitlines()
    ]
    frame = pl.DataFrame(text, schema=names, orient="row").with_columns(
        pl.col(n).str.replace(",", ".").cast(pl.Float64) for n in names[2:8] + names[9:]
    )
    regions = {"Total": []}
    for line in (folder / "region2.hrc").read_text(encoding="latin-1").splitlines():
        code = line.lstrip("@").rstrip()
        if line.startswith("@"):
            regions[list(regions)[-1]].append(code)
        else:
            regions["Total"].append(code)
            regions[code] = []
    extra = sorted(set(frame["Region"]) - {c for cs in regions.values() for c in cs} - {"Total"})
    regions["Total"] += extra
    read = {
        "count": "n", "status": "status", "hierarchies": {"Region": regions}, "cost": "cost",
        "below": "lpl", "above": "upl",
    }  # fmt: skip
    with pytest.raises(DataError, match=r"not additive in 'x'.*3 sums.*\(Total,  4\) by -1"):
        tables.from_aggregates(frame, ["Size", "Region"], "x", **read)
    table = tables.from_aggregates(frame, ["Size", "Region"], "shadow", **read)
    assert table.value[0] == 16847646.84
    found = table.sensitive()
    unsafe = frame.filter(pl.col("status") == "U")
    assert {table.labels(i) for i in found.primary} == set(
        unsafe.select("Size", "Region").iter_rows()
    )
    assert sorted(found.above[found.primary]) == sorted(unsafe["upl"])
    assert len(found) == 9
    assert table.is_empty.sum() == 43


# -- bad input -------------------------------------------------------------------------------------

GOOD = {"r": ["Total", "a", "b"], "x": [9.0, 4.0, 5.0], "n": [3, 1, 2], "t1": [5.0, 4.0, 3.0], "t2": [4.0, 0.0, 2.0]}  # noqa: E501  # fmt: skip


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        ({"x": [10.0, 4.0, 5.0]}, {}, r"not additive in 'x'.*\(Total\) miss it by -1"),
        ({"n": [4, 1, 2]}, {}, r"'n' counts a total.*\(Total\): 4, its parts 2 to 3"),
        ({"r": ["Total", "a", "a"]}, {}, r"several rows.*\(a\)"),
        ({"r": ["Total", "a", None]}, {}, "'r' is missing in some rows"),
        ({"x": [9.0, None, 5.0]}, {}, r"'x' is missing.*\(a\)"),
        ({}, {"hierarchies": {"r": {"Total": ["a", "c"]}}}, "not in its hierarchy.*'b'"),
        ({"t1": [5.0, 4.0, 1.0]}, {"top": ["t1", "t2"]}, r"largest first.*\(b\)"),
        ({"t1": [5.0, 4.0, 8.0]}, {"top": ["t1", "t2"]}, r"exceed their cell.*\(b\)"),
        ({"s": ["S", "?", "U"]}, {"status": "s"}, "status that is not known.*'[?]'"),
        ({"t2": [4.0, 1.0, 2.0]}, {"top": ["t1", "t2"]}, r"more of the largest .* \(got \(a\)\)"),
        ({"n": [2, 0, 2]}, {}, r"nobody contributes to them \(got \(a\): 4\)"),
        ({"s": [0.0, -1.0, 2.0]}, {"below": "s"}, r"'s' cannot be negative \(got -1 in \(a\)\)"),
        ({"s": [0.0, 1.0, -2.0]}, {"above": "s"}, r"'s' cannot be negative \(got -2 in \(b\)\)"),
        ({"s": [9.0, 4.5, 5.0]}, {"lower": "s"}, r"bounds .* hold its value \(got \(a\)\)"),
        ({"s": [9.0, 4.5, 4.0]}, {"upper": "s"}, r"bounds .* hold its value \(got \(b\)\)"),
    ],
)
def test_bad_aggregates_are_named(change, options, says):
    with pytest.raises(DataError, match=says):
        tables.from_aggregates(pl.DataFrame(GOOD | change), "r", "x", count="n", **options)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"by": "r"}, ParameterError, "need a value, or a count"),
        ({"by": "q", "value": "x"}, SchemaError, "no column 'q'"),
        ({"by": ["r", "r"], "value": "x"}, ParameterError, "names a column twice"),
        ({"by": "r", "value": "r"}, SchemaError, "must be a column of numbers"),
        ({"by": "r", "value": "x", "hierarchies": {"z": {}}}, ParameterError, "'z', which does"),
        ({"by": "r", "value": "x", "top": ["t1"]}, ParameterError, "number of contributors"),
        (
            {"by": "r", "value": "x", "hierarchies": {"r": {"Total": ["a", "b", "a"]}}},
            SchemaError, "has a code twice.*'a'",
        ),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(arguments, error, says):
    with pytest.raises(error, match=says):
        tables.from_aggregates(pl.DataFrame(GOOD), **arguments)


def test_no_rows_at_all():
    frame = pl.DataFrame(schema={"r": pl.String, "x": pl.Float64})
    table = tables.from_aggregates(frame, "r", "x", hierarchies={"r": {"Total": ["a", "b"]}})
    assert table.value.tolist() == [0, 0, 0]


@pytest.mark.parametrize("bad", [0.5, -1.0])
@pytest.mark.parametrize("value", ["x", None])
def test_counts_are_whole_numbers(bad, value):
    """Half a respondent, cut to none, would make its cell empty and so safe."""
    cells = pl.DataFrame({"r": ["a", "b"], "x": [7.0, 8.0], "n": [bad, 4.0]})
    with pytest.raises(DataError, match=rf"'n' must count.*{bad:g} in \(a\)"):
        tables.from_aggregates(cells, "r", value, count="n")

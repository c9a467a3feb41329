"""The p % rule: hand calculation, official results of tau-ARGUS, and what the rule promises."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("contributions", "p", "n", "sensitive", "level"),
    [
        ([60, 30, 3], 10, 1, True, 3),  # rest 3 < 6, short by 3
        ([60, 30, 6], 10, 1, False, 0),  # a tie is safe
        ([60, 30, 5.9], 10, 1, True, 0.1),
        ([60, 30], 10, 1, True, 6),  # two contributors: always
        ([60], 10, 1, True, 6),  # one contributor: always
        ([0, 0], 10, 1, False, 0),  # nothing to disclose
        ([60, 30, 20, 3], 10, 2, True, 3),  # coalition of two: rest 3 < 6
        ([60, 30, 20, 3], 10, 1, False, 0),
        ([0.1, 0.1, 0.01], 10, 1, False, 0),  # rest 0.01 = 10 % of 0.1, whatever rounding
    ],
)
def test_by_hand(one_cell, verdict, contributions, p, n, sensitive, level):
    found, above = verdict(tables.PPercent(p=p, n=n), one_cell(contributions))
    assert found == sensitive
    assert above == pytest.approx(level)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=12),
    st.integers(1, 30),
    st.integers(1, 3),
)
def test_whoever_attacks_a_safe_cell_misses_everyone_by_p_percent(xs, p, n):
    """Attack: every contributor takes the n largest others he may collude with from the total."""
    import polars as pl

    table = tacit.tabulate(pl.DataFrame({"r": ["a"] * len(xs), "x": xs}), "r", "x", top=12)
    found = tables.PPercent(p=p, n=n).sensitive(table)
    xs = sorted(xs, reverse=True)
    misses = []
    for target, x in enumerate(xs):
        others = xs[:target] + xs[target + 1 :]
        misses.append(sum(xs) - sum(others[:n]) - x - p / 100 * x)
    assert bool(found.cells[1]) == (min(misses) < -1e-9)
    if found.cells[1]:
        assert found.above[1] == pytest.approx(-min(misses))


def test_weights_stand_for_equal_contributions(one_cell, verdict):
    """Handbook example: 100 with weight 4 and 10 with weight 7 are 100 four times, 10 seven."""
    weighted = one_cell([100, 10], [4.0, 7.0])
    replicated = one_cell([100] * 4 + [10] * 7)
    for rule in (tables.PPercent(p=10), tables.PPercent(p=300, n=2)):
        assert verdict(rule, weighted) == pytest.approx(verdict(rule, replicated))


def test_parts_of_weights_count_in_part(one_cell, verdict):
    # total 250; the two largest are 100 + (half of 100 and half of 20) = 160: rest 90 < 95
    table = one_cell([100, 20], [1.5, 5.0])
    assert verdict(tables.PPercent(p=95), table) == (True, pytest.approx(5.0))
    assert verdict(tables.PPercent(p=90), table) == (False, 0.0)


def test_weights_below_one_never_hide_a_danger(one_cell, verdict):
    """Six of weight one half are three: the table knows five of them, and assumes the worst."""
    table = one_cell([10] * 40, [0.1] * 40)
    assert verdict(tables.PPercent(p=10, n=3), table)[0]


def test_official_result_of_tau_argus(argus_table):
    """Simple2D, P(15,1): 9 unsafe cells, 43 empty ones, cell for cell."""
    table, expected = argus_table
    found = tables.PPercent(p=15).sensitive(table)
    unsafe = {codes for codes, status in expected.items() if status == 3}
    empty = {codes for codes, status in expected.items() if status == 14}
    assert {table.labels(i) for i in found.primary} == unsafe
    assert len(unsafe) == 9
    assert {table.labels(i) for i in np.flatnonzero(table.is_empty)} == empty
    assert table.n_cells == len(expected) == 162


def test_official_protection_levels_of_tau_argus(argus_table, shared_data):
    """Upper levels that tau-ARGUS wrote beside the same nine cells (pp.tab)."""
    table, _ = argus_table
    found = tables.PPercent(p=15).sensitive(table)
    path = shared_data / "tables" / "tauargus" / "tableinput" / "pp.tab"
    rows = [line.split(";") for line in path.read_text(encoding="latin-1").splitlines()]
    levels = {
        (row[0].strip('"'), row[1].strip('"')): float(row[10].replace(",", "."))
        for row in rows
        if row[8] == "U"
    }
    assert {table.labels(i): float(found.above[i]) for i in found.primary} == pytest.approx(levels)


@pytest.mark.parametrize(
    ("by", "file", "n_unsafe"),
    [(["act", "product"], "test_1.txt", 283), (["act", "region"], "test_2b.txt", 339)],
)
def test_official_results_with_holdings(argus_enterprises, by, file, n_unsafe):
    """P(10,1) for holdings, ZERO(10), and MIS: cells of the missing code 00 are safe."""
    table, expected = argus_enterprises(by, file)
    table = table.waive({"act": "00", by[1]: None})
    rule = tables.PPercent(p=10, level="holding") | tables.ZeroUnsafe(amount=10)
    found = table.sensitive(rule)
    unsafe = {codes for codes, status in expected.items() if status == 3}
    assert {table.labels(i) for i in found.primary} == unsafe
    assert len(found) == n_unsafe


@pytest.mark.parametrize(
    ("by", "nested", "n_cells", "n_primary"),
    [
        (["r2", "nace"], False, 1701, 181),
        (["r2", "n2", "size"], False, 2646, 227),
        (["region", "nace"], True, 13125, 3230),
    ],
)
def test_primary_cells_of_the_benchmark(business, by, nested, n_cells, n_primary):
    """Counts of peers-tables.md, found by pytauargus, sdcTable and GaussSuppression alike."""
    frame, trees = business
    table = tacit.tabulate(frame, by, "turnover", hierarchies=trees if nested else None)
    found = (tables.PPercent(p=10) | tables.MinFrequency(n=3)).sensitive(table)
    assert table.n_cells == n_cells
    assert len(found) == n_primary


def test_negative_contributions_are_refused_by_name(one_cell, verdict):
    table = one_cell([60, -30, 10])
    with pytest.raises(DataError, match=r"p\(10\) makes no sense for negative.*\(a\)"):
        tables.PPercent(p=10).sensitive(table)
    assert verdict(tables.PPercent(p=20, absolute=True), table) == (True, pytest.approx(2.0))


def test_negative_contributions_are_named_where_they_are_not_in_totals():
    frame = pl.DataFrame({"r": ["a", "a", "b"], "s": ["x", "y", "x"], "v": [5.0, -7.0, 9.0]})
    with pytest.raises(DataError, match=r"cells \(a, y\)\);"):
        tables.PPercent(p=10).sensitive(tacit.tabulate(frame, ["r", "s"], "v"))


def test_hidden_negative_contributions_are_noticed(one_cell):
    """The negative one is not among the largest that the table keeps."""
    table = one_cell([60, 50, 40, 30, 20, -1], top=2)
    with pytest.raises(DataError, match="negative"):
        tables.PPercent(p=10).sensitive(table)


def test_what_is_not_known_is_asked_for(one_cell, small):
    with pytest.raises(DataError, match=r"needs the 6 largest.*has 5.*top=6"):
        tables.PPercent(p=20, n=5).sensitive(one_cell(range(1, 10)))
    tables.PPercent(p=20, n=5).sensitive(one_cell([1, 2, 3]))
    with pytest.raises(DataError, match=r"holding=\.\.\., naming"):
        tables.PPercent(p=20, level="holding").sensitive(one_cell([1]))
    with pytest.raises(DataError, match="from records with a value"):
        tables.PPercent(p=20).sensitive(small)
    with pytest.raises(ParameterError, match="'p'"):
        tables.PPercent(p=0)


def test_short_form():
    assert tables.PPercent(p=12.5, n=2, level="holding").short() == "p(12.5,2,level=holding)"


def _beside_tau_argus(table, expected):
    """Primaries, our pattern, and the official one with its audit; published cells stay so."""
    rule = tables.PPercent(p=10, level="holding") | tables.ZeroUnsafe(amount=10)
    found = table.sensitive(rule)
    ours = tables.SuppressModular(singletons=False).protect(table, found)
    place = {table.labels(i): i for i in range(table.n_cells)}
    theirs = np.zeros(table.n_cells, dtype=bool)
    theirs[[place[codes] for codes, status in expected.items() if status in (3, 11)]] = True
    return ours, tables.ProtectedTable.suppressing(table, found, theirs, "tau-ARGUS")


def _no_worse(ours, theirs):
    value = ours.original.value
    assert ours.audit().passed
    assert theirs.audit().passed, "then no more may be suppressed than there"
    assert ours.suppressed.sum() <= theirs.suppressed.sum()
    assert value[ours.suppressed].sum() <= value[theirs.suppressed].sum()


def test_suppresses_no_more_than_the_hypercube_of_tau_argus(argus_enterprises):
    """test_1: 416 cells, 1 741 693 suppressed by the official hypercube."""
    table, expected = argus_enterprises(["act", "product"], "test_1.txt")
    _no_worse(*_beside_tau_argus(table.waive({"act": "00", "product": None}), expected))


def test_suppresses_no_more_than_tau_argus_beside_protected_cells(argus_enterprises):
    """test_3b: 17 unsafe and 8 further cells; 15 were published before and are frozen."""
    table, expected = argus_enterprises(["region", "product"], "test_3b.txt")
    frozen = {codes for codes, status in expected.items() if status == 10}
    flags = np.array([table.labels(i) in frozen for i in range(table.n_cells)])
    _no_worse(*_beside_tau_argus(table.freeze(flags), expected))


def test_suppresses_no_more_than_the_linked_tables_of_tau_argus(argus_enterprises):
    """test_2a and test_2b linked: both together, compared on each table."""
    one, first = argus_enterprises(["act", "product"], "test_2a.txt")
    two, second = argus_enterprises(["act", "region"], "test_2b.txt")
    both = tables.link({"product": one, "region": two})
    names = [d.name for d in both.dimensions]
    labels = [dict(zip(names, both.labels(i), strict=True)) for i in range(both.n_cells)]
    both = both.waive(np.array([codes["act"] == "00" for codes in labels]))
    expected = {}
    for by, statuses in ((["act", "product"], first), (["act", "region"], second)):
        for codes, status in statuses.items():
            full = {"act": "Total", "product": "Total", "region": "Total"} | dict(
                zip(by, codes, strict=True)
            )
            expected[tuple(full[name] for name in names)] = status
    ours, theirs = _beside_tau_argus(both, expected)
    _no_worse(ours, theirs)


@pytest.mark.parametrize("rule", ["p(10)", "dominance(1,80)", "pq(10,50)", "request(50)"])
@pytest.mark.parametrize("unit", [0.001, 1.0, 1000.0])
def test_levels_found_on_a_shadow_variable_are_shares_of_the_value(rule, unit):
    """The unit in which the shadow variable is measured changes nothing of the protection."""
    frame = pl.DataFrame(
        {"r": list("aaabbb"), "x": [60.0, 30, 3, 40, 30, 30], "ask": [1, 0, 0, 0, 0, 0]}
    ).with_columns(z=pl.col("x") * unit)
    table = tacit.tabulate(frame, "r", "x", shadow="z", request="ask")
    own = tacit.tabulate(frame, "r", "x", request="ask")
    found, expected = (tables.rule(rule).sensitive(t) for t in (table, own))
    assert (found.cells == expected.cells).all()
    assert found.above == pytest.approx(expected.above)

"""The attacker: intervals by hand, by a second formulation and by enumeration; respondents."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from tests.tables.independent import (
    flat_table,
    integer_interval,
    interval,
    respondent_failures,
)

import tacit
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables import (
    Contributions,
    Dimension,
    MinFrequency,
    PPercent,
    ProtectedTable,
    Sensitive,
    Table,
    Verdict,
    audit,
)
from tacit.tables._audit_prior import Beforehand
from tacit.tables._grid import grid_codes, grid_relations
from tacit.tables._linear_program import LinearProgram


def suppressed(table, hidden, primary=None, above=1.0, below=None, width=0.0, **notes):
    """A table with some cells (positions) left out, some of them sensitive."""
    flags, sensitive = np.zeros((2, table.n_cells), dtype=bool)
    flags[list(hidden)] = True
    sensitive[list(hidden if primary is None else primary)] = True
    verdict = Sensitive.by("test", sensitive, above, below, width)
    return ProtectedTable.suppressing(table, verdict, flags, "by hand", **notes)


def named(table, *codes):
    """Positions of inner cells given as pairs of digits."""
    return [table.cell(**dict(zip(("d0", "d1"), c.split(), strict=True))) for c in codes]


SQUARE = ("a0 b0", "a0 b1", "a1 b0", "a1 b1")


def test_intervals_by_hand():
    # Changes run round the square: +t -t -t +t with -10 <= t <= 20.
    table = flat_table([[10, 20], [30, 40]])
    cells = named(table, *SQUARE)
    found = audit(suppressed(table, cells), early_stop=False)
    assert dict(zip(found.cells, zip(found.low, found.high, strict=True), strict=True)) == {
        cells[0]: pytest.approx((0, 30)),
        cells[1]: pytest.approx((0, 30)),
        cells[2]: pytest.approx((10, 40)),
        cells[3]: pytest.approx((30, 60)),
    }
    assert found.passed
    assert found.exact.all()


@pytest.mark.parametrize(("above", "verdict"), [(20, Verdict.OK), (21, Verdict.NARROW)])
def test_a_level_is_met_to_the_last_unit(above, verdict):
    table = flat_table([[10, 20], [30, 40]])
    cells = named(table, *SQUARE)
    found = audit(suppressed(table, cells, cells[:1], above=above, below=5))
    assert found.verdict[0] == verdict
    assert found.passed == (verdict == Verdict.OK)
    if verdict == Verdict.NARROW:
        assert (found.low[0], found.high[0]) == pytest.approx((0, 30))
        assert "FAILED" in found.summary()
        assert "(a0, b0)" in found.summary()


@pytest.mark.parametrize(("width", "passed"), [(30, True), (30.1, False)])
def test_the_width_counts_both_sides(width, passed):
    table = flat_table([[10, 20], [30, 40]])
    cells = named(table, *SQUARE)
    assert audit(suppressed(table, cells, cells[:1], 0, 0, width)).passed == passed


def test_a_cell_alone_in_a_sum_is_disclosed():
    table = flat_table([[10, 20, 5], [30, 40, 5]])
    found = audit(suppressed(table, named(table, "a0 b0", "a0 b1", "a1 b1")))
    assert set(found.verdict) == {Verdict.DISCLOSED}
    np.testing.assert_array_equal(found.low, found.high)


def test_disclosed_only_by_several_sums_together():
    # No sum has one suppressed cell alone, and still (a0, b0) is known: rows 0 and 1 less column 1.
    inner = np.arange(1.0, 17).reshape(4, 4)
    table = flat_table(inner)
    hidden = named(table, "a0 b0", "a0 b1", "a1 b1", "a1 b2", "a2 b2", "a2 b3", "a3 b3", "a3 b2")
    hidden.append(table.cell(d1="b0"))
    hidden.append(table.cell(d0="a0"))
    found = audit(suppressed(table, hidden), early_stop=False)
    flags = np.isin(np.arange(table.n_cells), hidden)
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        assert (low, high) == pytest.approx(interval(table, flags, cell), abs=1e-6)


@st.composite
def cases(draw, dims=(2, 3), signed=False):
    """A random table with a random pattern."""
    n_dims = draw(st.sampled_from(dims))
    shape = tuple(draw(st.integers(2, 4 if n_dims == 2 else 3)) for _ in range(n_dims))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low = -20 if signed else 0
    table = flat_table(rng.integers(low, 30, shape))
    hidden = rng.random(table.n_cells) < draw(st.sampled_from([0.2, 0.4, 0.6]))
    return table, hidden, rng


@settings(max_examples=15)
@given(cases(), st.sampled_from([None, 25.0]))
def test_intervals_agree_with_a_second_formulation(case, within):
    table, hidden, _ = case
    found = audit(suppressed(table, np.flatnonzero(hidden)), early_stop=False, known_within=within)
    if within is not None:
        reach = within / 100 * table.value
        table = table.replace(lower=table.value - reach, upper=table.value + reach)
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        assert (low, high) == pytest.approx(interval(table, hidden, cell), abs=1e-5)


@settings(max_examples=10)
@given(cases(signed=True))
def test_intervals_of_tables_with_negative_values(case):
    table, hidden, _ = case
    found = audit(suppressed(table, np.flatnonzero(hidden)), early_stop=False)
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        assert (low, high) == pytest.approx(interval(table, hidden, cell), abs=1e-5)


@settings(max_examples=15)
@given(cases(), st.floats(0.0, 2.0), st.floats(0.0, 1.0), st.floats(0.0, 2.0))
def test_stopping_early_changes_no_verdict(case, above, below, width):
    table, hidden, rng = case
    primary = np.flatnonzero(hidden & (rng.random(len(hidden)) < 0.5))
    levels = (table.value * above, table.value * below, table.value * width)
    protected = suppressed(table, np.flatnonzero(hidden), primary, *levels)
    quick, full = audit(protected), audit(protected, early_stop=False)
    np.testing.assert_array_equal(quick.verdict, full.verdict)
    assert np.all((quick.low >= full.low - 1e-6) & (quick.high <= full.high + 1e-6))


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_whole_tables_enumerated(seed):
    rng = np.random.default_rng(seed)
    table = flat_table(rng.integers(0, 4, (2, 3)))
    hidden = np.zeros(table.n_cells, dtype=bool)
    inner = np.flatnonzero((table.codes > 0).all(axis=1))
    hidden[rng.choice(inner, 4, replace=False)] = True
    found = audit(suppressed(table, np.flatnonzero(hidden)), early_stop=False)
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        assert (low, high) == pytest.approx(integer_interval(table, hidden, cell), abs=1e-6)


def test_linked_tables_are_attacked_together():
    # Total = a + b + c by one breakdown and = d + e by another; b + c = e links them.
    relations = np.array([[-1, 1, 1, 1, 0, 0], [-1, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, -1]], float)
    value = np.array([100, 20, 30, 50, 20, 80], float)
    apart = Table(value, csr_array(relations[:2]), names=tuple("tabcde"))
    linked = apart.replace(relations=csr_array(relations))
    cells = [1, 2]  # a and b are left out
    assert audit(suppressed(apart, cells)).passed
    found = audit(suppressed(linked, cells))
    assert list(found.verdict) == [Verdict.DISCLOSED] * 2


# -- respondents --------------------------------------------------------------------------------


def with_singles(inner, **alone):
    """A table whose cells have 3 contributors but for some with one, of the given number."""
    table = flat_table(inner)
    n_units, unit = np.full(table.n_cells, 3), np.full((table.n_cells, 1), -1)
    for code, who in alone.items():
        cell = named(table, code.replace("_", " "))[0]
        n_units[cell], unit[cell] = 1, who
    known = Contributions(table.value[:, None], n_units, table.value, unit=unit)
    return table.replace(respondents=known, count=n_units)


def test_a_single_respondent_undoes_the_neighbour():
    table = with_singles([[10, 20], [30, 40]], a0_b0=7)
    protected = suppressed(table, named(table, *SQUARE))
    assert audit(protected).passed
    found = audit(protected, singletons=True)
    assert not found.passed
    assert {b.verdict for b in found.breaches} == {Verdict.DISCLOSED}
    # a1 b1 shares no sum with the respondent's own cell, yet nothing is left to vary.
    assert {b.cell for b in found.breaches} == set(named(table, "a0 b1", "a1 b0", "a1 b1"))
    assert "3 breaches" in found.summary()
    assert "Singletons: not attacked" in audit(protected).summary()
    assert audit(suppressed(table, named(table, *SQUARE), singletons=True)).passed is False


def test_a_respondent_does_not_attack_itself():
    names = dict.fromkeys(("a0_b0", "a0_b1", "a1_b0", "a1_b1"), 7)
    table = with_singles([[10, 20], [30, 40]], **names)
    found = audit(suppressed(table, named(table, *SQUARE)), singletons=True)
    assert not found.breaches
    assert not found.passed  # but everybody can read off what it has in a row


def test_the_same_respondent_knows_all_its_cells():
    # Three columns: alone in one of them a respondent leaves the others a way; in two, none.
    inner = [[10, 20, 30], [30, 20, 10], [20, 20, 20]]
    apart = with_singles(inner, a0_b0=7, a0_b1=8)
    assert audit(_all_inner(apart, "a0 b2"), singletons=True).passed
    same = with_singles(inner, a0_b0=7, a0_b1=7)
    found = audit(_all_inner(same, "a0 b2"), singletons=True)
    assert list(found.failed) == named(same, "a0 b2")


def _all_inner(table, sensitive):
    inner = np.flatnonzero((table.codes > 0).all(axis=1))
    return suppressed(table, inner, named(table, sensitive))


def test_coalitions_pool_what_they_know():
    inner = [[10, 20, 30], [30, 20, 10], [20, 20, 20]]
    table = with_singles(inner, a0_b0=7, a0_b1=8)
    found = audit(_all_inner(table, "a0 b2"), singletons=True, coalitions=2)
    assert list(found.failed) == named(table, "a0 b2")
    assert found.n_insiders == 3


def from_records(seed, n_units=9, n_records=16, nested=False):
    """A small table of random records of a few respondents, and its sensitive cells."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        "a": rng.choice(["a0", "a1", "a2", "a3"], n_records),
        "b": rng.choice(["b0", "b1", "b2"], n_records),
        "x": np.round(np.exp(rng.normal(3, 1, n_records))) + 1,
        "who": rng.integers(0, n_units, n_records),
    })  # fmt: skip
    codes = sorted(frame["a"].unique())
    tree = {"Total": ["P", *codes[2:]], "P": codes[:2]} if len(codes) > 2 else {"Total": codes}
    trees = {"a": tree} if nested else {}
    table = tacit.tabulate(frame, ["a", "b"], "x", unit="who", hierarchies=trees)
    return table, (PPercent(p=20) | MinFrequency(n=3)).sensitive(table), rng


@pytest.mark.parametrize("nested", [False, True])
@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_respondents_find_what_trying_everybody_finds(nested, seed):
    table, sensitive, rng = from_records(seed, nested=nested)
    hidden = sensitive.cells | (rng.random(table.n_cells) < rng.choice([0.2, 0.6, 0.9]))
    found = audit(ProtectedTable.suppressing(table, sensitive, hidden, ""), singletons=True)
    assert set(found.failed) == respondent_failures(table, sensitive, hidden)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("near", [(8,), (4, 12)])
def test_looking_nearby_first_changes_no_verdict(monkeypatch, seed, near):
    """Here every system counts as large, few cells as near, and leaves as tied to each other."""
    table, sensitive, rng = from_records(seed, nested=seed % 2 == 1)
    hidden = sensitive.cells | (rng.random(table.n_cells) < 0.6)
    whole = audit(ProtectedTable.suppressing(table, sensitive, hidden, ""), singletons=True)
    made = ProtectedTable.suppressing(table, sensitive, hidden, "")
    monkeypatch.setattr("tacit.tables._audit_attack.LARGE", 0)
    monkeypatch.setattr("tacit.tables._audit_nearby.NEAR", near)
    monkeypatch.setattr("tacit.tables._audit_resistance.FEW", 1)
    monkeypatch.setattr("tacit.tables._audit_prior.LARGE", 0)
    monkeypatch.setattr("tacit.tables._audit_prior.NEAR", near)
    monkeypatch.setattr("tacit.tables._audit_prior.free_leaves", lambda *_: None)
    nearby = audit(made, singletons=True)
    np.testing.assert_array_equal(nearby.verdict, whole.verdict)
    assert set(nearby.failed) == respondent_failures(table, sensitive, hidden)


def _beforehand_by_solver(table, cell, sign, known):
    """How far a cell can move for who knows others: one programme over all cells, by scipy."""
    lower, upper = (side - table.value for side in table.bounds)
    lower[known] = upper[known] = 0.0
    cost = np.zeros(table.n_cells)
    cost[cell] = -sign
    found = linprog(
        cost, A_eq=table.relations, b_eq=np.zeros(table.relations.shape[0]),
        bounds=np.column_stack([lower, upper]),
    )  # fmt: skip
    return np.inf if found.status == 3 else -found.fun


ROADS = {
    "leaves": {},
    "whole": {"free_leaves": lambda *_: None},
    "near 4": {"free_leaves": lambda *_: None, "LARGE": 0, "NEAR": (4,)},
    "near 20": {"free_leaves": lambda *_: None, "LARGE": 0, "NEAR": (4, 20)},
    "near all": {"free_leaves": lambda *_: None, "LARGE": 0, "NEAR": (100,)},
}


@pytest.mark.parametrize("bounds", ["none", "cells", "sums", "negative"])
@pytest.mark.parametrize("road", ROADS)
def test_what_is_known_beforehand_is_the_same_on_every_road(monkeypatch, road, bounds):
    """By the finest cells, nearby and in the whole, whatever is known of single cells and sums."""
    for name, setting in ROADS[road].items():
        monkeypatch.setattr(f"tacit.tables._audit_prior.{name}", setting)
    n_between = 0
    for seed in (3, 4):
        table = from_records(seed, nested=seed % 2 == 1)[0]
        known = np.flatnonzero(table.count == 1)[: 1 + seed % 3]
        if bounds in ("cells", "sums"):
            is_bound = table.is_total == (bounds == "sums")
            least, most = (np.maximum(table.value * (1 + sign * 0.6), 0.0) for sign in (-1, 1))
            table = table.replace(
                lower=np.where(is_bound, least, 0.0), upper=np.where(is_bound, most, np.inf)
            )
        if bounds == "negative":
            table = table.replace(lower=np.full(table.n_cells, -np.inf))
        prior = Beforehand(table)
        assert (prior._leaves is not None) == (road == "leaves" and bounds != "sums")
        for cell, sign in itertools.product(range(seed, table.n_cells, 2), (-1, 1)):
            end = _beforehand_by_solver(table, cell, sign, known)
            n_between += 0 < end < table.value[cell]
            assert prior.reach(cell, sign, known) == pytest.approx(end, abs=1e-6)
            assert min(prior.reach(cell, sign, known, 2.0), 2.0) == pytest.approx(min(end, 2.0))
    assert n_between or bounds == "negative"


def test_a_respondent_reaches_a_cell_with_which_it_shares_no_sum():
    """A ladder of hidden squares: fixing one corner fixes everything, four sums away."""
    table = with_singles([[10, 20, 9], [30, 40, 9], [9, 50, 60]], a0_b0=7)
    ladder = named(table, "a0 b0", "a0 b1", "a1 b0", "a1 b1")
    far = named(table, "a1 b1")
    assert not (
        abs(table.relations[:, ladder[:1]]).toarray().T @ abs(table.relations[:, far])
    ).any()
    protected = suppressed(table, ladder, far)
    assert audit(protected).passed
    found = audit(protected, singletons=True)
    assert list(found.failed) == far
    assert list(found.breaches[0].known) == ladder[:1]


def test_what_one_respondent_has_in_two_cells_is_attacked_together():
    """Two hidden cells of one row, of the same respondent: each is open, their sum is published."""
    inner = [[10, 20], [30, 40]]
    same = with_singles(inner, a0_b0=7, a0_b1=7)
    alone = named(same, "a0 b0", "a0 b1")
    protected = suppressed(same, named(same, *SQUARE), alone, above=1.0)
    assert audit(protected).passed
    found = audit(protected, singletons=True)
    assert list(found.failed) == alone
    (one,) = found.respondent_sums
    assert (one.value, one.low, one.high, one.holds) == (30, 30, 30, False)
    assert "1 sums of cells of one respondent attacked; 1 do not hold" in found.summary()
    apart = with_singles(inner, a0_b0=7, a1_b1=7)  # on the diagonal the sum is open, too
    assert audit(
        suppressed(apart, named(apart, *SQUARE), named(apart, "a0 b0", "a1 b1")), singletons=True
    ).passed


def test_the_sum_of_two_respondents_is_not_kept_from_these_two():
    """T = A + B, of 100 and 5. That A learns of T within 5 is what it learns of B; and B needs 1.

    The requirement of T, 10 percent of its largest contribution, is made for B and outsiders.
    """
    relations = csr_array(np.array([[-1.0, 1, 1, 0, 0], [0, 0, 1, 1, -1]]))
    value = np.array([105.0, 100, 5, 30, 35])
    n_units, unit = np.array([2, 1, 1, 9, 9]), np.array([[1], [1], [2], [-1], [-1]])
    known = Contributions(value[:, None], n_units, value, unit=unit)
    table = Table(value, relations, names=("T", "A", "B", "C", "S"), respondents=known)
    hidden = np.array([True, True, True, True, False])
    level = np.array([10.0, 10, 1, 0, 0])
    sensitive = Sensitive.by("p", level > 0, level, below=np.minimum(level, 5))
    protected = ProtectedTable.suppressing(table, sensitive, hidden, "")
    low, high = interval(table, hidden, 0, [1])
    assert (low - 100, high - 100) == interval(table, hidden, 2, [1]) == (0, 35)
    strict = ProtectedTable.suppressing(
        table, Sensitive.by("p", level > 0, np.where(level == 10, 31, level), below=1), hidden, ""
    )
    assert audit(protected, singletons=True).passed
    assert audit(strict, singletons=True).passed  # 31 above T, B known to at most 35: enough for B


def test_the_rest_of_a_sum_of_several_is_kept_from_a_respondent():
    """T = A + B + D: of the sum of the others there is no other requirement than that of T."""
    relations = csr_array(
        np.array(
            [[-1.0, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0, -1, 0], [0, 0, 0, 1, 0, 1, 0, -1]]
        )
    )
    value = np.array([107.0, 100, 5, 2, 30, 4, 35, 6])
    n_units = np.array([3, 1, 1, 1, 9, 9, 9, 9])
    unit = np.array([1, 1, 2, 3, -1, -1, -1, -1])[:, None]
    known = Contributions(value[:, None], n_units, value, unit=unit)
    table = Table(value, relations, names=tuple("TABDCESR"), respondents=known)
    hidden = np.arange(8) < 6
    assert interval(table, hidden, 0, [1]) == (100, 141)
    for above, failed in ((34, []), (35, [0])):
        sensitive = Sensitive.by("declared", np.arange(8) == 0, float(above), below=30)
        made = ProtectedTable.suppressing(table, sensitive, hidden, "")
        # Below, 30 are asked; who has 100 of it knows beforehand that there are 100: 7 are enough.
        assert list(audit(made, singletons=True).failed) == failed


def test_who_is_alone_must_be_known():
    table = flat_table([[10, 20], [30, 40]])
    with pytest.raises(DataError, match="numbers of contributors"):
        audit(suppressed(table, named(table, *SQUARE)), singletons=True)


# -- sums, changed tables, odd input --------------------------------------------------------------


def test_sums_of_cells():
    table = flat_table([[10, 20], [30, 40]])
    cells = named(table, *SQUARE)
    protected = suppressed(table, cells)
    row, diagonal = audit(protected, sums=[cells[:2], [cells[0], cells[3]]]).sums
    assert (row.low, row.high) == pytest.approx((30, 30))
    assert (diagonal.low, diagonal.high) == pytest.approx((30, 90))
    assert not audit(protected, sums=[(cells[:2], 1, 1)]).passed
    assert audit(protected, sums=[([cells[0], cells[3]], 20, 40)]).passed


def test_a_changed_table_needs_a_claim():
    table = flat_table([[10, 20], [30, 40]])
    sensitive = Sensitive.by("test", np.arange(9) == 4, above=2.0)
    rounded = 10 * np.round(table.value / 10) + 10
    changed = ProtectedTable(table, sensitive, rounded, "rounding")
    with pytest.raises(DataError, match="values were changed"):
        audit(changed)
    claim = (table.value - 3, table.value + 3)
    assert audit(ProtectedTable(table, sensitive, rounded, "rounding", {"intervals": claim})).passed
    claim = (table.value - 1, table.value + 1)
    told = ProtectedTable(table, sensitive, rounded, "rounding", {"intervals": claim})
    assert audit(told, cells=[4], early_stop=False).high == pytest.approx([table.value[4] + 1])


def test_a_published_sensitive_cell_is_disclosed_unless_waived():
    table = flat_table([[10, 20], [30, 40]])
    sensitive = Sensitive.by("test", np.arange(9) == 4, above=2.0)
    hidden = np.zeros(9, dtype=bool)
    found = audit(ProtectedTable.suppressing(table, sensitive, hidden, "nothing"))
    assert list(found.verdict) == [Verdict.DISCLOSED]
    waived = table.replace(waived=np.arange(9) == 4)
    assert audit(ProtectedTable.suppressing(waived, sensitive, hidden, "nothing")).passed


def test_requirements_beyond_prior_knowledge_are_cut():
    table = flat_table([[10, 20], [30, 40]])
    found = audit(suppressed(table, named(table, *SQUARE), above=2.0, below=1000.0), known_within=5)
    assert found.n_cut == 4
    assert "cut to what is known beforehand" in found.summary()


def test_nothing_sensitive_and_everything_hidden():
    table = flat_table([[10, 20], [30, 40]])
    none = ProtectedTable.suppressing(table, Sensitive.none(9), np.zeros(9, bool), "")
    assert audit(none).passed
    assert "no sensitive cell" in audit(none).summary()
    found = audit(suppressed(table, range(9)), cells="all", early_stop=False)
    assert found.passed
    assert np.all(found.high == np.inf)
    assert len(found.frame) == 9
    assert found.frame.columns[:2] == ["d0", "d1"]


@pytest.mark.parametrize("options", [{"cells": "some"}, {"cells": [99]}, {"known_within": -1}])
def test_bad_options(options):
    table = flat_table([[10, 20], [30, 40]])
    with pytest.raises(ParameterError):
        audit(suppressed(table, named(table, *SQUARE)), **options)


def test_dimensions_called_like_a_column_of_the_audit_are_kept():
    by = Dimension.flat("value", ["a", "b"]), Dimension.flat("low", ["x", "y"])
    cells = np.array([100.0, 60, 40, 55, 35, 20, 45, 25, 20])
    table = Table(cells, grid_relations(by), by, grid_codes(by), "turnover")
    sensitive = Sensitive.by("small", np.isin(np.arange(9), [5]), above=4.0)
    hidden = np.isin(np.arange(9), [4, 5, 7, 8])
    found = audit(ProtectedTable.suppressing(table, sensitive, hidden, "")).frame
    assert found.select("value", "low", "audit_value").rows() == [("a", "y", 20.0)]
    assert found["audit_low"][0] <= 16.0


@pytest.mark.parametrize("status", ["time", "failed", "infeasible"])
def test_nothing_is_concluded_from_a_programme_that_was_not_solved(monkeypatch, status):
    table = flat_table([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    flags = np.arange(16) == table.cell(d0="a1", d1="b1")
    sensitive = Sensitive.by("test", flags, above=3.0)
    protected = ProtectedTable.suppressing(table, sensitive, np.ones(16, dtype=bool), "")
    assert protected.audit().passed
    monkeypatch.setattr(LinearProgram, "solve", lambda _: status)
    with pytest.raises(ProtectionError, match="could not be worked out"):
        replace(protected).audit()


def test_the_usual_attack_is_made_once(monkeypatch):
    table = flat_table([[20, 50, 10], [8, 19, 22]])
    made = suppressed(table, named(table, *SQUARE), [table.cell(d0="a1", d1="b0")])
    found = made.audit()
    assert found.passed
    assert made.verify().audit is found
    assert audit(made, singletons=False) is found
    assert audit(made, early_stop=False) is not found
    assert audit(made, cells="all") is not found
    assert replace(made).audit() is not found


def test_a_table_that_was_changed_in_place_is_attacked_again():
    table = flat_table([[20, 50, 10], [8, 19, 22]])
    made = suppressed(table, named(table, *SQUARE))
    assert made.verify().passed
    made.sensitive.above[:] = 1e6
    assert not made.verify().passed


def _small_among_large(size):
    """A cell of 10,000 that follows for whoever knows the last one, and four much larger ones."""
    big = size * 1e4 * np.array([0.3, 0.5, 0.7, 0.9])
    value = np.array([1e4 + big.sum(), big.sum() + 5e3, 1e4, *big, 5e3])
    rows = np.array([[-1.0, 0, 1, 1, 1, 1, 1, 0], [0, -1, 0, 1, 1, 1, 1, 1]])
    table = Table(value, csr_array(rows), count=np.array([9, 9, 2, 9, 9, 9, 9, 1]))
    sensitive = Sensitive.by("few", np.arange(8) == 2, above=0.0)
    return table, sensitive, np.arange(8) >= 2


@pytest.mark.parametrize("nearby", [False, True])
@pytest.mark.parametrize("size", [1e2, 1e5, 1e7, 1e9])
def test_what_a_solver_takes_for_rounding_protects_no_small_cell(monkeypatch, size, nearby):
    """A small cell among large ones was moved by less than relations may be off by, alone."""
    if nearby:
        monkeypatch.setattr("tacit.tables._audit_attack.LARGE", 2)
        monkeypatch.setattr("tacit.tables._audit_nearby.NEAR", (3, 5))
    table, sensitive, hidden = _small_among_large(size)
    everybody = ProtectedTable.suppressing(table, sensitive, hidden, "")
    assert everybody.audit(singletons=False).passed
    assert [b.verdict for b in everybody.audit(singletons=True).breaches] == ["exactly disclosed"]
    hidden[-1] = False
    published = ProtectedTable.suppressing(table, sensitive, hidden, "")
    for early_stop in (True, False):
        found = published.audit(early_stop=early_stop)
        assert found.verdict.tolist() == ["exactly disclosed"]
        assert (found.low, found.high) == (1e4, 1e4)


@pytest.mark.parametrize("size", [1e3, 1e8, 1e10, 1e12])
def test_a_large_cell_that_moves_as_far_as_a_small_one_is_not_known(size):
    """Beside its value that is nothing, and yet all the room that the small one has."""
    value = np.array([size + 60, size, 60, 100, 40])
    rows = np.array([[-1.0, 1, 1, 0, 0], [0, 0, 1, -1, 1]])
    table = Table(value, csr_array(rows), count=np.full(5, 9))
    hidden = np.isin(np.arange(5), [1, 2, 4])
    sensitive = Sensitive.by("few", np.arange(5) == 2, above=10.0)
    found = audit(ProtectedTable.suppressing(table, sensitive, hidden, ""), early_stop=False)
    assert found.passed
    assert (found.low[0], found.high[0]) == (0, 100)

"""Optimal suppression: equal to enumeration and to one big programme; refuses what cannot be."""

import gzip
import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array
from tests.tables.independent import (
    cheapest_by_enumeration,
    cheapest_by_milp,
    flat_table,
    is_safe,
)

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables import Contributions, Sensitive, SuppressOptimal, Table
from tacit.tables._attacker import Attacker
from tacit.tables._levels import required_levels
from tacit.tables._linear_program import LinearProgram, UnsolvedError
from tacit.tables.suppress import _optimal_dense
from tacit.tables.suppress._costs import cell_costs
from tacit.tables.suppress._optimal_problem import Problem


def sensitive_cells(table, rng, n, share):
    """A few inner cells that need a share of their value on either side."""
    inner = np.flatnonzero((table.codes > 0).all(axis=1) & (table.value > 0))
    flags = np.zeros(table.n_cells, dtype=bool)
    flags[rng.choice(inner, min(n, len(inner)), replace=False)] = True
    return Sensitive.by("test", flags, above=share * table.value)


def free_cells(table, sensitive):
    return np.flatnonzero(~sensitive.cells & ~table.is_empty)


@st.composite
def cases(draw, shapes, most_primary=3):
    shape = draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = flat_table(rng.integers(0, 40, shape))
    share = draw(st.sampled_from([0.1, 0.5, 1.0]))
    return table, sensitive_cells(table, rng, draw(st.integers(1, most_primary)), share)


@settings(max_examples=8)
@given(cases([(2, 2), (2, 3), (3, 3)]), st.sampled_from(["value", "unity"]))
def test_equals_enumeration(case, cost):
    table, sensitive = case
    prices = cell_costs(table, cost, sensitive.cells)
    best, n_cells = cheapest_by_enumeration(table, sensitive, prices, free_cells(table, sensitive))
    if np.isfinite(best):
        found = SuppressOptimal(cost=cost).protect(table, sensitive)
        assert found.notes["secondary_cost"] == pytest.approx(best)
        assert found.notes["optimal"]
        assert (found.suppressed & ~sensitive.cells).sum() == n_cells


@st.composite
def ties(draw):
    """Tables of a few small numbers: many patterns have the same value."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = flat_table(rng.integers(1, 4, draw(st.sampled_from([(2, 3), (3, 3)]))))
    return table, sensitive_cells(table, rng, draw(st.integers(1, 3)), 0.5)


@settings(max_examples=8)
@given(ties(), st.booleans())
def test_of_patterns_of_least_value_one_of_the_fewest_cells_is_taken(case, halves):
    table, sensitive = case
    if halves:  # values that are not whole numbers
        table = table.replace(value=table.value / 2)
        sensitive = Sensitive.by("test", sensitive.cells, above=sensitive.above / 2)
    prices = cell_costs(table, "value", sensitive.cells)
    best, n_cells = cheapest_by_enumeration(table, sensitive, prices, free_cells(table, sensitive))
    if np.isfinite(best):
        found = SuppressOptimal().protect(table, sensitive)
        assert found.notes["secondary_cost"] == pytest.approx(best)
        assert found.notes["fewest"]
        assert (found.suppressed & ~sensitive.cells).sum() == n_cells


@settings(max_examples=8)
@given(cases([(4, 4), (5, 5), (3, 5), (2, 2, 2), (2, 3, 3)]), st.sampled_from(["value", "unity"]))
def test_equals_one_big_programme(case, cost):
    table, sensitive = case
    prices = cell_costs(table, cost, sensitive.cells)
    most = 4 * table.value.max()
    best = cheapest_by_milp(table, sensitive, prices, free_cells(table, sensitive), most)
    if np.isfinite(best):
        found = SuppressOptimal(cost=cost).protect(table, sensitive)
        assert found.notes["secondary_cost"] == pytest.approx(best, rel=1e-6)


@settings(max_examples=8)
@given(cases([(3, 4), (5, 5), (2, 3, 3)], most_primary=6))
def test_the_result_stands_an_independent_attack(case):
    table, sensitive = case
    try:
        found = SuppressOptimal(cost="unity", gap=0.1).protect(table, sensitive)
    except ProtectionError:
        everything = ~table.is_empty | sensitive.cells
        assert not is_safe(table, sensitive, np.ones_like(everything))
        return
    assert found.suppressed[sensitive.cells].all()
    assert is_safe(table, sensitive, found.suppressed)


@settings(max_examples=8)
@given(cases([(3, 4), (4, 4)], most_primary=4))
def test_single_respondents_cannot_undo_their_neighbours(case):
    table, sensitive = case
    n_units = np.where(sensitive.cells, 1, 5)
    known = Contributions(table.value[:, None], n_units, table.value)
    table = table.replace(respondents=known)
    touch = (abs(table.relations).T @ abs(table.relations)).toarray() > 0
    pairs = [
        (p, [q]) for p in sensitive.primary for q in sensitive.primary if p != q and touch[p, q]
    ]
    try:
        found = SuppressOptimal(singletons=True).protect(table, sensitive)
    except ProtectionError:
        assert not is_safe(table, sensitive, ~table.is_empty, pairs)
        return
    assert is_safe(table, sensitive, found.suppressed, pairs)
    assert found.audit(singletons=True).passed


def test_width_and_lopsided_levels():
    table = flat_table([[10, 20, 5], [30, 40, 6], [7, 9, 8]])
    cell = table.cell(d0="a0", d1="b0")
    for levels in ((0.0, 4.0, 0.0), (4.0, 0.0, 0.0), (0.0, 0.0, 12.0), (0.0, 0.0, 0.0)):
        sensitive = Sensitive.by("test", np.arange(16) == cell, levels[1], levels[0], levels[2])
        found = SuppressOptimal().protect(table, sensitive)
        assert is_safe(table, sensitive, found.suppressed)


def square():
    table = flat_table([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    sensitive = Sensitive.by("test", np.arange(16) == table.cell(d0="a1", d1="b1"), above=3.0)
    return table, sensitive


def test_frozen_cells_stay_and_forced_cells_go():
    table, sensitive = square()
    free = SuppressOptimal().protect(table, sensitive)
    partner = np.flatnonzero(free.suppressed & ~sensitive.cells)[0]
    frozen = table.replace(frozen=np.arange(16) == partner)
    other = SuppressOptimal().protect(frozen, sensitive)
    assert not other.suppressed[partner]
    assert other.notes["cost"] > free.notes["cost"]
    forced = table.replace(forced=np.arange(16) == 15)
    assert SuppressOptimal().protect(forced, sensitive).suppressed[15]


def test_refuses_and_names_the_cells_when_all_others_are_frozen():
    table, sensitive = square()
    with pytest.raises(ProtectionError, match=r"\(a1, b1\)"):
        SuppressOptimal().protect(table.replace(frozen=~sensitive.cells), sensitive)
    with pytest.raises(ProtectionError, match=r"\(a1, b1\)"):
        SuppressOptimal().protect(table.replace(frozen=sensitive.cells), sensitive)


def test_waived_cells_are_published():
    table, sensitive = square()
    found = SuppressOptimal().protect(table.replace(waived=sensitive.cells), sensitive)
    assert not found.suppressed.any()
    assert found.audit().passed


def test_a_table_that_does_not_add_up_is_refused():
    table, sensitive = square()
    with pytest.raises(DataError, match="not additive"):
        SuppressOptimal().protect(table.replace(value=table.value + np.arange(16)), sensitive)


COSTS = ("value", "unity", "value-and-cells", "frequency", "log-value", "distance", "user")


def test_of_patterns_of_one_value_the_one_of_fewer_cells_is_taken():
    table, sensitive = square()
    cells, value = (
        SuppressOptimal(cost=cost).protect(table, sensitive).suppressed
        for cost in ("unity", "value")
    )
    both = SuppressOptimal(cost="value-and-cells").protect(table, sensitive).suppressed
    assert cells.sum() <= both.sum() <= value.sum()
    assert table.value[value].sum() <= table.value[both].sum() <= table.value[cells].sum()


@pytest.mark.parametrize("cost", COSTS)
def test_every_cost(cost):
    table, sensitive = square()
    table = table.replace(count=np.arange(16) + 1, cost=np.arange(16) % 5 + 1.0)
    found = SuppressOptimal(cost=cost).protect(table, sensitive)
    assert is_safe(table, sensitive, found.suppressed)
    assert found.notes["gap"] == pytest.approx(0.0, abs=1e-9)


def test_negative_values_and_no_sensitive_cell():
    table = flat_table([[-20, 50, 10], [8, -19, 22], [17, 32, -12]])
    sensitive = Sensitive.by("test", np.arange(16) == 10, above=5.0)
    found = SuppressOptimal(cost="unity").protect(table, sensitive)
    assert found.suppressed.sum() == 4
    assert not SuppressOptimal().protect(table, Sensitive.none(16)).suppressed.any()


def test_no_time_still_gives_a_pattern_that_stands():
    rng = np.random.default_rng(5)
    table = flat_table(rng.integers(1, 50, (6, 6, 4)))
    sensitive = sensitive_cells(table, rng, 25, 0.3)
    found = SuppressOptimal(seconds=0.01).protect(table, sensitive)
    assert found.audit().passed
    assert 0 <= found.notes["gap"] <= 1
    assert found.notes["bound"] <= found.notes["secondary_cost"]


@pytest.fixture
def by_programmes(monkeypatch):
    """No table counts as small: every answer comes from the solver."""
    monkeypatch.setattr(_optimal_dense, "LARGEST", 0)


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by a second whenever somebody looks at it."""
    ticks = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))


def many_sensitive():
    rng = np.random.default_rng(8)
    table = flat_table(rng.integers(1, 50, (5, 4, 3)))
    return table, sensitive_cells(table, rng, 9, 0.3)


def end_of(table, sensitive, seconds):
    """How the search ends after so many looks at the clock; its pattern must stand."""
    try:
        found = SuppressOptimal(seconds=seconds).protect(table, sensitive)
    except UnsolvedError:
        return "refused"
    assert is_safe(table, sensitive, found.suppressed)
    assert found.notes["bound"] <= found.notes["secondary_cost"] + 1e-9
    return "proven" if found.notes["optimal"] else "stopped"


@pytest.mark.usefixtures("by_programmes", "clock")
def test_time_ends_every_stage_with_a_pattern_that_stands_or_a_refusal():
    table, sensitive = many_sensitive()
    ends = [end_of(table, sensitive, seconds) for seconds in (1, 4, 16, 40, 150, 400, 5000)]
    assert ends[0] == "refused"
    assert "stopped" in ends
    assert ends[-1] == "proven"


def test_a_programme_whose_time_is_over_is_not_begun():
    program = LinearProgram(csc_array(np.ones((1, 2))), np.zeros(2), np.ones(2), cost=-np.ones(2))
    program.until = time.monotonic() - 1
    assert program.solve() == "time"
    program.until = time.monotonic() + 600
    assert program.solve() == "optimal"


def problem_of(table, sensitive):
    blocked = ~sensitive.cells & table.is_empty
    prices = cell_costs(table, "value", sensitive.cells)
    levels = required_levels(table, sensitive)
    return Problem(table, levels, sensitive.cells, sensitive.cells.copy(), blocked, prices)


@pytest.mark.parametrize("kind", ["any", "linked", "negative", "nested"])
def test_the_tableau_and_the_solver_agree(random_case, monkeypatch, kind):
    rng = np.random.default_rng(3)
    for seed in range(6):
        table, sensitive = random_case(seed, kind)
        small = problem_of(table, sensitive)
        assert small.dense is not None
        patterns = [
            small.fixed | (~small.blocked & (rng.random(table.n_cells) < share))
            for share in (0.3, 0.6, 0.9)
        ]
        with monkeypatch.context() as patch:
            patch.setattr(_optimal_dense, "LARGEST", 0)
            large = problem_of(table, sensitive)
            for pattern in patterns:
                ours, others = ({t.cell for t in p.threats(pattern)} for p in (small, large))
                assert ours == others


@pytest.mark.parametrize("kind", ["any", "linked", "negative", "nested"])
def test_the_cheapest_movement_costs_the_same_in_the_tableau_and_the_solver(random_case, kind):
    for seed in range(5):
        table, sensitive = random_case(seed, kind)
        problem = problem_of(table, sensitive)
        for threat in problem.outsiders:
            pattern, (failed,) = problem.dense.grown(problem.fixed, [threat], problem.cost)
            attacker = Attacker(table, problem.fixed, cost=problem.cost, blocked=problem.blocked)
            try:
                attacker.protect(threat.cell, threat.below, threat.above, threat.width)
            except ProtectionError:
                assert failed
                continue
            assert not failed
            assert threat.cell not in {open_.cell for open_ in problem.threats(pattern)}
            assert problem.price(pattern) == pytest.approx(
                problem.price(attacker.suppressed), rel=0.25
            )


def test_small_and_large_tables_have_the_same_optimum(random_case, monkeypatch):
    for seed, kind in ((1, "linked"), (2, "negative"), (3, "nested"), (9, "flat"), (5, "any")):
        table, sensitive = random_case(seed, kind)
        method = SuppressOptimal(singletons=False)
        small = method.protect(table, sensitive)
        with monkeypatch.context() as patch:
            patch.setattr(_optimal_dense, "LARGEST", 0)
            large = method.protect(table, sensitive)
        assert small.notes["optimal"]
        assert large.notes["optimal"]
        assert small.notes["secondary_cost"] == pytest.approx(large.notes["secondary_cost"])


def test_what_cannot_be_grown_cell_by_cell_is_found_from_everything(random_case):
    table, sensitive = random_case(153, "nested", frozen=True)
    found = SuppressOptimal(singletons=False).protect(table, sensitive)
    assert found.audit().passed


@pytest.mark.parametrize("largest", [0, _optimal_dense.LARGEST])
def test_thinning_publishes_no_forced_cell(monkeypatch, largest):
    monkeypatch.setattr(_optimal_dense, "LARGEST", largest)
    table, sensitive = square()
    problem = problem_of(table, sensitive)
    forced = np.zeros(16, dtype=bool)
    forced[table.cell(d0="a2", d1="b2")] = True
    problem.fixed[forced] = True
    every = ~problem.blocked
    thin = problem.thinned(every, problem.outsiders)
    assert thin[forced].all()
    assert not problem.threats(thin)
    assert thin.sum() < every.sum()


@pytest.mark.parametrize("bad", [{"gap": 1.0}, {"gap": -0.1}, {"seconds": 0}, {"cost": "weight"}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        SuppressOptimal(**bad)


def read_castro(path):
    """A table of bare relations: header, cells, relations (see the folder's README)."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    _, _, m, _, k = lines[0].split()
    cells = [line.split() for line in lines[1 : int(m) + 1]]
    rows, columns, weights = [], [], []
    for number, line in enumerate(lines[int(m) + 1 : int(m) + int(k) + 1]):
        for term in line.split(":")[1].split():
            place, weight = term.rstrip(")").split("(")
            rows.append(number), columns.append(int(place)), weights.append(float(weight))
    columns = np.array(columns) - min(columns)
    relations = csr_array((weights, (rows, columns)), shape=(int(k), int(m)))
    return [np.array(part) for part in zip(*cells, strict=True)], relations


def test_a_real_table_of_bare_relations(shared_data):
    folder = shared_data / "tables" / "castro_cta"
    path = next(folder.glob("*targus*"))
    (_, value, status, low, *_), relations = read_castro(path)
    value = value.astype(float)  # given to six digits: moved to the nearest additive table
    dense = relations.toarray()
    value = value - np.linalg.pinv(dense) @ (dense @ value)
    table = Table(value, relations, names=tuple(map(str, range(len(value)))))
    primary = status == "u"
    sensitive = Sensitive.by("given", primary, above=np.abs(low.astype(float)))
    table = table.replace(frozen=(status == "z") & ~primary)
    found = SuppressOptimal().protect(table, sensitive)
    assert found.audit(early_stop=False).passed
    assert is_safe(table, sensitive, found.suppressed)


@pytest.mark.parametrize(
    ("seed", "kind"),
    [(35, "any"), (73, "linked")],
    ids=["by less than a glimmer", "wide enough on each side, not on both"],
)
def test_a_pattern_that_fails_by_little_is_cut_off(random_case, seed, kind):
    table, sensitive = random_case(seed, kind)
    made = SuppressOptimal(singletons=False).protect(table, sensitive)
    assert made.notes["optimal"]
    assert made.notes["iterations"] < 50
    assert made.audit().passed

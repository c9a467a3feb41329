"""How large tables are protected: proofs among the cells around, respondents, proofs led round."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csc_array, csr_array
from tests.tables.independent import respondent_failures

import tacit
from tacit import tables
from tacit.core.errors import ProtectionError
from tacit.tables import Dimension, ProtectedTable, Sensitive, SuppressModular
from tacit.tables._ball_kernel import ball
from tacit.tables._grid import grid_codes, grid_relations
from tacit.tables._linear_program import UnsolvedError
from tacit.tables.contributions import Contributions
from tacit.tables.suppress import _repair, _repair_withstand
from tacit.tables.suppress._repair_inside import Inside
from tacit.tables.suppress._repair_insiders import as_needs, open_respondents
from tacit.tables.suppress._repair_leading_kernel import rerouted
from tacit.tables.suppress._repair_nearby import Nearby
from tacit.tables.suppress._repair_pattern import Pattern
from tacit.tables.suppress._repair_pieces import Pieces
from tacit.tables.suppress._repair_problem import problem_of

CUBE = tuple(Dimension.flat(name, ["x", "y", "z"]) for name in "abc")


@pytest.fixture
def large(monkeypatch):
    """Let every table count as large, its surroundings as small."""
    monkeypatch.setattr("tacit.tables.suppress._optimal_dense.LARGEST", 0)
    monkeypatch.setattr("tacit.tables.suppress._repair.LARGE", 0)
    monkeypatch.setattr("tacit.tables.suppress._repair_pieces.LARGEST", 0)
    monkeypatch.setattr("tacit.tables.suppress._repair_pieces.AROUND", (9, 20))
    monkeypatch.setattr("tacit.tables.suppress._repair_pieces.LOCAL", 30)
    monkeypatch.setattr("tacit.tables.suppress._repair_nearby.NEARBY", (6, 12))
    monkeypatch.setattr("tacit.tables.suppress._repair_inside.WIDE", 12)
    monkeypatch.setattr("tacit.tables.suppress._repair_withstand.FEW", 1)
    monkeypatch.setattr("tacit.tables.suppress._repair_withstand.SOME", 1)


def from_records(seed):
    """Return a table of records of some respondents with a hierarchy, and its sensitive cells."""
    rng = np.random.default_rng(seed)
    n = 45
    data = pl.DataFrame({
        "a": rng.choice(["a0", "a1", "a2", "a3", "a4"], n), "b": rng.choice(["b0", "b1", "b2"], n),
        "x": np.round(np.exp(rng.normal(3, 1, n))) + 1, "who": rng.integers(0, 30, n),
    })  # fmt: skip
    tree = {"Total": ["P", "Q"], "P": ["a0", "a1", "a2"], "Q": ["a3", "a4"]}
    table = tacit.tabulate(data, ["a", "b"], "x", unit="who", hierarchies={"a": tree})
    return table, (tables.PPercent(p=20) | tables.MinFrequency(n=3)).sensitive(table)


def _ball(relations, start, is_open, limit):
    rows, columns = csr_array(relations), csc_array(relations)
    missing, crossed = np.full(rows.shape[1], -1), np.zeros(rows.shape[0], np.int8)
    found = ball(
        np.asarray(start), is_open, columns.indptr, columns.indices, rows.indptr, rows.indices,
        missing, crossed, limit,
    )  # fmt: skip
    assert (missing == -1).all()
    assert not crossed.any()
    return found


def test_around_a_cell_of_a_grid_stands_a_box_in_which_it_can_move():
    relations, codes = grid_relations(CUBE), grid_codes(CUBE)
    is_inner = (codes > 0).all(axis=1)
    start = int(np.flatnonzero(is_inner)[0])
    for limit in (9, 18):
        found = _ball(relations, [start], is_inner, limit)
        assert found[0] == start
        spans = [len(np.unique(codes[found, k])) for k in range(3)]
        assert np.prod(spans) == len(np.unique(found)) == limit
    box = found[(codes[found] < 3).all(axis=1)]
    change = np.zeros(relations.shape[1])
    change[box] = (-1.0) ** (codes[box] != codes[start]).sum(axis=1)
    assert change[start] == 1
    assert not (relations @ change).any()


def test_a_ball_holds_its_start_and_open_cells_only_and_ends_with_the_table():
    relations = grid_relations(CUBE)
    is_open = np.random.default_rng(0).random(relations.shape[1]) < 0.6
    closed = int(np.flatnonzero(~is_open)[0])
    found = _ball(relations, [closed, closed, 5], is_open, 500)
    assert found[:2].tolist() == [closed, 5]
    assert is_open[found[2:]].all()
    assert set(np.flatnonzero(is_open)) <= set(found.tolist())
    assert len(found) == len(set(found.tolist()))


@pytest.mark.parametrize("seed", range(12))
def test_no_respondent_works_out_anything_of_a_large_table(large, seed):
    """Every respondent attacks everything with code of its own, or there was no way at all."""
    table, sensitive = from_records(seed)
    made = SuppressModular(singletons=True).protect(table, sensitive)
    assert respondent_failures(table, sensitive, made.suppressed) == set()
    assert made.audit().passed
    assert made.notes["singletons"]


def test_the_road_for_large_tables_was_taken(large, monkeypatch):
    """Otherwise the tests above would say nothing of it."""
    seen = []
    run = _repair_withstand.Withstand.run

    def noted(self):
        done = run(self)
        seen.append((done, sum(len(state.stuck) for state in self._progress.values())))
        return done

    monkeypatch.setattr(_repair_withstand.Withstand, "run", noted)
    for seed in range(12):
        SuppressModular(singletons=True).protect(*from_records(seed))
    assert all(done for done, _ in seen)
    assert any(stuck for _, stuck in seen)


def test_the_number_of_cores_changes_nothing(large, monkeypatch):
    for seed in range(4):
        found = []
        for cores in ({0}, set(range(8))):
            monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: cores)
            made = SuppressModular(singletons=True).protect(*from_records(seed))
            found.append(made.suppressed.tolist())
        assert found[0] == found[1]


def test_who_cannot_be_withstood_is_named(large):
    """All other cells are published before: the two of a row cannot be kept from each other."""
    value = np.array([30.0, 10, 20])
    table = tables.Table(value, csr_array([[-1.0, 1, 1]]), count=np.array([2, 1, 1]))
    table = table.replace(frozen=np.array([True, False, False]))
    sensitive = Sensitive.by("small", value < 25, above=2.0, below=2.0)
    with pytest.raises(ProtectionError, match="respondents"):
        SuppressModular(singletons=True).protect(table, sensitive)


def test_time_over_against_respondents_is_a_refusal(large, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    asked = _repair_withstand.open_respondents

    def late(pattern):
        clock[0] = 1e9
        return asked(pattern)

    monkeypatch.setattr(_repair_withstand, "open_respondents", late)
    refusals = []
    for seed in range(6):
        clock[0] = 0.0
        try:
            SuppressModular(singletons=True).protect(*from_records(seed))
        except ProtectionError as error:
            refusals.append(str(error))
    assert refusals
    assert all("against single respondents" in said for said in refusals)


def test_time_over_in_the_last_programme_says_nothing_of_whether_there_is_a_way(large, monkeypatch):
    """A programme that was cut short found nothing: that is no proof that there is nothing."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr(_repair_withstand.Inside, "widely", lambda *_: None)
    monkeypatch.setattr(_repair_withstand.Pieces, "prove_at_cost", lambda *_: None)

    def cut_short(*_):
        clock[0] = 1e9

    monkeypatch.setattr(_repair_withstand.Inside, "anywhere", cut_short)
    refusals = []
    for seed in range(12):
        clock[0] = 0.0
        try:
            SuppressModular(singletons=True).protect(*from_records(seed))
        except ProtectionError as error:
            refusals.append(str(error))
    assert refusals
    assert all("time was over" in said for said in refusals)


@pytest.mark.parametrize("breaks", [False, True], ids=["late", "in the middle of a programme"])
def test_time_over_while_less_is_published_leaves_the_pattern_that_was_safe(
    large, monkeypatch, breaks
):
    """A clean-up here publishes too much: all that was suppressed against respondents."""
    clock, left_off = [0.0], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    prune, answer = _repair.Prune.run, _repair_withstand.Withstand._answer

    def pruned(self, until, **how):
        prune(self, until, **how)
        if self._apart is not None:
            clock[0] = 1e9
            for need in np.flatnonzero([len(known) for known in self.problem.needs.known]):
                self.pattern.release(need)

    def answered(self, requests):
        if clock[0] == 0.0:
            return answer(self, requests)
        left_off.append(len(requests))
        if breaks:
            raise UnsolvedError("time was over")
        return answer(self, requests)

    monkeypatch.setattr(_repair.Prune, "run", pruned)
    monkeypatch.setattr(_repair_withstand.Withstand, "_answer", answered)
    for seed in range(12):
        clock[0] = 0.0
        table, sensitive = from_records(seed)
        made = SuppressModular(singletons=True).protect(table, sensitive)
        assert respondent_failures(table, sensitive, made.suppressed) == set()
        assert made.audit().passed
    assert left_off


def _problem(random_case, seed, kind):
    table, sensitive = random_case(seed, kind)
    return table, sensitive, problem_of(table, sensitive, np.maximum(np.abs(table.value), 1.0))


@pytest.mark.parametrize("kind", ["any", "nested", "linked"])
def test_proofs_at_a_cost_hold_and_take_cheap_cells_first(large, random_case, monkeypatch, kind):
    monkeypatch.setattr("tacit.tables.suppress._repair_pieces.CHEAP", (0.7,))
    n_proved = 0
    for seed in range(8):
        _, _, problem = _problem(random_case, seed, kind)
        pattern = Pattern(problem)
        dearest = np.quantile(problem.cost[~problem.fixed], 0.7)
        Pieces(pattern, problem.fixed).prove_at_cost(pattern.unproved, np.inf)
        assert np.array_equal(pattern.broken(), pattern.unproved)
        assert (problem.cost[pattern.hidden & ~problem.fixed] <= dearest).all()
        n_proved += len(problem.needs) - len(pattern.unproved)
    assert n_proved


@pytest.mark.parametrize("kind", ["any", "nested", "linked", "negative"])
def test_cells_are_published_round_which_proofs_can_be_led(large, random_case, weak_cells, kind):
    """What is published is not needed: the independent attacker finds the rest as safe."""
    n_published = 0
    for seed in range(8):
        _, _, problem = _problem(random_case, seed, kind)
        pattern = Pattern(problem)
        Pieces(pattern, np.ones(problem.n_cells, dtype=bool)).prove(np.inf)
        safe = ~np.isin(problem.cells[problem.needs.cell], weak_cells(_made(problem, pattern)))
        before, every = pattern.hidden, np.ones(problem.n_cells, dtype=bool)
        order = np.argsort(-problem.cost)[: np.count_nonzero(~problem.fixed)]
        order = order[~problem.fixed[order]]
        left = Pieces(pattern, every).publish(order, np.inf)
        assert set(left.tolist()) <= set(order.tolist())
        assert np.array_equal(pattern.broken(), pattern.unproved)
        weak = weak_cells(_made(problem, pattern))
        assert not np.isin(problem.cells[problem.needs.cell[safe]], weak).any()
        n_published += int((before & ~pattern.hidden).sum())
    assert n_published


def test_dear_proofs_are_looked_for_farther_away(large, random_case, monkeypatch):
    """What is found there is no dearer, sometimes cheaper, and holds."""
    n_cheaper = 0
    for seed in range(6):
        _, _, problem = _problem(random_case, seed, "nested")
        charge = np.where(problem.fixed, 0.0, problem.cost)
        for need in range(len(problem.needs)):
            price = {}
            for dear in (np.inf, 0.0):
                monkeypatch.setattr("tacit.tables.suppress._repair_inside.DEAR", dear)
                search = _repair.Search(problem)
                found = Inside(search).cheaply(need, charge)
                if found is not None:
                    search.pattern.assign(need, *found)
                    assert not len(search.pattern.broken(np.array([need])))
                    price[dear] = charge[found[0]].sum()
            assert price.get(0.0, np.inf) <= price.get(np.inf, np.inf)
            n_cheaper += price.get(0.0, np.inf) < price.get(np.inf, 0.0) * (1 - 1e-9)
    assert n_cheaper


def test_a_first_pattern_of_a_large_table_is_cheaper_for_looking_farther(
    large, random_case, monkeypatch
):
    monkeypatch.setattr("tacit.tables.suppress._repair_nearby.NEARBY", (12, 25))
    costs = {}
    for dear in (np.inf, 0.0):
        monkeypatch.setattr("tacit.tables.suppress._repair_nearby.DEAR", dear)
        costs[dear] = 0.0
        for seed, kind in itertools.product(range(10), ("any", "nested")):
            search = _repair.Search(_problem(random_case, seed, kind)[2])
            search.until = np.inf
            Nearby(search, np.inf).run([np.arange(len(search.problem.needs))])
            assert np.array_equal(search.pattern.broken(), search.pattern.unproved)
            costs[dear] += search.pattern.cost
    assert costs[0.0] < costs[np.inf]


def _made(problem, pattern):
    hidden = problem.spread(pattern.hidden)
    return ProtectedTable.suppressing(problem.table, problem.sensitive, hidden, "some")


def test_proofs_are_not_led_over_cells_that_are_apart(large, random_case):
    n_led = 0
    for seed in range(8):
        _, _, problem = _problem(random_case, seed, "nested")
        pattern = Pattern(problem)
        Pieces(pattern, np.ones(problem.n_cells, dtype=bool)).prove(np.inf)
        apart = np.random.default_rng(seed).random(problem.n_cells) < 0.5
        before = list(pattern.cells)
        order = np.flatnonzero(pattern.hidden & ~problem.fixed)
        every = np.ones(problem.n_cells, dtype=bool)
        Pieces(pattern, every, apart).publish(order, np.inf)
        for old, new in zip(before, pattern.cells, strict=True):
            if old is not new:
                n_led += 1
                assert not (set(new[apart[new]].tolist()) - set(old.tolist()))
    assert n_led


def test_what_must_stay_is_not_moved_where_a_proof_is_led():
    """Four cells of a row: one gives way to either of two others, unless that one must stay."""
    row = csc_array(np.ones((1, 4)))
    columns = row.indptr.astype(np.int32), row.indices.astype(np.int32), row.data
    rooms = np.full(4, 9.0), np.full(4, 9.0)
    for stays, expected in ((), [4.0, 0, -4, 0]), ((2,), [4.0, 0, 0, -4]), ((2, 3), None):
        moves, held = np.array([[4.0, -4, 0, 0]]), np.zeros((1, 4), dtype=bool)
        held[0, list(stays)] = True
        gone = rerouted(columns, 1, rooms, np.array([1]), moves, np.array([0]), held)
        assert gone.tolist() == [False, expected is not None, False, False]
        found = [4.0, -4, 0, 0] if expected is None else expected
        if not stays:
            assert moves[0, :2].tolist() == [4.0, 0]
            assert moves[0, 2:].sum() == -4
        else:
            assert moves[0].tolist() == found


def _one_row_twice(row, who, below):
    """Two equal rows and their sums: one total is sensitive, respondent R is alone in cells."""
    n = len(row)
    dimensions = Dimension.flat("a", ["p", "q"]), Dimension.flat("b", list("xyzw")[: n - 1])
    value, count, unit = np.concatenate([2 * row, row, row]), np.full(3 * n, 5), np.arange(3 * n)
    count[list(who)], unit[list(who)] = 1, 999
    units = Contributions(
        top=value[:, None].copy(), n_units=count, absolute=value.copy(), unit=unit[:, None]
    )
    table = tables.Table(
        value, grid_relations(dimensions), dimensions, grid_codes(dimensions), count=count
    )
    sensitive = Sensitive.by("total", np.arange(3 * n) == n, above=0.0, below=below)
    problem = problem_of(table.replace(respondents=units), sensitive, value)
    return problem, Pattern(problem)


def _mirrored(cells, moves, n):
    return np.concatenate([cells, np.add(cells, n)]), np.concatenate([moves, np.negative(moves)])


def test_less_asked_for_someone_counts_no_longer_where_it_knows_less():
    """Knowing two cells it can know 40 of 100; when one is published, it must not know over 65."""
    problem, pattern = _one_row_twice(np.array([100.0, 40, 20, 30, 10]), (6, 7), 65.0)
    pattern.assign(0, *_mirrored([5, 6, 7, 8, 9], [-65.0, -40, -10, -10, -5], 5))
    (one,) = open_respondents(pattern)
    assert list(one.known) == [(6, 7)]
    amount = 40 * (1 - 1e-7)
    pattern.problem = _with(problem, as_needs(problem.needs, [(0, amount, one.known[6, 7])]))
    pattern.extend()
    pattern.assign(1, *_mirrored([5, 8, 9], [-amount, -amount * 0.75, -amount * 0.25], 5))
    assert open_respondents(pattern) == []
    assert _made(problem, pattern).audit(singletons=True).passed
    pattern.assign(0, *_mirrored([5, 6, 8, 9], [-65.0, -40, -20, -5], 5))
    assert not pattern.hidden[7]
    assert [list(left.known) for left in open_respondents(pattern)] == [[(6,)]]
    assert not _made(problem, pattern).audit(singletons=True).passed


def test_many_respondents_one_by_one_take_as_many_rounds_as_they_need(large, monkeypatch):
    """Nobody is left to the side because rounds are over."""
    table, sensitive = from_records(2)
    search = _repair.Search(problem_of(table, sensitive, np.maximum(table.value, 1.0)))
    withstand = _repair_withstand.Withstand(search)
    known = {(k,): np.array([k]) for k in range(300)}
    met = set()

    def left(pattern):
        rest = {who: cells for who, cells in known.items() if who not in met}
        return [_repair_withstand.Open((0, 1.0), 0, rest)] if rest else []

    def answer(requests):
        for one in requests:
            if one.may_cost and len(one.against) == 1:
                met.update(one.against)
            else:
                withstand._note_failure(one)
        return True

    monkeypatch.setattr(_repair_withstand, "open_respondents", left)
    monkeypatch.setattr(withstand, "_answer", answer)
    monkeypatch.setattr(withstand, "_shorten", lambda every: False)
    assert withstand.run()
    assert len(met) == 300


def test_all_parts_are_asked_for_in_one_round():
    """Halves one after the other took as many rounds as there are parts."""
    table, sensitive = from_records(2)
    search = _repair.Search(problem_of(table, sensitive, np.maximum(table.value, 1.0)))
    withstand = _repair_withstand.Withstand(search)
    known = {(k,): np.array([k]) for k in range(21)}
    left = _repair_withstand.Open((0, 1.0), 0, known)
    withstand._of(left.side).most = 3
    asked = withstand._requests(left)
    assert [len(one.against) for one in asked] == [3] * 7
    assert [who for one in asked for who in one.against] == list(known)
    assert all(one.known.tolist() == [who[0] for who in one.against] for one in asked)
    withstand._of(left.side).most = 1
    assert len(withstand._requests(left)) == _repair_withstand.PARTS
    withstand._of(left.side).stuck = set(known)
    (one,) = withstand._requests(left)
    assert one.may_cost
    assert len(one.against) == len(known)


def test_before_respondents_a_large_table_is_cleaned_up_by_tableaux_alone(large, monkeypatch):
    """Programmes, which take longer, are left to the clean-up that is the last."""
    how, prune = [], _repair.Prune.run

    def run(self, until, *, exchange=False, far=True):
        how.append((exchange, far))
        prune(self, until, exchange=exchange, far=far)

    monkeypatch.setattr(_repair.Prune, "run", run)
    SuppressModular(singletons=True).protect(*from_records(3))
    assert how[0] == (False, False)
    assert all(far for _, far in how[1:])
    how.clear()
    SuppressModular(singletons=False).protect(*from_records(3))
    assert how[0] == (False, True)


def test_less_asked_for_one_respondent_says_nothing_of_others():
    """A proof of a smaller movement counts against those alone for whom it is enough."""
    value = np.array([90.0, 40, 20, 30, 90, 40, 20, 30, 180, 80, 40, 60])
    dimensions = (Dimension.flat("a", ["p", "q"]), Dimension.flat("b", ["x", "y", "z"]))
    codes = grid_codes(dimensions)
    cells = np.array([180.0, 80, 40, 60, 90, 40, 20, 30, 90, 40, 20, 30])
    count = np.where((codes > 0).all(axis=1), 1, 5)
    count[[7, 11]] = 5
    table = tables.Table(cells, grid_relations(dimensions), dimensions, codes, count=count)
    assert sorted(cells) == sorted(value)
    sensitive = Sensitive.by("one", np.arange(12) == 5, above=4.0, below=0.0)
    problem = problem_of(table, sensitive, cells)
    pattern = Pattern(problem)
    pattern.assign(0, np.array([5, 6, 9, 10]), np.array([4.0, -4, -4, 4]))
    others = open_respondents(pattern)[0].known
    assert set(others) == {(6,), (9,), (10,)}
    less = as_needs(problem.needs, [(0, 1.0, others[6,])])
    pattern.problem = problem = _with(problem, less)
    pattern.extend()
    pattern.assign(1, np.array([5, 7, 9, 11]), np.array([1.0, -1, -1, 1]))
    assert set(open_respondents(pattern)[0].known) == {(9,), (10,)}
    full = as_needs(problem.needs, [(0, 4.0, others[6,])])
    pattern.problem = _with(problem, full)
    pattern.extend()
    pattern.assign(2, np.array([5, 7, 9, 11]), np.array([4.0, -4, -4, 4]))
    assert set(open_respondents(pattern)[0].known) == {(9,)}


def _with(problem, more):
    from dataclasses import replace

    return replace(problem, needs=problem.needs.join(more))

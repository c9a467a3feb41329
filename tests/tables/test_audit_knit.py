"""Closely knit systems: attacked by their few free cells, with the same outcome."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.tables import Dimension, ProtectedTable, Sensitive, Table, audit
from tacit.tables import _audit_attack as attack
from tacit.tables._audit_knit import FEW, FROM, KnitChanges, free_changes
from tacit.tables._audit_proof import Extremes
from tacit.tables._audit_system import System
from tacit.tables._grid import grid_codes, grid_relations
from tacit.tables._linear_program import UnsolvedError

SIX = tuple(Dimension.flat(name, ["x", "y"]) for name in "abcdef")
"""Six dimensions of two codes and a total: 729 cells, of which 64 determine all."""


def knit_table(seed: int, share: float = 0.95) -> tuple[Table, Sensitive, np.ndarray]:
    """Draw counts in six dimensions, sensitive ones, and a pattern that hides most cells."""
    rng = np.random.default_rng(seed)
    inner = rng.poisson(3.0, (2,) * 6).astype(float)
    for axis, dimension in enumerate(SIX):
        holds = dimension.contains.toarray().astype(float)
        inner = np.moveaxis(np.tensordot(holds, inner, axes=(1, axis)), 0, axis)
    value = inner.ravel()
    table = Table(value, grid_relations(SIX), SIX, grid_codes(SIX), count=value.astype(int))
    small = (value > 0) & (value < 3)
    sensitive = Sensitive.by("small", small, above=1.0)
    return table, sensitive, small | (rng.random(len(value)) < share)


def roads(monkeypatch: pytest.MonkeyPatch, *, knit: bool) -> list:
    """Note what is found of each component attacked, or let nothing be found."""
    found: list = []

    def noting(relations):
        found.append(free_changes(relations) if knit else None)
        return found[-1]

    monkeypatch.setattr(attack, "free_changes", noting)
    return found


def test_free_changes_span_all_changes_that_keep_the_relations():
    relations = csr_array(grid_relations(SIX))
    free = free_changes(relations)
    assert free is not None
    assert free.shape == (729, 64)
    assert np.abs(relations @ free).max() < 1e-9
    assert np.linalg.matrix_rank(free) == 64 == 729 - np.linalg.matrix_rank(relations.toarray())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.95, 1.0])
def test_intervals_are_those_of_the_programme_in_all_cells(monkeypatch, seed, share):
    table, sensitive, hidden = knit_table(seed, share)
    protected = ProtectedTable.suppressing(table, sensitive, hidden, "")
    found = roads(monkeypatch, knit=True)
    knit = audit(protected, early_stop=False)
    roads(monkeypatch, knit=False)
    plain = audit(protected, early_stop=False)
    assert any(one is not None for one in found)
    assert len(knit.cells) > 20
    np.testing.assert_allclose(knit.low, plain.low, atol=1e-6)
    np.testing.assert_allclose(knit.high, plain.high, atol=1e-6)
    assert (knit.verdict == plain.verdict).all()


@pytest.mark.parametrize("seed", range(3))
def test_respondents_find_the_same(monkeypatch, seed):
    table, sensitive, hidden = knit_table(seed)
    protected = ProtectedTable.suppressing(table, sensitive, hidden, "")
    found = roads(monkeypatch, knit=True)
    knit = audit(protected, singletons=True)
    roads(monkeypatch, knit=False)
    plain = audit(replace(protected), singletons=True)
    assert any(one is not None for one in found)
    assert knit.n_insiders > 0
    assert {b.cell for b in knit.breaches} == {b.cell for b in plain.breaches}
    assert (knit.verdict == plain.verdict).all()


def test_rounding_is_no_breach_where_nothing_is_asked_for_on_a_side(monkeypatch):
    """A cell that one respondent knows cannot rise had a largest change of less than nothing."""
    table, sensitive, hidden = knit_table(24)
    sensitive = Sensitive.by("small", sensitive.cells, above=0.0)
    protected = ProtectedTable.suppressing(table, sensitive, hidden, "")
    found = roads(monkeypatch, knit=True)
    knit = audit(protected, singletons=True)
    assert any(one is not None for one in found)
    roads(monkeypatch, knit=False)
    assert audit(replace(protected), singletons=True).passed
    assert knit.passed


def test_a_cell_passes_up_to_its_interval_and_not_beyond():
    table, sensitive, hidden = knit_table(0)
    protected = ProtectedTable.suppressing(table, sensitive, hidden, "")
    exact = audit(protected, early_stop=False)
    cell, room = exact.cells[0], exact.high[0] - exact.table.value[exact.cells[0]]
    assert 0 < room < np.inf
    for asked, passes in ((room, True), (room + 0.01, False)):
        one = Sensitive.by("one", np.arange(table.n_cells) == cell, above=asked, below=0.0)
        assert audit(ProtectedTable.suppressing(table, one, hidden, "")).passed == passes


def test_sums_without_bounds_and_cells_held_by_somebody():
    relations = csr_array(grid_relations(SIX))
    n = relations.shape[1]
    lower, upper = np.full(n, -2.0), np.full(n, np.inf)
    system = System(np.arange(n), relations, lower, upper)
    knit, plain = KnitChanges(system, free_changes(relations)), Extremes(system)
    first, one = np.array([0]), np.ones(1)
    assert knit.largest(first, one) == (np.inf, None)
    for _ in range(2):
        moved = knit.move(0, 7.0)
        assert moved[0] == pytest.approx(7.0)
        assert np.abs(relations @ moved).max() < 1e-6
        assert moved.min() >= -2.0 - 1e-9
        assert knit.largest(first, one) == (np.inf, None)
    for known in (np.array([1, 5, 9]), np.array([700])):
        expected, _ = plain.largest(first, -one, known)
        found, change = knit.largest(first, -one, known)
        assert found == pytest.approx(expected, abs=1e-6)
        assert np.abs(change[known]).max() < 1e-7
    pair, weights = np.array([3, 40]), np.array([-1.0, -2.0])
    assert knit.largest(pair, weights)[0] == pytest.approx(plain.largest(pair, weights)[0])
    assert knit.move(0, -1e9) is None


def test_other_systems_are_left_to_the_programme_in_all_cells():
    small = csr_array(grid_relations(SIX[:3]))
    assert small.shape[1] < FROM
    assert free_changes(small) is None
    loose = csr_array(grid_relations(tuple(Dimension.flat(n, list("uvwxyz")) for n in "abcd")))
    assert FEW * loose.shape[1] < 6**4
    assert free_changes(loose) is None
    assert free_changes(csr_array(grid_relations(SIX) * 0.5)) is None


def test_nothing_is_concluded_when_time_is_over():
    relations = csr_array(grid_relations(SIX))
    limits = np.full(relations.shape[1], 3.0)
    system = System(np.arange(relations.shape[1]), relations, -limits, limits)
    knit = KnitChanges(system, free_changes(relations), until=0.0)
    with pytest.raises(UnsolvedError, match="time was over"):
        knit.move(0, 1.0)

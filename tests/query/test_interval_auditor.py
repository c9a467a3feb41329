from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.query.interval_auditor import IntervalAuditor


def _by_linprog(queries, answers, lower, upper):
    """Each atom's interval by two programmes over all atoms: no classes, another front end."""
    n = len(lower)
    ends = []
    for sign in (1, -1):
        side = []
        for i in range(n):
            cost = np.zeros(n)
            cost[i] = sign
            bounds = list(zip(lower, upper, strict=True))
            side.append(sign * linprog(cost, A_eq=queries, b_eq=answers, bounds=bounds).fun)
        ends.append(side)
    return np.array(ends)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_intervals_agree_with_another_solver(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    lower, upper = np.zeros(n), rng.integers(5, 20, n).astype(float)
    values = rng.uniform(lower, upper)
    queries = (rng.random((m, n)) < 0.5).astype(float)
    auditor = IntervalAuditor(lower, upper, 0)
    assert auditor.admit(queries, queries @ values).allowed
    low, high = auditor.intervals()
    np.testing.assert_allclose(
        [low, high], _by_linprog(queries, queries @ values, lower, upper), atol=1e-6
    )
    assert (low <= values + 1e-9).all()
    assert (values <= high + 1e-9).all()


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 4))
def test_no_answer_ever_leaves_less_than_the_width(seed, width):
    rng = np.random.default_rng(seed)
    n = 7
    lower, upper = np.zeros(n), np.full(n, 10.0)
    values = rng.uniform(0, 10, n)
    auditor, told, answers = IntervalAuditor(lower, upper, width), [], []
    for _ in range(8):
        query = (rng.random(n) < 0.5).astype(float)
        before = auditor.check(query, query @ values)
        trial = _by_linprog([*told, query], [*answers, query @ values], lower, upper)
        too_close = np.flatnonzero(trial[1] - trial[0] < width - 1e-5)
        assert auditor.admit(query, query @ values) == before
        if set(too_close) != set(np.flatnonzero(trial[1] - trial[0] < width + 1e-5)):
            return  # on the edge: rounding decides
        assert before.exposed == tuple(too_close)
        if before.allowed:
            told, answers = [*told, query], [*answers, query @ values]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.integers(0, 1000))
def test_counts_are_never_pinned_by_the_relaxation_when_allowed(sizes, seed):
    """Every whole-number solution is enumerated; the allowed intervals must hold them all."""
    rng = np.random.default_rng(seed)
    sizes = np.array(sizes)
    counts = rng.integers(0, sizes + 1)
    auditor, told = IntervalAuditor.for_counts(sizes, width=1), []
    for _ in range(4):
        query = rng.random(len(sizes)) < 0.6
        if auditor.admit(query, int(counts[query].sum())).allowed:
            told.append(query)
    fits = [
        x
        for x in product(*(range(s + 1) for s in sizes))
        if all(np.array(x)[q].sum() == counts[q].sum() for q in told)
    ]
    low, high = auditor.intervals()
    assert (np.min(fits, axis=0) >= low).all()
    assert (np.max(fits, axis=0) <= high).all()


def test_a_full_or_empty_count_is_refused():
    auditor = IntervalAuditor.for_counts([5, 4], width=2)
    assert not auditor.check([1, 1], 9).allowed, "everybody has it"
    assert not auditor.check([1, 1], 0).allowed, "nobody has it"
    assert auditor.check([1, 1], 4).allowed
    assert auditor.check([1, 0], 1).exposed == (0,)


def test_a_large_value_is_not_pinned_by_small_partners():
    """A sum with small partners known to be small pins the large one: the audit of sums alone
    lets it pass, the audit of intervals does not."""
    upper = np.array([1000.0, 3.0, 3.0, 3.0])
    auditor = IntervalAuditor(np.zeros(4), upper, [50.0, 1.0, 1.0, 1.0])
    assert auditor.check([1, 1, 1, 1], 900.0).exposed == (0,)


def test_values_without_bounds_are_never_pinned_by_one_sum():
    auditor = IntervalAuditor([-np.inf] * 3, [np.inf] * 3, [1e6] * 3)
    assert auditor.admit([1, 1, 1], 5.0).allowed
    assert auditor.admit([1, 1, 0], 3.0).exposed == (2,)
    low, high = auditor.intervals()
    assert (low == -np.inf).all()
    assert (high == np.inf).all()


def test_simulated_decisions_do_not_see_the_answer():
    """D5: it takes no answer, so a refusal is no oracle."""
    auditor = IntervalAuditor([0] * 3, [10] * 3, 0.5)
    assert auditor.check([1, 1, 1], 15).allowed
    assert not auditor.check([1, 1, 1], 30).allowed, "the answer decides: a refusal tells on it"
    single = IntervalAuditor([0] * 3, [10] * 3, 0.5)
    assert single.check_simulated([1, 1, 1], np.random.default_rng(0)).allowed
    assert not single.check_simulated([0, 1, 0], np.random.default_rng(0)).allowed
    with pytest.raises(ParameterError, match="finite bounds"):
        IntervalAuditor([0], [np.inf], 1).check_simulated([1], np.random.default_rng(0))


def test_answers_that_cannot_be_true_are_named():
    with pytest.raises(DataError, match="cannot all be true"):
        IntervalAuditor([0, 0], [1, 1], 0.5).admit([1, 1], 7)


@pytest.mark.parametrize(
    ("lower", "upper", "width", "error"),
    [
        ([0], [1, 2], 0, ParameterError),
        ([], [], 0, ParameterError),
        ([2], [1], 0, ParameterError),
        ([np.nan], [1], 0, ParameterError),
        ([0], [1], -1, ParameterError),
        ([0], [1], 2, ProtectionError),
    ],
)
def test_bad_settings_are_refused(lower, upper, width, error):
    with pytest.raises(error):
        IntervalAuditor(lower, upper, width)


@pytest.mark.parametrize(
    ("query", "answer"), [([1], 1), ([1, 1], [1, 2]), ([1, np.nan], 1), ([1, 1], np.inf)]
)
def test_bad_queries_are_refused(query, answer):
    with pytest.raises(ParameterError):
        IntervalAuditor([0, 0], [9, 9], 1).admit(query, answer)


def test_many_atoms_few_classes():
    rng = np.random.default_rng(0)
    n = 5_000
    region = rng.integers(0, 30, n)
    values = rng.lognormal(3, 1, n)
    auditor = IntervalAuditor(np.zeros(n), np.full(n, np.inf), 0.1 * values)
    table = np.array([region == r for r in range(30)], dtype=float)
    assert auditor.admit(table, table @ values).allowed
    one_out = table[0].copy()
    one_out[np.flatnonzero(region == 0)[0]] = 0
    assert auditor.admit(one_out, one_out @ values).exposed == (np.flatnonzero(region == 0)[0],)

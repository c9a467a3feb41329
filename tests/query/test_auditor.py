import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError
from tacit.query import _primes
from tacit.query.auditor import SumAuditor


def _rank(rows):
    """Rank by elimination in exact fractions, written apart from the auditor."""
    rows = [[Fraction(int(x)) for x in row] for row in rows]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def _follows(rows, vector):
    return bool(len(rows)) and _rank([*rows, vector]) == _rank(rows)


def _determined(rows, n):
    return [i for i in range(n) if _follows(rows, np.eye(n, dtype=int)[i])]


queries_of = st.integers(2, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=12)
)


@settings(max_examples=120, deadline=None)
@given(queries_of, st.integers(1, 2))
def test_decisions_agree_with_exact_rank(queries, primes):
    n = len(queries[0])
    auditor, kept = SumAuditor(n, primes=primes), []
    for query in queries:
        exposed = _determined([*kept, query], n)
        verdict = auditor.check(query)
        assert auditor.admit(query) == verdict
        assert list(verdict.exposed) == exposed
        assert verdict.allowed == (not exposed)
        if verdict.allowed:
            assert verdict.is_new == (not _follows(kept, query) and any(query))
            kept.append(query)
        assert auditor.rank == _rank(kept)
    assert auditor.n_answered == len(kept)


@settings(max_examples=60, deadline=None)
@given(queries_of, st.data())
def test_protected_and_known_atoms(queries, data):
    n = len(queries[0])
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    protected, known = np.array(data.draw(flags)), np.array(data.draw(flags))
    auditor = SumAuditor(n, protected=protected, known=known)
    told = [row for row, k in zip(np.eye(n, dtype=int), known, strict=True) if k]
    for query in queries:
        wrong = [i for i in _determined([*told, query], n) if protected[i] and not known[i]]
        if (allowed := auditor.admit(query).allowed) != (not wrong):
            raise AssertionError((told, query, wrong))
        if allowed:
            told.append(query)


@settings(max_examples=60, deadline=None)
@given(queries_of)
def test_an_insider_who_knows_one_value_learns_no_other(queries):
    n = len(queries[0])
    auditor, kept = SumAuditor(n, insiders=1), []
    eye = np.eye(n, dtype=int)
    for query in queries:
        rows = [*kept, query]
        telling = [
            (i, j)
            for i in range(n)
            for j in range(n)
            if j != i and _follows([*rows, eye[i]], eye[j])
        ]
        allowed = auditor.admit(query).allowed
        assert allowed == (not telling and not _determined(rows, n))
        if allowed:
            kept.append(query)


@pytest.mark.parametrize("seed", range(3))
def test_decisions_agree_with_numpy_on_larger_sets(seed):
    rng = np.random.default_rng(seed)
    n, kept = 40, np.empty((0, 40))
    auditor = SumAuditor(n, rng=rng)
    for _ in range(60):
        query = rng.random(n) < rng.choice([0.1, 0.5])
        rows = np.vstack([kept, query])
        null = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]
        exposed = np.flatnonzero((np.abs(null) < 1e-9).all(axis=0))
        verdict = auditor.admit(query)
        assert list(verdict.exposed) == list(exposed)
        kept = rows if verdict.allowed else kept


def test_a_table_is_allowed_as_a_whole_or_not_at_all():
    auditor = SumAuditor(4)
    table = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]])
    assert not auditor.admit(table).allowed
    assert (auditor.rank, auditor.n_answered) == (0, 0)
    assert auditor.admit(table[:2]).allowed
    assert (auditor.rank, auditor.n_answered) == (2, 2)


def test_a_table_of_no_cells_tells_nothing():
    auditor = SumAuditor(3)
    assert auditor.admit(np.empty((0, 3))).is_new is False
    assert auditor.n_answered == 0


def test_integer_coefficients():
    auditor = SumAuditor(3)
    assert auditor.admit([2, -3, 0]).allowed
    assert auditor.admit([4, -6, 0]) == auditor.check([2, -3, 0])
    assert auditor.admit([1, 1, 0]).exposed == (0, 1)


def test_the_decision_never_sees_values_nor_depends_on_the_secret():
    """Simulatable: another prime, the same refusals."""
    rng = np.random.default_rng(0)
    queries = rng.random((60, 25)) < 0.4
    one, other = SumAuditor(25), SumAuditor(25, primes=2)
    assert [one.admit(q).allowed for q in queries] == [other.admit(q).allowed for q in queries]


def test_a_prime_that_divides_a_minor_is_why_the_prime_is_secret(monkeypatch):
    """With the queries (2, 1, .., 0), (0, 2, 1, ..) .. and p = the number they build, it errs.

    Rows r(i) = e(i) - 2 e(i+1) and e(0) + (p - 2^k) e(k) make a minor of exactly p.
    """
    bad = 1_073_741_827
    assert _primes.is_prime(bad)
    k = 30
    rows = np.zeros((k + 1, k + 2), dtype=np.int64)
    for i in range(k):
        rows[i, i], rows[i, i + 1] = 1, -2
    rows[k, 0], rows[k, k] = 1, bad - 2**k
    rows[:, k + 1] = 0
    monkeypatch.setattr("tacit.query._echelon.random_prime", lambda rng: bad)
    broken = SumAuditor(k + 2)
    assert broken.admit(rows).allowed, "over this prime the last row follows from the others"
    monkeypatch.undo()
    assert SumAuditor(k + 2).admit(rows).exposed, "over any other it gives every value away"


@settings(max_examples=30, deadline=None)
@given(queries_of, st.integers(0, 11))
def test_the_state_can_be_kept_and_taken_up_again(queries, at):
    n = len(queries[0])
    through, kept = SumAuditor(n, insiders=1), None
    kept = through
    for i, query in enumerate(queries):
        if i == at:
            kept = SumAuditor.restore(kept.state())
            through = SumAuditor.restore(through.state())
        assert kept.admit(query).allowed == through.admit(query).allowed
        if kept is through:
            kept = SumAuditor.restore(through.state())
    assert (kept.rank, kept.n_answered) == (through.rank, through.n_answered)


@pytest.mark.parametrize("state", [b"", b"nothing", b"PK\x03\x04 not a zip"])
def test_a_broken_state_is_refused(state):
    with pytest.raises(DataError, match="state of an auditor"):
        SumAuditor.restore(state)


def test_primes():
    small = [n for n in range(200) if all(n % d for d in range(2, n)) and n > 1]
    assert [n for n in range(200) if _primes.is_prime(n)] == small
    assert not _primes.is_prime(3_215_031_751 - 3_215_031_751 % 2)
    for pseudo in (2047, 1_373_653, 25_326_001):  # strong pseudoprimes to bases 2; 2,3; 2,3,5
        assert not _primes.is_prime(pseudo)
    found = [_primes.random_prime(np.random.default_rng(s)) for s in range(5)]
    assert all(1 << 30 < p < 1 << 31 for p in found)
    assert len(set(found)) == 5


@pytest.mark.parametrize(
    "query",
    [[1, 1], [1, 0, 0.5], [[1, 0], [0, 1]], [], [1, 0, np.nan], [1, 0, 2**30]],
)
def test_bad_queries_are_refused(query):
    with pytest.raises(ParameterError):
        SumAuditor(3).admit(query)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_atoms": 0},
        {"n_atoms": 2, "primes": 0},
        {"n_atoms": 2, "insiders": 2},
        {"n_atoms": 2, "protected": np.array([1, 0])},
        {"n_atoms": 2, "known": np.array([True])},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        SumAuditor(**settings)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_trackers_end_in_a_refusal(k):
    """T1 and T2: size control alone gives the target away; the audit refuses the last step."""
    rng = np.random.default_rng(k)
    values = rng.normal(size=60)
    target, tracker = np.zeros(60, bool), np.arange(60) < 30
    target[7] = True
    steps = [target | tracker, target | ~tracker, tracker, ~tracker]
    sizes = [step.sum() for step in steps]
    assert all(k <= size <= 60 - k for size in sizes), "every query passes size control"
    total = sum(values[s].sum() for s in steps[:2]) - sum(values[s].sum() for s in steps[2:])
    assert total == pytest.approx(values[7]), "and together they give the value away"
    auditor = SumAuditor(60)
    assert [auditor.admit(step).allowed for step in steps].count(False) >= 1
    allowed = SumAuditor(60)
    told = [s for s in steps if allowed.admit(s).allowed]
    assert np.linalg.matrix_rank([*told, target]) > np.linalg.matrix_rank(np.array(told))


def test_importing_the_auditor_is_light():
    code = (
        "import sys, tacit.query.auditor, tacit.query.interval_auditor, tacit.query.camouflage\n"
        "import tacit.query.diagnostics, tacit.query.audit_log\n"
        "heavy = {'numba', 'scipy', 'highspy', 'altair', 'sklearn'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

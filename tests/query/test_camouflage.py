import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.query.camouflage import Camouflage, Interval, interval_of_sums

sizes = st.integers(1, 40)
seeds = st.integers(0, 10_000)


def _case(n, seed, **more):
    rng = np.random.default_rng(seed)
    truth = rng.lognormal(3, 1, n) * rng.choice([-1, 1], n)
    choice = {
        "relative": 0.2,
        "k": int(rng.integers(3, 7)),
        "strata": int(rng.integers(1, min(n, 4) + 1)),
    }
    return truth, Camouflage.of(truth, **(choice | more), rng=rng), rng


def _mixtures(hidden, rng):
    """Vectors of the polytope: mixtures with the same weights within each stratum."""
    shares = rng.dirichlet(np.full(hidden.k, 0.5), hidden.n_strata)
    return (hidden.vectors * shares[hidden.strata]).sum(axis=1)


ANSWERS = {
    "total": (lambda h, s: h.total(s), lambda x, s: x[s].sum()),
    "mean": (lambda h, s: h.mean(s), lambda x, s: x[s].mean()),
    "variance": (lambda h, s: h.variance(s), lambda x, s: x[s].var()),
    "smallest": (lambda h, s: h.order_statistic(1, s), lambda x, s: x[s].min()),
    "largest": (lambda h, s: h.order_statistic(-1, s), lambda x, s: x[s].max()),
    "median": (lambda h, s: h.median(s), lambda x, s: np.median(x[s])),
    "above": (lambda h, s: h.count_above(10, s), lambda x, s: (x[s] > 10).sum()),
}


@pytest.mark.parametrize("query", ANSWERS)
@settings(max_examples=40, deadline=None)
@given(n=sizes, seed=seeds)
def test_the_truth_and_every_mixture_are_in_every_answer(query, n, seed):
    """The truth is never excluded, and no answer excludes any other vector of the polytope."""
    truth, hidden, rng = _case(n, seed)
    ask, true_answer = ANSWERS[query]
    chosen = rng.random(n) < 0.6
    chosen[rng.integers(n)] = True
    answer = ask(hidden, chosen)
    assert true_answer(truth, chosen) in answer
    room = 1e-9 * (1 + abs(answer.low) + abs(answer.high))
    for _ in range(5):
        other = true_answer(_mixtures(hidden, rng), chosen)
        assert answer.low - room <= other <= answer.high + room


@settings(max_examples=60, deadline=None)
@given(n=sizes, seed=seeds, relative=st.floats(0.05, 0.9), minimum=st.floats(0, 20))
def test_no_unit_is_known_more_closely_than_its_protection(n, seed, relative, minimum):
    truth, hidden, _ = _case(n, seed, relative=relative, minimum=minimum)
    for unit in range(n):
        answer = hidden.total([unit])
        assert truth[unit] in answer
        assert answer.width >= max(relative * abs(truth[unit]), minimum) * (1 - 1e-9)


@settings(max_examples=40, deadline=None)
@given(n=sizes, seed=seeds)
def test_the_range_of_linear_queries_is_reached(n, seed):
    """Not wider than need be: the ends are taken at vectors of the polytope."""
    _, hidden, rng = _case(n, seed)
    c = rng.normal(size=n)
    answer = hidden.linear(c)
    parts = [
        (hidden.vectors * c[:, None])[hidden.strata == s].sum(axis=0)
        for s in range(hidden.n_strata)
    ]
    assert answer.low == pytest.approx(sum(p.min() for p in parts))
    assert answer.high == pytest.approx(sum(p.max() for p in parts))


@pytest.mark.parametrize("seed", range(5))
def test_the_range_of_a_variance_is_reached_in_one_stratum(seed):
    """Against a dense grid of mixtures of three vectors."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(10, 3, 8)
    hidden = Camouflage.of(truth, relative=0.5, k=3, strata=1, rng=rng)
    steps = np.linspace(0, 1, 101)
    grid = np.array([(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1])
    found = (hidden.vectors @ grid.T).var(axis=0)
    answer = hidden.variance()
    assert answer.low <= found.min() <= answer.low * 1.001 + 1e-3
    assert answer.high == pytest.approx(found.max(), rel=1e-6)
    assert hidden.variance(ddof=1).high == pytest.approx(answer.high * 8 / 7)


def test_least_squares_coefficients_are_linear_queries():
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(300), rng.normal(size=300)])
    y = x @ [50.0, 4.0] + rng.normal(size=300)
    hidden = Camouflage.of(y, relative=0.2, rng=rng)
    solve = np.linalg.pinv(x)
    for row, beta in zip(solve, np.linalg.lstsq(x, y)[0], strict=True):
        assert beta in hidden.linear(row)
    assert hidden.linear(solve[0]).width < 5


def test_answers_do_not_depend_on_the_truth():
    """Only the made-up vectors are held: the object knows neither the values nor the weights."""
    truth, hidden, _ = _case(20, 1)
    held = [v for v in vars(hidden).values() if isinstance(v, np.ndarray)]
    assert not any(np.shape(v) == truth.shape and np.allclose(v, truth) for v in held)
    again = Camouflage(hidden.vectors, hidden.strata)
    assert again.total() == hidden.total()
    assert again.variance() == hidden.variance()


def test_equal_requests_have_equal_answers_and_the_secret_decides():
    truth = np.arange(1.0, 30.0)
    hidden = [Camouflage.of(truth, rng=np.random.default_rng(s)) for s in (1, 1, 2)]
    assert hidden[0].total() == hidden[0].total() == hidden[1].total()
    assert hidden[0].total() != hidden[2].total()


def test_missing_values_are_left_out():
    truth = np.array([10.0, np.nan, 20.0, np.nan])
    hidden = Camouflage.of(truth, rng=np.random.default_rng(0))
    assert 30 in hidden.total()
    assert 15 in hidden.mean()
    assert 25 in hidden.variance()
    assert hidden.total([1]) == Interval(0, 0)
    with pytest.raises(DataError, match="units with a value"):
        hidden.mean([1, 3])


def test_known_bounds_are_kept():
    rng = np.random.default_rng(0)
    truth = rng.lognormal(0, 2, 500)
    hidden = Camouflage.of(truth, relative=0.5, bounds=(0, np.inf), rng=rng)
    assert hidden.vectors.min() > 0
    shares = rng.uniform(20, 60, 100)
    hidden = Camouflage.of(shares, relative=0.3, bounds=(0, 100), rng=rng)
    assert hidden.vectors.max() <= 100
    with pytest.raises(ProtectionError, match="too near to a known bound"):
        Camouflage.of([0.0, 5.0], minimum=2, bounds=(0, np.inf), rng=rng)
    with pytest.raises(ProtectionError, match="minimum"):
        Camouflage.of([0.0, 5.0], rng=rng)
    assert 0 in Camouflage.of([0.0, 5.0], minimum=2, rng=rng).total([0])


def test_rounding_goes_outward():
    assert Interval(-12.3, 18.9).outward(5) == Interval(-15, 20)
    assert Interval(10, 20).outward(5) == Interval(10, 20)
    with pytest.raises(ParameterError):
        Interval(0, 1).outward(0)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_units(n):
    hidden = Camouflage.of(np.full(n, 7.0), rng=np.random.default_rng(0))
    assert 7.0 * n in hidden.total()
    if n:
        assert 7.0 in hidden.median()
        assert 0.0 in hidden.variance()
    else:
        with pytest.raises(DataError):
            hidden.mean()


def test_sums_of_a_database_give_the_same_answer():
    _, hidden, _ = _case(30, 4, strata=3)
    sums = [hidden.vectors[hidden.strata == s].sum(axis=0) for s in range(3)]
    answer = interval_of_sums(sums)
    assert answer.low == pytest.approx(hidden.total().low)
    assert answer.high == pytest.approx(hidden.total().high)


@pytest.mark.parametrize(
    ("values", "settings", "error"),
    [
        ([1.0, np.inf], {}, DataError),
        ([[1.0]], {}, DataError),
        ([1.0], {"relative": -1}, ParameterError),
        ([1.0], {"relative": 1.0}, ParameterError),
        ([1.0], {"minimum": np.nan}, ParameterError),
        ([1.0], {"k": 2}, ParameterError),
        ([1.0], {"insiders": 3, "k": 4}, ParameterError),
        ([1.0], {"strata": 2}, ParameterError),
        ([1.0], {"strata": [-1]}, ParameterError),
        ([1.0], {"weights": "round"}, ParameterError),
        ([1e20], {"relative": 1e-18}, ProtectionError),
    ],
)
def test_bad_settings_are_refused(values, settings, error):
    with pytest.raises(error):
        Camouflage.of(values, **settings)


@pytest.mark.parametrize("units", [[5], [-1], [0.5], [True], "all", [[0]]])
def test_bad_units_are_refused(units):
    with pytest.raises(ParameterError):
        Camouflage.of([1.0, 2.0, 3.0]).total(units)


def test_bad_queries_are_refused():
    hidden = Camouflage.of([1.0, 2.0, 3.0])
    for rank in (0, 4, -4):
        with pytest.raises(ParameterError, match="rank"):
            hidden.order_statistic(rank)
    with pytest.raises(ParameterError):
        hidden.linear([1, np.nan, 1])
    with pytest.raises(DataError):
        hidden.variance([0], ddof=1)
    with pytest.raises(ParameterError):
        Camouflage(np.ones((3, 1)))

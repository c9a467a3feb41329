"""Attacks on camouflage: midpoints (C1), insiders (C2), and weights guessed from the shape.

The attacker is given the made-up vectors outright; answers to enough queries reveal no more. The
baseline is what the server says by design: the middle of each unit's own interval.
"""

import numpy as np
import pytest
from scipy.optimize import least_squares

from tacit.query.camouflage import Camouflage

RUNS = 12


def _population(seed, n=200):
    rng = np.random.default_rng(seed)
    return rng.lognormal(3, 0.6, n), rng


def _error(estimate, truth):
    return float(np.median(np.abs(estimate - truth) / truth))


def _middles(hidden):
    ends = [hidden.total([i]) for i in range(len(hidden.strata))]
    return np.array([(e.low + e.high) / 2 for e in ends])


def _least_squares_of_midpoints(hidden, rng):
    """C1: intervals of random subsets, their midpoints, one linear system."""
    n = len(hidden.strata)
    chosen = rng.random((4 * n, n)) < 0.5
    answers = [hidden.total(c) for c in chosen]
    middles = [(a.low + a.high) / 2 for a in answers]
    return np.linalg.lstsq(chosen.astype(float), middles, rcond=None)[0]


def _median_over_runs(attack, runs=RUNS, n=200, **settings):
    found = []
    for seed in range(runs):
        truth, rng = _population(seed, n)
        hidden = Camouflage.of(truth, relative=0.2, rng=rng, **settings)
        found.append((_error(attack(hidden, rng), truth), _error(_middles(hidden), truth)))
    return np.median(found, axis=0)


def test_c1_the_centre_of_equal_weights_is_the_truth():
    truth, rng = _population(0)
    hidden = Camouflage.of(truth, weights="equal", strata=1, rng=rng)
    assert _error(hidden.vectors.mean(axis=1), truth) < 1e-12


def test_c1_midpoints_come_close_with_equal_weights_only():
    size = {"runs": 6, "n": 100}
    open_error, _ = _median_over_runs(
        _least_squares_of_midpoints, **size, weights="equal", strata=1
    )
    assert open_error < 0.03
    error, baseline = _median_over_runs(_least_squares_of_midpoints, **size)
    assert error > 1.5 * open_error
    assert error >= 0.85 * baseline, "unlimited queries tell no more than one interval a unit"


def test_c1_the_centre_of_skewed_weights_is_no_better_than_the_middle():
    error, baseline = _median_over_runs(lambda hidden, rng: hidden.vectors.mean(axis=1))
    assert error >= 0.85 * baseline


def test_c1_no_vector_comes_close():
    for j in range(3):
        error, baseline = _median_over_runs(lambda hidden, rng, j=j: hidden.vectors[:, j])
        assert error >= baseline


def _solve_weights(hidden, truth, known):
    """C2: known values and the vectors give the weights, and these give every value."""
    rows = np.vstack([hidden.vectors[known], np.ones(hidden.k)])
    weights = np.linalg.lstsq(rows, np.r_[truth[known], 1.0], rcond=None)[0]
    return hidden.vectors @ weights


@pytest.mark.parametrize("k", [3, 4, 6])
def test_c2_an_insider_with_k_less_1_values_knows_all_of_one_polytope(k):
    truth, rng = _population(k)
    hidden = Camouflage.of(truth, k=k, strata=1, rng=rng)
    estimate = _solve_weights(hidden, truth, np.arange(k - 1))
    assert _error(estimate, truth) < 1e-6


@pytest.mark.parametrize("insiders", [1, 2, 4])
def test_c2_as_many_insiders_as_allowed_for_do_not_solve_the_weights(insiders):
    """One unknown weight is left: the error falls to about half of the middle's, not to 0."""
    errors, baselines = [], []
    for seed in range(RUNS):
        truth, rng = _population(seed)
        hidden = Camouflage.of(truth, insiders=insiders, strata=1, rng=rng)
        rest = np.arange(insiders, len(truth))
        estimate = _solve_weights(hidden, truth, np.arange(insiders))
        errors.append(_error(estimate[rest], truth[rest]))
        baselines.append(_error(_middles(hidden)[rest], truth[rest]))
    assert np.median(errors) >= 0.3 * np.median(baselines), "knowledge helps, but it does not solve"


def test_c2_what_an_insider_solves_ends_at_the_stratum():
    truth, rng = _population(5)
    hidden = Camouflage.of(truth, k=3, rng=rng)
    assert hidden.n_strata == 4
    own = np.flatnonzero(hidden.strata == 0)
    estimate = _solve_weights(hidden, truth, own[:2])
    elsewhere = hidden.strata != 0
    assert _error(estimate[own], truth[own]) < 1e-6, "the own stratum is lost"
    assert _error(estimate[elsewhere], truth[elsewhere]) >= 0.75 * _error(
        _middles(hidden)[elsewhere], truth[elsewhere]
    )


def _guessed_weights(vectors):
    """Ours (C3): the attacker knows the method and that the logarithms of the values are normal,
    and chooses the weights under which they spread least."""
    k = vectors.shape[1]

    def weights(t):
        e = np.exp(np.r_[t, 0] - max(t.max(), 0))
        return 0.08 + (1 - 0.08 * k) * e / e.sum()

    def spread(t):
        return np.log(vectors @ weights(t[:-1])) - t[-1]

    starts = np.random.default_rng(0).normal(size=(3, k - 1))
    level = np.log(vectors).mean()
    fits = [least_squares(spread, np.r_[start, level]) for start in starts]
    return vectors @ weights(min(fits, key=lambda fit: fit.cost).x[:-1])


def _guess_by_stratum(hidden, rng):
    estimate = np.empty(len(hidden.strata))
    for s in range(hidden.n_strata):
        at = hidden.strata == s
        estimate[at] = _guessed_weights(hidden.vectors[at])
    return estimate


def test_c3_weights_of_one_large_polytope_can_be_guessed():
    truth, rng = _population(1, n=20_000)
    hidden = Camouflage.of(truth, strata=1, rng=rng)
    middle = (hidden.vectors.min(axis=1) + hidden.vectors.max(axis=1)) / 2
    assert _error(_guessed_weights(hidden.vectors), truth) < 0.4 * _error(middle, truth)


def test_c3_weights_of_small_strata_cannot():
    error, baseline = _median_over_runs(_guess_by_stratum)
    assert error >= 0.85 * baseline

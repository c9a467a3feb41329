"""Error of the risk estimates: exact and drawn sums, sign, calibration."""

import numpy as np
import pytest

from tacit.risk import _log_linear_error as errors
from tacit.risk._decomposable import DecomposableModel, KeyTable
from tacit.risk._log_linear_error import misjudgement, unique_risks


def test_risks_of_a_unique():
    first, second = unique_risks(np.array([0.02, 1e-9, 3.0]), 0.1)
    reach = np.array([0.02, 1e-9, 3.0]) * 9
    np.testing.assert_allclose(first, np.exp(-reach))
    np.testing.assert_allclose(second[[0, 2]], ((1 - np.exp(-reach)) / reach)[[0, 2]])
    assert second[1] == pytest.approx(1)


def test_second_risk_is_the_mean_reciprocal_of_a_poisson():
    reach = 2.7
    counts = np.random.default_rng(0).poisson(reach, 400_000) + 1
    # reach = mu (1 - pi) / pi with pi = 0.25
    assert unique_risks(np.array([0.9]), 0.25)[1][0] == pytest.approx(np.mean(1 / counts), rel=0.01)


def test_derivatives():
    x, d = np.array([1e-4, 0.5, 3.0, 20.0]), 1e-5
    for order in (0, 1):
        left, right = (errors._h2(x + s)[order] for s in (-d, d))
        np.testing.assert_allclose((right - left) / (2 * d), errors._h2(x)[order + 1], rtol=1e-4)


def independent_codes(n, levels, seed):
    rng = np.random.default_rng(seed)
    skewed = [rng.dirichlet(np.full(k, 1.0)) for k in levels]
    return np.column_stack([rng.choice(len(p), n, p=p) for p in skewed]).astype(np.int32)


def by_definition(model, fraction):
    table = model.table
    shape = tuple(table.cells.max(axis=0) + 1)
    f = np.zeros(shape)
    f[tuple(table.cells.T)] = table.counts
    f, mu = f.ravel(), model.fitted_everywhere()
    lam, rest = mu / fraction, 1 - fraction
    # B1 of Skinner and Shlomo, written out
    return np.sum(
        lam * np.exp(-lam) * rest * ((f - mu) + rest * ((f - mu) ** 2 - f) / (2 * fraction))
    )


def test_first_error_as_in_the_paper():
    table = KeyTable.of(independent_codes(500, (5, 6, 4), 1))
    model = DecomposableModel.independence(table)
    found = misjudgement(model, 0.1, np.random.default_rng(0))
    assert found.bias[0] == pytest.approx(by_definition(model, 0.1))


def test_drawn_cells_stand_in_for_all(monkeypatch):
    table = KeyTable.of(independent_codes(2000, (20, 15, 12, 10), 2))
    model = DecomposableModel.independence(table)
    exact = misjudgement(model, 0.1, np.random.default_rng(0))
    monkeypatch.setattr(errors, "_MANY_CELLS", 30_000)
    drawn = misjudgement(model, 0.1, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.bias, exact.bias, atol=0.25 * min(exact.spread))
    np.testing.assert_allclose(drawn.spread, exact.spread, rtol=0.1)


def test_right_models_are_not_rejected_too_simple_and_too_rich_ones_are():
    right, rich = [], []
    for seed in range(25):
        codes = independent_codes(1500, (12, 10, 9), seed)
        table = KeyTable.of(codes)
        simple = DecomposableModel.independence(table)
        *_, (saturated, _) = simple.path(0.0)
        right.append(misjudgement(simple, 0.1, np.random.default_rng(0)).standardised)
        rich.append(misjudgement(saturated, 0.1, np.random.default_rng(0)).standardised)
    assert np.mean(np.abs(right) > 1.96) < 0.2
    assert np.all(np.array(rich) < 0)
    dependent = independent_codes(1500, (12, 10, 9), 0)
    dependent[:, 1] = np.where(np.arange(1500) % 3, dependent[:, 0] % 10, dependent[:, 1])
    simple = DecomposableModel.independence(KeyTable.of(dependent))
    assert min(misjudgement(simple, 0.1, np.random.default_rng(0)).standardised) > 3


def test_everybody_in_the_file_leaves_no_error():
    model = DecomposableModel.independence(KeyTable.of(independent_codes(50, (3, 3), 0)))
    assert misjudgement(model, 1.0, np.random.default_rng(0)).size == 0

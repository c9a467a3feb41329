"""Gaussian copula."""

import numpy as np
import pytest

from tacit.mask.synthesis.copula import Margin, copula_draws

from .conftest import column


def test_margins_come_back():
    margin = Margin.of(column(["a", "b", "b", None]), 1)
    assert sorted(margin.values(np.array([0.1, 0.4, 0.6, 0.9])).tolist()) == [-1, 0, 1, 1]
    numbers = Margin.of(column([1.0, 2.0, None, 3.0]), 1)
    drawn = numbers.values(np.array([0.1, 0.25, 1.0]))
    assert np.isnan(drawn[0])
    assert drawn[1:].tolist() == [1, 3]


def test_perfect_correlation_is_kept():
    x = np.random.default_rng(1).normal(size=300)
    drawn = copula_draws(np.column_stack([x, x**3]), 500, np.random.default_rng(2))
    assert np.corrcoef(np.argsort(np.argsort(drawn.T)))[0, 1] > 0.999


def test_a_rare_class_has_no_place_on_the_scale():
    margin = Margin.of(column(["a"] * 5 + ["b"] * 2 + ["c"] * 3 + [None]), 3)
    drawn = margin.values(np.linspace(0.001, 0.999, 500))
    assert set(drawn) == {-1, 0, 2}
    assert (drawn == 0).mean() == pytest.approx(5 / 9, abs=0.01)

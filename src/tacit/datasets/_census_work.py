"""Work and income of the synthetic census."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.datasets._draw import pick_by

_EMPLOYED_BY_AGE = np.array([0.0, 0.10, 0.52, 0.84, 0.62, 0.11, 0.01])
"""Share with work at age 0-14, 15-17, 18-24, 25-54, 55-64, 65-74, 75-99."""

_OCCUPATION_BY_EDUCATION = [  # managers ... labourers, for low, middle and high education
    (1, 1, 3, 5, 25, 6, 18, 16, 25),
    (5, 4, 16, 17, 22, 3, 16, 10, 7),
    (12, 48, 19, 8, 7, 1, 2, 1, 2),
]
_PAY_BY_OCCUPATION = np.array([1.75, 1.35, 1.15, 0.95, 0.80, 0.70, 0.95, 0.90, 0.72])
_PAY_BY_EDUCATION = np.array([0.70, 0.75, 0.85, 1.0, 1.22, 1.45, 1.75])
_NOT_EMPLOYED = 9

_BRACKETS = ((10_000.0, 0.20), (30_000.0, 0.15), (80_000.0, 0.10))
"""From this income on, this much more of each further unit is due as tax."""


class Work(NamedTuple):
    """What a person does for a living."""

    occupation: np.ndarray
    employed: np.ndarray
    hours: np.ndarray
    income: np.ndarray
    taxes: np.ndarray


def drawn_work(
    age: np.ndarray,
    female: np.ndarray,
    education: np.ndarray,
    wage_level: np.ndarray,
    rng: np.random.Generator,
) -> Work:
    """Draw occupation, hours, income and taxes given who the person is and where they live."""
    level = np.searchsorted([3, 4], education, side="right")
    employed = rng.random(len(age)) < _chance_of_work(age, female, level)
    occupation = pick_by(rng, _OCCUPATION_BY_EDUCATION, level)
    hours = np.where(employed, _hours(age, female, rng), 0)
    pay = _PAY_BY_OCCUPATION[occupation] * _PAY_BY_EDUCATION[education] * wage_level
    income = np.where(employed, _incomes(pay, age, hours, rng), 0.0)
    occupation = np.where(employed, occupation, _NOT_EMPLOYED)
    return Work(occupation, employed, hours, income, _taxes(income, rng))


def _chance_of_work(age: np.ndarray, female: np.ndarray, level: np.ndarray) -> np.ndarray:
    band = np.searchsorted([15, 18, 25, 55, 65, 75], age, side="right")
    adjusted = _EMPLOYED_BY_AGE[band] * (0.88 + 0.08 * level - 0.08 * female)
    return np.asarray(np.clip(adjusted, 0, 1))


def _hours(age: np.ndarray, female: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    part_time = rng.random(len(age)) < np.where(age < 25, 0.4, np.where(female, 0.38, 0.12))
    full = np.where(rng.random(len(age)) < 0.6, 40, rng.normal(41, 6, len(age)))
    drawn = np.where(part_time, rng.normal(21, 6, len(age)), full)
    return np.clip(np.round(drawn), 2, 80).astype(np.int64)


def _incomes(
    pay: np.ndarray, age: np.ndarray, hours: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw lognormal incomes with a heavier, Pareto tail for one worker in fifty."""
    profile = np.exp(-(((age - 50) / 45.0) ** 2))
    typical = 30_000 * pay * profile * (np.maximum(hours, 1) / 40.0) ** 0.9
    drawn = typical * np.exp(rng.normal(0, 0.38, len(age)))
    tail = np.where(rng.random(len(age)) < 0.02, 1 + rng.pareto(1.8, len(age)), 1.0)
    return np.asarray(np.round(drawn * tail, 2))


def _taxes(income: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    due = sum(rate * np.maximum(income - start, 0) for start, rate in _BRACKETS)
    return np.asarray(np.round(due * rng.uniform(0.75, 1.0, len(income)), 2))

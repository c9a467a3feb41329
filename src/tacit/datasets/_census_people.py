"""Households of the synthetic census: who lives together, how old, with which schooling."""

from __future__ import annotations

import numpy as np

from tacit.datasets._draw import pick, pick_by

_SIZE_WEIGHTS = (0.33, 0.33, 0.15, 0.13, 0.045, 0.015)
_COUPLE_BY_SIZE = np.array([0.0, 0.0, 0.82, 0.78, 0.90, 0.92, 0.92])
"""Share of households of 0, 1, 2, ... persons in which a couple lives."""

_NEVER, _MARRIED, _DIVORCED, _WIDOWED = range(4)

_SCHOOLING = [  # weights of the seven levels by age band
    (1, 0, 0, 0, 0, 0, 0),  # 0-10
    (8, 92, 0, 0, 0, 0, 0),  # 11-14
    (1, 14, 80, 5, 0, 0, 0),  # 15-17
    (1, 3, 24, 70, 2, 0, 0),  # 18-21
    (1, 3, 13, 44, 25, 13, 1),  # 22-39
    (1, 6, 20, 46, 15, 10, 2),  # 40-64
    (4, 25, 26, 32, 7, 5, 1),  # 65-99
]

People = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def drawn_people(n: int, rng: np.random.Generator) -> People:
    """Draw household, age, sex (female or not), marital status and education of `n` persons."""
    household, position, size = _households(n, rng)
    couple = rng.random(n)[household] < _COUPLE_BY_SIZE[size]
    partnered = couple & (position <= 1)
    age = _ages(household, position, size, couple, rng)
    female = _sexes(household, position, partnered, age, rng)
    marital = _marital(household, partnered, age, rng)
    band = np.searchsorted([11, 15, 18, 22, 40, 65], age, side="right")
    return household, age, female, marital, pick_by(rng, _SCHOOLING, band)


def _households(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fill households until there are `n` persons; return household, place in it and its size."""
    sizes = pick(rng, _SIZE_WEIGHTS, n) + 1
    ends = np.cumsum(sizes)
    n_households = int(np.searchsorted(ends, n)) + 1 if n else 0
    sizes, starts = sizes[:n_households], (ends - sizes)[:n_households]
    if n:
        sizes[-1] = n - starts[-1]
    household = np.repeat(np.arange(n_households), sizes)
    return household, np.arange(n) - starts[household], sizes[household]


def _ages(
    household: np.ndarray,
    position: np.ndarray,
    size: np.ndarray,
    couple: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    head = position == 0
    kind = np.where(size == 1, 0, np.where(couple, np.where(size == 2, 1, 2), 3))
    head_age = (18 + pick_by(rng, _head_age_weights(), kind[head]))[household]
    noise = rng.normal(0, 1, len(household))
    partner_age = np.clip(head_age - 2 + 4 * noise, 18, 99)
    birth_gap = 27 + 4 * noise + 2.6 * (position - 1 - couple)
    child_age = np.clip(head_age - birth_gap, 0, np.minimum(head_age - 16, 69))
    age = np.where(head, head_age, np.where(couple & (position == 1), partner_age, child_age))
    return np.asarray(age, dtype=np.int64)


def _head_age_weights() -> np.ndarray:
    """Return the age weights (18 to 99) of heads: alone, couple, family, lone parent."""
    years = np.arange(18, 100)

    def bell(centre: float, spread: float) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * ((years - centre) / spread) ** 2) / spread)

    alone = 0.34 * bell(27, 6) + 0.26 * bell(46, 11) + 0.40 * bell(73, 10)
    couple = 0.32 * bell(30, 6) + 0.68 * bell(63, 11)
    return np.vstack([alone, couple, bell(42, 9), bell(41, 10)])


def _sexes(
    household: np.ndarray,
    position: np.ndarray,
    partnered: np.ndarray,
    age: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw who is female: most lone parents, most old people alone, one in most couples."""
    head = position == 0
    chance = np.where(partnered, 0.38, np.where(head & (age >= 65), 0.68, 0.52))
    drawn = rng.random(len(age)) < np.where(head, chance, 0.49)
    opposite = ~drawn[head][household]
    same = rng.random(len(age)) < 0.03
    return np.where(partnered & ~head, opposite ^ same, drawn)


def _marital(
    household: np.ndarray, partnered: np.ndarray, age: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    n = len(age)
    draw = rng.random(n)
    # Both members of a couple compare the same number with the age of the younger one.
    younger = np.full(n, 200)
    np.minimum.at(younger, household, np.where(partnered, age, 200))
    married = draw[household] < np.clip((younger[household] - 22) / 25, 0.12, 0.90)
    left = np.where(draw < 0.3 * _rising(age, 38, 5), _DIVORCED, _NEVER)
    widowed = rng.random(n) < 0.85 * _rising(age, 74, 6)
    alone = np.where(widowed & (age >= 30), _WIDOWED, left)
    status = np.where(partnered, np.where(married, _MARRIED, left), alone)
    return np.where(age < 18, _NEVER, status).astype(np.int64)


def _rising(age: np.ndarray, centre: float, spread: float) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp((centre - age) / spread)))

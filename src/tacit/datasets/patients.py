"""Patients: ten published records, or as many synthetic ones as wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.hierarchy import Intervals, Prefixes, Tree
from tacit.datasets._draw import (
    checked_count,
    generator,
    labelled,
    numbered_codes,
    pick,
    pick_by,
    scrambled,
    zipf_weights,
)

# Table A.1 of truta2003.
_TABLE_A1 = {
    "Name": ["John Wayne", "Mary Gore", "John Banks", "Jesse Casey", "Jack Stone",
             "Mike Kopi", "Angela Simms", "Nike Wood", "Mikhail Aaron", "Sam Pall"],
    "SSN": ["123456789", "323232323", "232345656", "333333333", "444444444",
            "666666666", "777777777", "888888888", "999999999", "100000000"],
    "Age": [44, 44, 55, 44, 55, 45, 25, 35, 55, 45],
    "State": ["MI", "MI", "MI", "MI", "MI", "MI", "IN", "MI", "MI", "MI"],
    "Diagnosis": ["AIDS", "Asthma", "AIDS", "Asthma", "Asthma",
                  "Diabetes", "Diabetes", "AIDS", "AIDS", "Tuberculosis"],
    "Income": [45500, 37900, 67000, 21000, 90000, 48000, 49000, 66000, 69000, 34000],
    "Billing": [1200, 2500, 3000, 1000, 900, 750, 1200, 2200, 4200, 3100],
}  # fmt: skip

_STATES = {  # state: (share, first two digits of its zip codes, part of the country)
    "MI": (0.22, 48, "Midwest"),
    "OH": (0.16, 44, "Midwest"),
    "IL": (0.15, 60, "Midwest"),
    "IN": (0.11, 46, "Midwest"),
    "WI": (0.08, 53, "Midwest"),
    "NY": (0.10, 12, "Northeast"),
    "PA": (0.08, 15, "Northeast"),
    "KY": (0.05, 40, "South"),
    "TN": (0.04, 37, "South"),
    "WV": (0.01, 25, "South"),
}
_N_ZIPS = 200
"""Zip codes per state."""

# fmt: off
_FEMALE = [
    "Mary", "Angela", "Linda", "Grace", "Olivia", "Emma", "Chloé", "Sofía", "Aisha", "Mei",
    "Ruth", "Helen", "Irene", "Naomi", "Zoë", "Priya", "Hanna", "Carmen", "Judith", "Ingrid",
]
_MALE = [
    "John", "Jesse", "Jack", "Mike", "Sam", "David", "Luis", "Omar", "Wei", "Paul", "Peter",
    "Andrés", "Noah", "Ivan", "Søren", "Raj", "Carlos", "Frank", "Henry", "Jürgen",
]
_SURNAMES = [
    "Smith", "Johnson", "Garcia", "Miller", "Brown", "Nguyen", "Kowalski", "Müller", "Rossi",
    "Lee", "Martin", "López", "Kim", "Patel", "Clark", "Lewis", "Walker", "Hall", "Young", "King",
    "Wright", "Hill", "Green", "Adams", "Baker", "Nelson", "Carter", "Mitchell", "Pérez",
    "Roberts", "Turner", "Phillips", "Campbell", "Parker", "Evans", "Edwards", "Collins",
    "Stewart", "Sánchez", "Morris", "Rogers", "Reed", "Cook", "Morgan", "Bell", "Murphy",
    "Bailey", "Rivera", "Cooper", "Cox", "Howard", "Ward", "Torres", "Peterson", "Gray",
    "Ramírez", "James", "Watson", "Brooks", "Kelly",
]
# fmt: on

_DIAGNOSES = {  # diagnosis: (typical billing, weight at age 0-17, 18-39, 40-64, 65-99)
    "Asthma": (900, 10, 6, 4, 3),
    "Influenza": (400, 12, 8, 5, 5),
    "Fracture": (3200, 8, 6, 4, 7),
    "Migraine": (600, 2, 6, 5, 2),
    "Depression": (1500, 2, 8, 7, 4),
    "Diabetes": (1800, 1, 3, 9, 12),
    "Hypertension": (800, 0.1, 2, 12, 18),
    "Heart disease": (9500, 0.2, 1, 6, 16),
    "Cancer": (14000, 0.3, 1, 5, 9),
    "Tuberculosis": (3100, 0.1, 0.5, 0.5, 0.6),
    "AIDS": (4200, 0.02, 0.9, 0.7, 0.1),
    "Pregnancy": (5200, 0.2, 9, 0.5, 0),
}


def patients(n: int | None = None, *, seed: int = 1) -> Microdata:
    """Return patients of a hospital, with their diagnosis, income and bill.

    Without `n` these are the ten records of Table A.1 of Truta, Fotouhi and Barth-Jones (2003).
    With `n` they are synthetic: the same columns and ``Sex`` and ``Zip``, resembling a hospital's
    discharge file (diagnosis depends on age and sex, the bill on the diagnosis, income on age).
    Nobody in it exists.

    Parameters
    ----------
    n
        Number of records; None for the published table.
    seed
        Same seed, same records.

    Examples
    --------
    >>> patients().schema.identifiers
    ['Name', 'SSN']
    >>> patients(1000).schema.keys
    ['Age', 'Sex', 'State', 'Zip']
    """
    import polars as pl

    if n is None:
        return _described(pl.DataFrame(_TABLE_A1), ["Age", "State"])
    rng = generator(seed)
    return _described(_drawn(checked_count(n), rng), ["Age", "Sex", "State", "Zip"])


def _described(frame: Any, keys: list[str]) -> Microdata:
    hierarchies = {
        "Age": Intervals(widths=(5, 10, 20)),
        "Sex": Tree(paths=[("F", "*"), ("M", "*")]),
        "State": Tree(paths=[(s, part, "*") for s, (_, _, part) in _STATES.items()]),
        "Zip": Prefixes(length=5, keep=(3, 2, 0)),
    }
    return (
        Microdata.of(frame)
        .with_roles(
            identifiers=["Name", "SSN"],
            keys=keys,
            confidential=["Diagnosis", "Income", "Billing"],
        )
        .with_kinds(Name="text", SSN="text")
        .with_hierarchies(**{key: hierarchies[key] for key in keys})
    )


def _drawn(n: int, rng: np.random.Generator) -> Any:
    import polars as pl

    age = _ages(n, rng)
    female = rng.random(n) < 0.53
    state = pick(rng, [share for share, _, _ in _STATES.values()], n)
    diagnosis = _diagnoses(age, female, rng)
    return pl.DataFrame(
        {
            "Name": _names(female, rng),
            # Numbers that begin with 9 were never issued as social security numbers.
            "SSN": numbered_codes("9", scrambled(n, _digits(n), rng), _digits(n)),
            "Age": age,
            "Sex": labelled(female.astype(np.int64), ["M", "F"]),
            "State": labelled(state, list(_STATES)),
            "Zip": _zips(state, rng),
            "Diagnosis": labelled(diagnosis, list(_DIAGNOSES)),
            "Income": _incomes(age, rng),
            "Billing": _bills(diagnosis, age, rng),
        }
    )


def _digits(n: int) -> int:
    return max(8, len(str(n)))


def _ages(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw ages of people in hospital: some children, many old people."""
    years = np.arange(100)
    weights = 0.9 - years / 160 + 1.6 * np.exp(-(((years - 67) / 17) ** 2))
    return pick(rng, weights, n)


def _names(female: np.ndarray, rng: np.random.Generator) -> Any:
    import polars as pl

    first = rng.integers(len(_MALE), size=len(female)) + len(_MALE) * female
    surname = pick(rng, zipf_weights(len(_SURNAMES), 0.6), len(female))
    parts = labelled(first, _MALE + _FEMALE), labelled(surname, _SURNAMES)
    return pl.select(pl.concat_str(parts, separator=" ")).to_series()


def _zips(state: np.ndarray, rng: np.random.Generator) -> Any:
    start = np.array([digits * 1000 for _, digits, _ in _STATES.values()])
    within = pick(rng, zipf_weights(_N_ZIPS, 0.7), len(state))
    return numbered_codes("", start[state] + 5 * within, 5)


def _diagnoses(age: np.ndarray, female: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    by_age = np.array([weights for _, *weights in _DIAGNOSES.values()]).T
    without_births = by_age.copy()
    without_births[:, list(_DIAGNOSES).index("Pregnancy")] = 0
    band = np.searchsorted([18, 40, 65], age, side="right")
    can_bear = female & (age >= 14) & (age < 48)
    return pick_by(rng, np.vstack([without_births, by_age]), band + 4 * can_bear)


def _incomes(age: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    peak = 10.5 - ((age - 48) / 38.0) ** 2
    drawn = np.exp(peak + rng.normal(0, 0.6, len(age)))
    return np.where(age < 16, 0, np.round(drawn / 100) * 100).astype(np.int64)


def _bills(diagnosis: np.ndarray, age: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    typical = np.array([bill for bill, *_ in _DIAGNOSES.values()])[diagnosis]
    drawn = typical * np.exp(rng.normal(0, 0.7, len(age)) + (age - 50) / 200)
    return np.asarray(np.round(drawn / 10) * 10, dtype=np.int64)

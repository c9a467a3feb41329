"""Census: persons in households, with a design weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.hierarchy import Intervals, Tree
from tacit.datasets._census_people import drawn_people
from tacit.datasets._census_work import drawn_work
from tacit.datasets._draw import (
    blanked,
    checked_count,
    checked_share,
    generator,
    labelled,
    numbered_codes,
    pick,
    zipf_weights,
)

_REGIONS = {  # region: (share of the population, typical weight, wage level)
    "North": (0.38, 140.0, 1.08),
    "East": (0.26, 95.0, 0.97),
    "South": (0.24, 75.0, 0.90),
    "Islands": (0.12, 40.0, 0.86),
}
_N_PROVINCES, _N_MUNICIPALITIES = 3, 5

EDUCATION = ("none", "primary", "lower secondary", "upper secondary",
             "bachelor", "master", "doctorate")  # fmt: skip
MARITAL = ("never married", "married", "divorced", "widowed")
OCCUPATIONS = ("managers", "professionals", "technicians", "clerks", "service workers", "farmers",
               "craft workers", "machine operators", "labourers", "not employed")  # fmt: skip
_LEVELS = ("low", "low", "low", "middle", "high", "high", "high")
_KEYS = ["region", "sex", "age", "education", "marital"]


def census(n: int = 1000, *, missing: float = 0.0, seed: int = 1) -> Microdata:
    """Return persons in households, resembling the public-use sample of a census.

    Fully synthetic. Members of a household share its number, region and weight; couples resemble
    each other in age; education, work and income depend on age, sex and region. ``income`` is
    the yearly gross income from work, zero for those without work, skewed for the others.

    Parameters
    ----------
    n
        Number of persons.
    missing
        Share of the values of the keys and of ``income`` that are missing, at random.
    seed
        Same seed, same records.

    Examples
    --------
    >>> data = census(500)
    >>> data.schema.keys
    ['region', 'sex', 'age', 'education', 'marital']
    >>> data.broken_constraints()
    {'income >= 0': 0, 'taxes >= 0': 0, 'income >= taxes': 0, ...}
    """
    n, missing = checked_count(n), checked_share(missing, "missing")
    rng = generator(seed)
    frame = _frame(n, rng)
    blanks = [blanked(frame[c], missing, rng) for c in [*_KEYS, "income"]]
    return _described(frame.with_columns(blanks))


def _described(frame: Any) -> Microdata:
    return (
        Microdata.of(frame)
        .with_roles(
            identifiers=["person_id"],
            keys=_KEYS,
            confidential=["income", "taxes"],
            non_confidential=["occupation", "employed", "hours"],
            weight="weight",
            household="household",
        )
        .with_kinds(person_id="text", household="nominal")
        .with_categories(education=EDUCATION)
        .with_hierarchies(
            region=Tree(paths=_places()),
            sex=Tree(paths=[("female", "*"), ("male", "*")]),
            age=Intervals(widths=(5, 10, 20)),
            education=Tree(paths=[(e, g, "*") for e, g in zip(EDUCATION, _LEVELS, strict=True)]),
            marital=Tree(paths=[(m, _together(m), "*") for m in MARITAL]),
        )
        .with_constraints(
            NonNegative(column="income"),
            NonNegative(column="taxes"),
            AtLeast(larger="income", smaller="taxes"),
            ZeroWhen(column="income", indicator="employed", equals=False),
            ZeroWhen(column="hours", indicator="employed", equals=False),
        )
    )


def _together(marital: str) -> str:
    return "married" if marital == "married" else "not married"


def _places() -> list[tuple[str, str, str, str]]:
    """Return the path of each municipality: its code, province, region, everywhere."""
    return [
        (f"{region[0]}{p}{m}", f"{region} {p}", region, "*")
        for region in _REGIONS
        for p in range(1, _N_PROVINCES + 1)
        for m in range(1, _N_MUNICIPALITIES + 1)
    ]


def _frame(n: int, rng: np.random.Generator) -> Any:
    import polars as pl

    household, age, female, marital, education = drawn_people(n, rng)
    place, weight = _places_and_weights(household, rng)
    wage_level = np.array([level for _, _, level in _REGIONS.values()])
    region = place // (_N_PROVINCES * _N_MUNICIPALITIES)
    work = drawn_work(age, female, education, wage_level[region], rng)
    return pl.DataFrame(
        {
            "person_id": numbered_codes("P", np.arange(1, n + 1), max(8, len(str(n)))),
            "household": household + 1,
            "region": labelled(place, [path[0] for path in _places()]),
            "sex": labelled(female.astype(np.int64), ["male", "female"]),
            "age": age,
            "education": labelled(education, EDUCATION),
            "marital": labelled(marital, MARITAL),
            "occupation": labelled(work.occupation, OCCUPATIONS),
            "employed": work.employed,
            "hours": work.hours,
            "income": work.income,
            "taxes": work.taxes,
            "weight": weight,
        }
    )


def _places_and_weights(
    household: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw where each household lives and how many households of the population it stands for."""
    n_households = int(household[-1]) + 1 if len(household) else 0
    within = np.outer(zipf_weights(_N_PROVINCES, 0.5), zipf_weights(_N_MUNICIPALITIES)).ravel()
    shares = np.array([share for share, _, _ in _REGIONS.values()])
    place = pick(rng, np.outer(shares, within / within.sum()).ravel(), n_households)
    typical = np.array([weight for _, weight, _ in _REGIONS.values()])
    base = typical[place // len(within)] * np.exp(rng.normal(0, 0.15, n_households))
    return place[household], np.round(base, 2)[household]

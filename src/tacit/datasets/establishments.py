"""Establishments: few giants, many small units, and turnover to match."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.core.hierarchy import Tree
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

_PARTS = {"North": 7, "Centre": 6, "Capital": 2, "South": 5, "Isles": 2}
"""Parts of the country and how many of the 22 districts each has."""

_SECTIONS = {  # section: (divisions, share of the units, median employees, turnover per employee)
    "A": ((1, 2, 3), 0.05, 2.0, 60_000),
    "C": ((10, 13, 16, 20, 25, 28), 0.13, 9.0, 160_000),
    "F": ((41, 42, 43), 0.13, 4.0, 110_000),
    "G": ((45, 46, 47), 0.27, 3.0, 240_000),
    "H": ((49, 52, 53), 0.06, 4.0, 130_000),
    "I": ((55, 56), 0.11, 4.0, 55_000),
    "J": ((61, 62, 63), 0.05, 3.0, 150_000),
    "M": ((69, 70, 71, 72), 0.12, 2.0, 95_000),
    "Q": ((86, 87, 88), 0.08, 6.0, 60_000),
}
_CLASSES_PER_DIVISION = 5

_LEGAL_FORMS = ("sole trader", "partnership", "limited company", "public company", "cooperative")
_LEGAL_BY_SIZE = [  # weights at 1-4, 5-49, 50-249, 250 and more employees
    (62, 12, 24, 0.2, 1.8),
    (20, 15, 61, 1, 3),
    (2, 8, 78, 8, 4),
    (0.2, 4, 55, 38, 3),
]
SIZE_CLASSES = ("1", "2-4", "5-9", "10-19", "20-49", "50-99",
                "100-249", "250-499", "500-999", "1000+")  # fmt: skip
_SIZE_STARTS = (2, 5, 10, 20, 50, 100, 250, 500, 1000)


def establishments(n: int = 1000, *, negatives: bool = False, seed: int = 1) -> Microdata:
    """Return establishments, resembling the frame of a structural business survey.

    Fully synthetic. 22 districts in five parts of the country, activities coded like NACE
    (section, division, class), legal form, size class, and very skewed turnover: a few giants make
    up much of most totals, and size, district, legal form and branch together single out most
    large establishments. Some establishments belong to a holding with others.

    Parameters
    ----------
    n
        Number of establishments.
    negatives
        Whether some values of ``investment`` and ``result`` are below zero.
    seed
        Same seed, same records.

    Examples
    --------
    >>> data = establishments(500)
    >>> data.schema.keys
    ['district', 'nace', 'legal_form', 'size_class', 'employees']
    >>> data.schema["district"].hierarchy.n_levels
    3
    """
    if not isinstance(negatives, bool):
        raise ParameterError("negatives must be true or false", got=repr(negatives))
    frame = _frame(checked_count(n), negatives, generator(seed))
    return _described(frame, [] if negatives else ["investment", "result"])


def _described(frame: Any, never_negative: list[str]) -> Microdata:
    rules = [NonNegative(column=c) for c in ["turnover", "wages", "exports", *never_negative]]
    return (
        Microdata.of(frame)
        .with_roles(
            identifiers=["establishment_id"],
            keys=["district", "nace", "legal_form", "size_class", "employees"],
            confidential=["turnover", "wages", "exports", "investment", "result"],
            non_confidential=["exporter"],
            household="holding",
        )
        .with_kinds(establishment_id="text", holding="nominal")
        .with_categories(size_class=SIZE_CLASSES)
        .with_hierarchies(
            district=Tree(paths=_districts()),
            nace=Tree(paths=_activities()),
            size_class=Tree(paths=[(s, _coarse_size(i), "*") for i, s in enumerate(SIZE_CLASSES)]),
        )
        .with_constraints(
            *rules,
            AtLeast(larger="turnover", smaller="exports"),
            ZeroWhen(column="exports", indicator="exporter", equals=False),
        )
    )


def _districts() -> list[tuple[str, str, str]]:
    parts = [part for part, count in _PARTS.items() for _ in range(count)]
    return [(f"D{number:02d}", part, "*") for number, part in enumerate(parts, 1)]


def _activities() -> list[tuple[str, str, str, str]]:
    """Return the path of each activity: class, division, section, everything."""
    return [
        (f"{division:02d}.{number}0", f"{division:02d}", section, "*")
        for section, (divisions, *_) in _SECTIONS.items()
        for division in divisions
        for number in range(1, _CLASSES_PER_DIVISION + 1)
    ]


def _coarse_size(code: int) -> str:
    return "small" if code < 5 else "medium" if code < 7 else "large"


def _frame(n: int, negatives: bool, rng: np.random.Generator) -> Any:
    import polars as pl

    activity, section = _drawn_activities(n, rng)
    employees = _employees(section, rng)
    turnover = _turnover(employees, section, rng)
    exporter, exports = _exports(employees, turnover, rng)
    legal = pick_by(rng, _LEGAL_BY_SIZE, np.searchsorted([5, 50, 250], employees, side="right"))
    digits = max(8, len(str(n)))
    return pl.DataFrame(
        {
            "establishment_id": numbered_codes("E", scrambled(n, digits, rng), digits),
            "holding": _holdings(employees, rng),
            "district": labelled(pick(rng, zipf_weights(22, 0.8), n), [d[0] for d in _districts()]),
            "nace": labelled(activity, [a[0] for a in _activities()]),
            "legal_form": labelled(legal, _LEGAL_FORMS),
            "size_class": labelled(_size_codes(employees), SIZE_CLASSES),
            "employees": employees,
            "turnover": turnover,
            "wages": np.round(employees * 24_000 * np.exp(rng.normal(0, 0.3, n))),
            "exporter": exporter,
            "exports": exports,
            "investment": _signed(turnover * rng.beta(0.6, 12, n), 0.02, negatives, rng),
            "result": _signed(turnover * rng.beta(1.2, 14, n), 0.10, negatives, rng),
        }
    )


def _drawn_activities(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the activity of each unit, with the position of its section."""
    section_of, weights = [], []
    for position, (divisions, share, *_) in enumerate(_SECTIONS.values()):
        within = np.outer(zipf_weights(len(divisions), 0.5), zipf_weights(_CLASSES_PER_DIVISION))
        weights.append(share * within.ravel() / within.sum())
        section_of += [position] * within.size
    activity = pick(rng, np.concatenate(weights), n)
    return activity, np.array(section_of)[activity]


def _employees(section: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw sizes: lognormal, with one unit in fifty from a Pareto tail."""
    median = np.array([size for *_, size, _ in _SECTIONS.values()])[section]
    body = median * np.exp(rng.normal(0, 1.15, len(section)))
    tail = 50 * (1 + rng.pareto(1.3, len(section)))
    drawn = np.where(rng.random(len(section)) < 0.02, tail, body)
    return np.clip(np.round(drawn), 1, 20_000).astype(np.int64)


def _turnover(employees: np.ndarray, section: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    per_head = np.array([amount for *_, amount in _SECTIONS.values()])[section]
    spread = np.exp(rng.normal(0, 0.8, len(section)))
    return np.asarray(np.round(per_head * employees**1.06 * spread))


def _exports(
    employees: np.ndarray, turnover: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    exporter = rng.random(len(employees)) < 0.04 + 0.5 * employees / (employees + 80.0)
    return exporter, np.where(exporter, np.round(turnover * rng.beta(1, 3, len(employees))), 0.0)


def _size_codes(employees: np.ndarray) -> np.ndarray:
    return np.searchsorted(_SIZE_STARTS, employees, side="right")


def _holdings(employees: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw who owns each unit: most stand alone, large ones more often share a holding."""
    n = len(employees)
    shared = rng.random(n) < 0.06 + 0.4 * employees / (employees + 150.0)
    n_holdings = max(1, int(shared.sum()) // 4)
    owner = pick(rng, zipf_weights(n_holdings, 0.7), n)
    return np.where(shared, owner, n_holdings + np.arange(n)) + 1


def _signed(
    amount: np.ndarray, share: float, negatives: bool, rng: np.random.Generator
) -> np.ndarray:
    """Round amounts and, on request, turn a share of them below zero."""
    below = rng.random(len(amount)) < share
    return np.round(np.where(below & negatives, -amount, amount))

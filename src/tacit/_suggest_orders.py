"""Categories that have a known order: scales of words, and classes that begin with a number."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SCALES = (
    """none, no, no schooling, illiterate, keine | preschool, pre primary | primary,
    elementary, primary school, grundschule, primaria, primaire | lower secondary, middle school,
    junior high | secondary, hauptschule, secundaria, secondaire | upper secondary, high school,
    realschule, hs grad | vocational, lehre, apprenticeship | post secondary, some college, abitur,
    bachillerato | short cycle tertiary, associate | tertiary, college, university, higher |
    bachelor, licence, licenciatura | master, diplom | doctorate, doctoral, phd, doktorat""",
    """very low, sehr niedrig | low, niedrig, gering, bajo, bas | lower middle | medium, middle,
    mittel, medio, moyen | upper middle | high, hoch, alto, haut | very high, sehr hoch""",
    "very small, micro | small, klein | medium, mittel | large, gross | very large",
    """never, nie | rarely, seldom, selten | sometimes, occasionally, manchmal | often,
    frequently, oft | very often | always, immer""",
    """very poor, very bad, sehr schlecht | poor, bad, schlecht | fair, average, moderate, ok,
    mittel | good, gut | very good, sehr gut | excellent""",
    """strongly disagree | disagree | somewhat disagree | neutral, neither agree nor disagree |
    somewhat agree | agree | strongly agree""",
    """very dissatisfied | dissatisfied | neutral | satisfied | very satisfied""",
    "infant | child | adolescent, teenager, youth | young adult | adult | senior, elderly",
)
"""Scales from low to high; words of the same rank have commas between them."""
_RANKS = tuple(
    {
        " ".join(word.split()): rank
        for rank, words in enumerate(scale.split("|"))
        for word in words.split(",")
    }
    for scale in _SCALES
)
_FIRST_NUMBER = re.compile(r"^\W{0,3}(?:[a-z]+\W{0,2})?(\d+(?:\.\d+)?)")
_BELOW = re.compile(r"^(?:<|≤|under|below|less|up to|bis|unter|moins|menos)")
_FEWEST, _MOST = 3, 60


def known_order(values: Iterable[str], *, numbered: bool) -> tuple[str, ...] | None:
    """Return the categories lowest first, where words or numbers tell their order.

    Parameters
    ----------
    values
        The different values of a column.
    numbered
        Whether classes that begin with a number are ordered by it, as those of age are.

    Examples
    --------
    >>> known_order(["high", "low", "medium"], numbered=False)
    ('low', 'medium', 'high')
    >>> known_order(["65+", "under 18", "18-64"], numbered=True)
    ('under 18', '18-64', '65+')
    >>> known_order(["red", "green", "blue"], numbered=True) is None
    True
    """
    found = list(values)
    if not _FEWEST <= len(found) <= _MOST:
        return None
    plain = {value: _plain(value) for value in found}
    for ranks in _RANKS:
        places = {value: _rank(text, ranks) for value, text in plain.items()}
        if None not in places.values():
            return _sorted({value: (rank or 0, 0) for value, rank in places.items()})
    numbers = {value: _number(value) for value in found} if numbered else {}
    return _sorted({v: n for v, n in numbers.items() if n is not None}, len(found))


def _plain(value: str) -> str:
    """Return a label in small letters, without marks and words that tell nothing apart."""
    words = re.sub(r"[\W_]+", " ", value.lower()).split()
    return " ".join(word for word in words if word not in ("education", "degree", "level", "s"))


def _rank(text: str, ranks: dict[str, int]) -> int | None:
    return ranks.get(text, ranks.get(text.removesuffix("s")))


def _number(value: str) -> tuple[float, int] | None:
    text = value.strip().lower()
    number = _FIRST_NUMBER.match(text.replace("up to", "below"))
    return None if number is None else (float(number[1]), -1 if _BELOW.match(text) else 0)


def _sorted(places: dict[str, tuple[float, int]], wanted: int = 0) -> tuple[str, ...] | None:
    """Return values by their place, unless two share one or some have none."""
    if not places or len(set(places.values())) < max(len(places), wanted):
        return None
    return tuple(sorted(places, key=places.__getitem__))

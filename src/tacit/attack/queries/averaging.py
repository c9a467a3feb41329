"""Averaging of queries: the same set in other words, until the noise is gone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker
from tacit.attack.target import QueryTarget

_SILENT = 5
"""Divisions that are not answered, after which the set is given up."""


class QueryAveraging(
    Attack,
    key="query-averaging",
    title="Averaging of equivalent queries",
    cites=("asghar2020", "fraser2006"),
):
    r"""Average answers about the same people asked for in different ways.

    Missing values: a category of its own. Weights: not used. Households: not considered.

    Notes
    -----
    A set is asked for as it is, and divided in two by subsets of the categories of another
    variable, whose counts are added up; the mean of :math:`m` such answers has noise that falls
    with :math:`m` unless it sticks to the set, or free lists of categories are refused
    [asghar2020]_. The rounded mean succeeds if it is the true count; guessing takes the single
    answer for the truth.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> found = attack.QueryAveraging().run(
    ...     (tacit.datasets.census(2000), query.Policy.named("strict"))
    ... )
    >>> found.leaked
    False
    """

    kind: ClassVar[type] = QueryTarget
    remedy: ClassVar[str] = (
        "Let noise stick to the set of units, allow whole categories only, and keep a ledger of "
        "draws (guards cell-key, whole-categories, ledger)."
    )

    ways: Annotated[int, Ge(1)] = 40
    """Ways in which each set is asked for."""
    most: Annotated[int, Ge(1)] = 40
    """Sets that are asked for."""

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no two variables."""
        found = _set_and_splitter(target)
        return None if found else "there is no variable with four categories to divide sets by"

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Ask for each category of a variable in many ways."""
        found = _set_and_splitter(target)
        name, splitter = found or ("", "")
        asker = Asker(target.open(), knowledge.queries)
        hits, single, answered = [], [], 0
        for value, size in islice(target.levels(name).items(), self.most):
            answers = list(islice(_answers(asker, target, name, value, splitter), self.ways))
            first = _told(asker, name, {name: value}, value)
            answered += len(answers)
            single.append(first == size)
            usable = [*answers, *([] if first is None else [first])]
            hits.append(bool(usable) and round(float(np.mean(usable))) == size)
        return Outcome(
            hits=np.array(hits, dtype=float), guesses=np.array(single, dtype=float), unit="count",
            question=f"Average {self.ways} answers about each category of {name}",
            worst=f"{sum(hits)} of {len(hits)} counts are right on average, {sum(single)} at once",
            warnings=asker.warnings(),
            details={**asker.told(), "answers": answered},
        )  # fmt: skip


def _set_and_splitter(target: QueryTarget) -> tuple[str, str] | None:
    """Return a variable whose categories are counted, and one that divides them."""
    categories = {
        name: len(target.levels(name))
        for name, told in target.variables.items()
        if "categories" in told
    }
    if len(categories) < 2:
        return None
    name = max(categories, key=lambda n: categories[n])
    left = {n: k for n, k in categories.items() if n != name and k >= 4}
    return (name, max(left, key=lambda n: left[n])) if left else None


def _answers(
    asker: Asker, target: QueryTarget, name: str, value: str, splitter: str
) -> Iterator[float]:
    """Yield counts of a set put together from two parts, divided in many ways."""
    levels = np.array(list(target.levels(splitter)))
    rng = np.random.default_rng(0)
    silent = 0
    for _ in range(200):
        chosen = rng.random(len(levels)) < 0.5
        if chosen.all() or not chosen.any():
            continue
        parts = [
            _told(asker, name, {name: value, splitter: [str(v) for v in levels[side]]}, value)
            for side in (chosen, ~chosen)
        ]
        if None in parts:
            silent += 1
            if silent >= _SILENT:
                return
            continue
        yield float(sum(p for p in parts if p is not None))


def _told(asker: Asker, name: str, universe: dict[str, Any], value: str) -> float | None:
    found = asker.counts(name, universe)
    return None if found is None else found.get(value)

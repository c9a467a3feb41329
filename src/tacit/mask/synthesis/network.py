"""Bayesian networks: each variable has few parents, and is drawn given them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from tacit.core.keys import group_ids
from tacit.mask.synthesis.columns import Column, common_classes
from tacit.mask.synthesis.dependence import coarse_levels, dependence
from tacit.mask.synthesis.predictors import Coding, Records
from tacit.mask.synthesis.synthesisers import cart
from tacit.mask.synthesis.synthesisers.model import Bounds, Settings, Target

_MOST_COUNTED = 50_000


def learnt_parents(
    columns: Mapping[str, Column], most: int, rng: np.random.Generator
) -> list[tuple[str, tuple[str, ...]]]:
    """Choose an order and parents greedily by mutual information.

    Each new variable is the one that the variables before it tell most about; it gets up to `most`
    parents, one after another, as long as they tell more than chance would.
    """
    names = list(columns)
    n = len(columns[names[0]].values)
    rows = np.arange(n) if n <= _MOST_COUNTED else rng.choice(n, _MOST_COUNTED, replace=False)
    levels = {name: coarse_levels(columns[name], rows) for name in names}
    related = dependence(columns, rng)
    first = int(np.argmax(related.sum(axis=1)))
    chosen, left = [names[first]], [i for i in range(len(names)) if i != first]
    found: list[tuple[str, tuple[str, ...]]] = [(names[first], ())]
    place = {name: i for i, name in enumerate(names)}
    while left:
        following = max(left, key=lambda j: float(related[j, [place[c] for c in chosen]].max()))
        left.remove(following)
        name = names[following]
        found.append((name, _parents(name, chosen, levels, most)))
        chosen.append(name)
    return found


def _parents(
    name: str, candidates: list[str], levels: Mapping[str, np.ndarray], most: int
) -> tuple[str, ...]:
    parents: list[str] = []
    known = np.zeros((len(levels[name]), 0), dtype=np.int64)
    best = 0.0
    for _ in range(min(most, len(candidates))):
        scores = {
            c: _information(levels[name], np.column_stack([known, levels[c]]))
            for c in candidates
            if c not in parents
        }
        winner = max(scores, key=lambda c: scores[c])
        if scores[winner] <= best:
            break
        best = scores[winner]
        parents.append(winner)
        known = np.column_stack([known, levels[winner]])
    return tuple(parents)


def _information(child: np.ndarray, parents: np.ndarray) -> float:
    """Return the mutual information less what chance would give, three standard errors included."""
    n = len(child)
    parent = group_ids(parents)[0]
    joint = group_ids(np.column_stack([parent, child]))[0]
    parts = [np.bincount(codes) for codes in (parent, child, joint)]
    entropies = [_entropy(c, n) for c in parts]
    cells = [int(np.sum(c > 0)) for c in parts]
    # 2n times the information of independent variables is about chi-square with this many degrees
    degrees = max(cells[2] - cells[0] - cells[1] + 1, 0)
    by_chance = (degrees + 3 * np.sqrt(2 * degrees)) / (2 * n)
    return float(entropies[0] + entropies[1] - entropies[2] - by_chance)


def _entropy(counts: np.ndarray, n: int) -> float:
    shares = counts[counts > 0] / n
    return float(-np.sum(shares * np.log(shares)))


@dataclass(frozen=True)
class Network:
    """Conditional distributions, in the order of drawing."""

    nodes: tuple[tuple[Column, tuple[Coding, ...], cart.Tree | None, cart.Tree | None], ...]

    @classmethod
    def of(
        cls, columns: dict[str, Column], most: int, settings: Settings, rng: np.random.Generator
    ) -> Self:
        """Learn structure and distributions."""
        codings = {name: Coding.of(column) for name, column in columns.items()}
        n = len(next(iter(columns.values())).values)
        records = Records.of({name: c.values for name, c in columns.items()}, n)
        nodes = []
        for name, parents in learnt_parents(columns, most, rng):
            given = tuple(codings[p] for p in parents)
            nodes.append(
                (columns[name], given, *_learnt(columns[name], records, given, settings, rng))
            )
        return cls(tuple(nodes))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw records; each is a unit of its own."""
        records = Records.of({}, n)
        free = Bounds.none(n)
        for column, parents, value, gaps in self.nodes:
            view = records.view(parents)
            drawn = column.blank(n) if value is None else value.draw(view, free, rng)
            if column.is_class:
                drawn = np.where(drawn >= column.n_levels, -1, drawn).astype(np.int64)
            else:
                drawn = column.on_grid(drawn)
            if gaps is not None:
                drawn = np.where(gaps.draw(view, free, rng) == 1, np.nan, drawn)
            records.put(column.name, drawn)
        return records.values, np.arange(n)


def _learnt(
    column: Column, records: Records, parents: tuple[Coding, ...], settings: Settings,
    rng: np.random.Generator,
) -> tuple[cart.Tree | None, cart.Tree | None]:  # fmt: skip
    """Return the distribution of the values, and that of the gaps of numbers."""
    view, values = records.view(parents), column.values
    if column.is_class:
        kept = np.flatnonzero(common_classes(column, values, settings.common_category)[values])
        codes = np.where(values < 0, column.n_levels, values)[kept]
        return cart.fit(Target(codes, column.n_levels + 1), view.take(kept), settings, rng), None
    missing = np.isnan(values)
    known = np.flatnonzero(~missing)
    gaps = None
    if missing.any():
        gaps = cart.fit(Target(missing.astype(np.int64), 2), view, settings, rng)
    if not len(known):
        return None, gaps
    return cart.fit(Target(values[known], 0), view.take(known), settings, rng), gaps

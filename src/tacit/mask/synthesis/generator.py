"""A fitted file: draws whole records, or whole units of several records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.dependence import best_predictors, dependence, learnt_visit
from tacit.mask.synthesis.edits import Edits, arranged
from tacit.mask.synthesis.sequential import Design, SequentialModel, fitted
from tacit.mask.synthesis.synthesisers.model import Settings
from tacit.mask.synthesis.units import Units, shared_columns

_SIZE, _PLACE = "\0size of the unit", "\0place in the unit"


@dataclass(frozen=True)
class Wishes:
    """What the user has said about the sequence."""

    method: str = "cart"
    methods: Mapping[str, str] | None = None
    visit: tuple[str, ...] | None = None
    learn_visit: bool = False
    predictors: Mapping[str, tuple[str, ...]] | None = None
    most_predictors: int = 20
    events: Mapping[str, str] | None = None

    def design(
        self, columns: Mapping[str, Column], given: list[str], edits: Edits,
        rng: np.random.Generator, drawn: list[str] | None = None,
    ) -> Design:  # fmt: skip
        """Decide the order, and the predictors of each variable."""
        names = list(columns)
        drawn = [c for c in names if c not in given] if drawn is None else drawn
        many = len(names) > self.most_predictors + 1
        related = dependence(columns, rng) if many or self.learn_visit else np.eye(len(names))
        visit = arranged(self._visit(names, drawn, related), [*edits.before, *self._ends_first])
        declared = self.predictors or {}
        chosen = {}
        for i, name in enumerate(visit):
            known = [*(g for g in given if g != name), *visit[:i]]
            if name in declared:
                chosen[name] = tuple(c for c in known if c in declared[name])
            else:
                chosen[name] = best_predictors(name, known, names, related, self.most_predictors)
            chosen[name] = self._with_event(name, chosen[name])
        methods = {name: self._method(name) for name in visit}
        return Design(tuple(visit), chosen, methods, self.events or {})

    def _method(self, name: str) -> str:
        if name in (_SIZE, _PLACE):  # counts, whatever the user's variables are
            return "cart"
        return (self.methods or {}).get(name, self.method)

    def _with_event(self, name: str, chosen: tuple[str, ...]) -> tuple[str, ...]:
        event = (self.events or {}).get(name)
        return chosen if event is None or event in chosen else (*chosen, event)

    @property
    def _ends_first(self) -> list[tuple[str, str]]:
        return [(event, time) for time, event in (self.events or {}).items()]

    def _visit(self, names: list[str], drawn: list[str], related: np.ndarray) -> list[str]:
        if self.visit is not None:
            first = [c for c in self.visit if c in drawn]
            return first + [c for c in drawn if c not in first]
        if self.learn_visit:
            return [c for c in learnt_visit(names, related) if c in drawn]
        return drawn


@dataclass(frozen=True)
class FlatGenerator:
    """Draws records one by one."""

    model: SequentialModel

    def draw(self, n: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw records; each is a unit of its own."""
        return self.model.draw({}, n, rng), np.arange(n)


@dataclass(frozen=True)
class UnitGenerator:
    """Draws units with what their records share, then the records."""

    outer: SequentialModel
    inner: SequentialModel

    def draw(self, n: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw units; return their records and the unit of each."""
        about = self.outer.draw({}, n, rng)
        units = Units(np.maximum(about[_SIZE].astype(np.int64), 1))
        given = {name: values[units.unit] for name, values in about.items()}
        given[_PLACE] = units.place
        values = self.inner.draw(given, len(units.unit), rng, units)
        return {k: v for k, v in values.items() if k not in (_SIZE, _PLACE)}, units.unit


def flat_generator(
    columns: Mapping[str, Column], edits: Edits, wishes: Wishes, settings: Settings,
    rng: np.random.Generator,
) -> FlatGenerator:  # fmt: skip
    """Learn a file of independent records."""
    design = wishes.design(columns, [], edits, rng)
    return FlatGenerator(fitted(columns, design, edits, settings, rng))


def unit_generator(
    columns: Mapping[str, Column], units: Units, edits: Edits, wishes: Wishes,
    settings: Settings, rng: np.random.Generator,
) -> UnitGenerator:  # fmt: skip
    """Learn a file whose records stand unit by unit."""
    shared = shared_columns(columns, units)
    own = [name for name in columns if name not in shared]
    sizes = _counts(_SIZE, units.sizes)
    outer = {_SIZE: sizes, **{name: _first_of(columns[name], units) for name in shared}}
    first = fitted(outer, wishes.design(outer, [], edits, rng), edits, settings, rng)
    inner = {
        _SIZE: _counts(_SIZE, units.sizes[units.unit]),
        _PLACE: _counts(_PLACE, units.place),
        **{name: columns[name] for name in [*shared, *own]},
    }
    given = [_SIZE, _PLACE, *shared]
    design = wishes.design(inner, given, edits, rng, own)
    return UnitGenerator(first, fitted(inner, design, edits, settings, rng, units))


def _counts(name: str, counts: np.ndarray) -> Column:
    """Return whole numbers as a column; they are drawn as they are, being no one's secret."""
    import polars as pl

    levels = pl.Series(name, np.arange(int(counts.max(initial=0)) + 1))
    return Column(name, counts.astype(np.int64), len(levels), True, levels)


def _first_of(column: Column, units: Units) -> Column:
    return replace(column, values=column.values[units.starts])

"""Variables drawn one after another, each from a model given those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tacit.core.progress import track
from tacit.mask.synthesis.columns import Column, common_classes
from tacit.mask.synthesis.edits import Edits
from tacit.mask.synthesis.predictors import Coding, Records, View
from tacit.mask.synthesis.synthesisers.choice import has_spikes, models_of
from tacit.mask.synthesis.synthesisers.model import (
    Bounds,
    Fit,
    Fitted,
    Settings,
    Target,
    shared_numbers,
)
from tacit.mask.synthesis.units import Units

_SPIKE = 0.1
"""A number that so large a share of the records has is a state of its own."""
_MOST_SPIKES = 5
_MOST_REDRAWS = 10
"""Draws of a value that no rule forbids; after these a class is drawn from all records."""
_SPECIAL = 2
"""States 0 and 1 are any other number, and missing; the frequent numbers follow."""


@dataclass(frozen=True)
class Step:
    """The models of one variable."""

    column: Column
    predictors: tuple[Coding, ...]
    relatives: tuple[Coding, ...]
    """The same variable of the unit's previous and first record, where units have several."""
    spikes: np.ndarray
    """The frequent numbers."""
    state: Fitted | None
    """Which records are missing or have a frequent number; None if there are none."""
    value: Fitted | None
    """The value itself; None if no record has one."""

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw the values of new records."""
        if self.column.is_class:
            return self._classes(new, bounds, rng)
        states = np.zeros(new.n, dtype=np.int64)
        if self.state is not None:
            states = self.state.draw(new, bounds, rng).astype(np.int64)
        drawn = np.concatenate([np.full(_SPECIAL, np.nan), self.spikes])[states]
        rows = np.flatnonzero(states == 0)
        if len(rows) and self.value is not None:
            values = self.value.draw(new.take(rows), bounds.take(rows), rng)
            drawn[rows] = self.column.on_grid(values)
        return np.asarray(np.clip(drawn, bounds.low, bounds.high))

    def _classes(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        if self.value is None:
            return np.full(new.n, -1, dtype=np.int64)
        drawn = self.value.draw(new, bounds, rng).astype(np.int64)
        return np.where(drawn >= self.column.n_levels, -1, drawn)


@dataclass(frozen=True)
class SequentialModel:
    """All models, in the order of the visit."""

    steps: tuple[Step, ...]
    edits: Edits

    def draw(
        self, given: Mapping[str, np.ndarray], n: int, rng: np.random.Generator,
        units: Units | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Draw records; variables in `given` stay as they are."""
        records = Records.of(given, n)
        for step in self.steps:
            name = step.column.name
            bounds = self.edits.bounds(name, records.values, n)
            if units is None or not step.relatives:
                drawn = step.draw(records.view(step.predictors), bounds, rng)
            else:
                drawn = _drawn_in_turn(step, records, bounds, units, rng)
            fixed = np.zeros(n, dtype=bool)
            for where, value in self.edits.forced(name, records.values):
                drawn[where] = value
                fixed |= where
            self._draw_forbidden_again(step, records, bounds, units, drawn, fixed, rng)
            records.put(name, drawn)
        return records.values

    def _draw_forbidden_again(
        self, step: Step, records: Records, bounds: Bounds, units: Units | None,
        drawn: np.ndarray, fixed: np.ndarray, rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Draw values again that make an impossible combination, those that are fixed excepted."""
        name = step.column.name
        for turn in range(2 * _MOST_REDRAWS):
            forbidden = self.edits.forbidden(name, {**records.values, name: drawn})
            if forbidden is None:
                return
            rows = np.flatnonzero(forbidden & ~fixed)
            if not len(rows):
                return
            if turn < _MOST_REDRAWS:
                view = records.view(step.predictors).take(rows)
                new = view if units is None else _with_relatives(view, step, units, drawn, rows)
                drawn[rows] = step.draw(new, bounds.take(rows), rng)
            elif step.column.is_class:  # nobody in the leaf has a value that is allowed
                drawn[rows] = rng.choice(step.column.values, len(rows))


def _drawn_in_turn(
    step: Step, records: Records, bounds: Bounds, units: Units, rng: np.random.Generator
) -> np.ndarray:
    """Draw the first record of each unit, then the second given the first, and so on."""
    view = records.view(step.predictors)
    drawn = step.column.blank(records.n)
    for rows in units.by_place:
        new = _with_relatives(view.take(rows), step, units, drawn, rows)
        drawn[rows] = step.draw(new, bounds.take(rows), rng)
    return drawn


def _with_relatives(
    view: View, step: Step, units: Units, drawn: np.ndarray, rows: np.ndarray
) -> View:
    """Put the values of relatives beside the predictors of some records."""
    seen = Records.of({}, len(rows))
    for coding, values in zip(step.relatives, units.relatives(drawn, rows), strict=True):
        seen.put(coding.name, values)
    return view.with_more(seen.view(step.relatives))


# -- fitting --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """What is drawn from what, and how."""

    visit: tuple[str, ...]
    """Variables to draw, in this order."""
    predictors: Mapping[str, tuple[str, ...]]
    """For each of them the variables it is predicted from."""
    methods: Mapping[str, str]
    """For each of them the key of its model."""
    events: Mapping[str, str]
    """For durations the column that says how they ended."""


def fitted(
    columns: Mapping[str, Column],
    design: Design,
    edits: Edits,
    settings: Settings,
    rng: np.random.Generator,
    units: Units | None = None,
) -> SequentialModel:
    """Fit all models to the original."""
    n = len(next(iter(columns.values())).values)
    records = Records.of({name: column.values for name, column in columns.items()}, n)
    rows = np.arange(n)
    if settings.proper:
        rows = rng.integers(0, n, n) if units is None else units.resampled(rng)
    codings = {name: Coding.of(column) for name, column in columns.items()}
    steps = []
    with track("learning the variables", len(design.visit)) as advance:
        for name in design.visit:
            predictors = [codings[p] for p in design.predictors[name]]
            relatives = () if units is None else _relatives(codings[name], units, records)
            view = records.view([*predictors, *relatives])
            known = {p: records.values[p] for p in columns}
            free = np.ones(n, dtype=bool)
            for where, _ in edits.forced(name, known):
                free &= ~where
            column = columns[name]
            steps.append(
                _fitted_step(
                    column,
                    column.values if units is None else units.once(column.values),
                    view,
                    rows[free[rows]],
                    len(predictors),
                    design.methods[name],
                    models_of(column, design.methods[name], design.events),
                    settings,
                    rng,
                )
            )
            advance(1)
    return SequentialModel(tuple(steps), edits)


def _relatives(coding: Coding, units: Units, records: Records) -> tuple[Coding, ...]:
    """Put the values of a unit's previous and first record beside those of each record."""
    codings = (coding.named(f"\0previous {coding.name}"), coding.named(f"\0first {coding.name}"))
    everyone = np.arange(records.n)
    for relative, values in zip(
        codings, units.relatives(records.values[coding.name], everyone), strict=True
    ):
        records.put(relative.name, values)
    return codings


def _fitted_step(
    column: Column,
    held: np.ndarray,
    view: View,
    rows: np.ndarray,
    n_predictors: int,
    key: str,
    models: tuple[Fit, Fit],
    settings: Settings,
    rng: np.random.Generator,
) -> Step:
    """Fit the models of a variable; `held` are its values, each once for whoever has it."""
    fit_value, fit_state = models
    predictors, relatives = view.codings[:n_predictors], view.codings[n_predictors:]
    none = np.empty(0)
    if column.is_class:
        is_common = common_classes(column, held, settings.common_category)
        rows = rows[is_common[column.values[rows]]]
        model = None
        if len(rows):
            values = column.values[rows]
            target = Target(np.where(values < 0, column.n_levels, values), column.n_levels + 1)
            model = fit_value(target, view.take(rows), settings, rng)
        drawable = replace(column, values=column.values[is_common[column.values]])
        return Step(drawable, predictors, relatives, none, None, model)
    values = column.values[rows]
    shared = shared_numbers(held, settings.common)
    spikes = _spikes(values, shared) if has_spikes(key) else none
    states = _states(values, spikes)
    state = value = None
    if states.any():
        target = Target(states, _SPECIAL + len(spikes))
        state = fit_state(target, view.take(rows), settings, rng)
    regular = rows[states == 0]
    if len(regular):
        target = Target(column.values[regular], 0, shared)
        value = fit_value(target, view.take(regular), settings, rng)
    return Step(column, predictors, relatives, spikes, state, value)


def _spikes(values: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """Return the numbers that a large share of the records has, and not one person alone."""
    distinct, sizes = np.unique(values[np.isin(values, shared)], return_counts=True)
    often = np.argsort(-sizes, kind="stable")[:_MOST_SPIKES]
    return np.sort(distinct[often[sizes[often] >= _SPIKE * len(values)]])


def _states(values: np.ndarray, spikes: np.ndarray) -> np.ndarray:
    """Return the states: 0 any other number, 1 missing, from 2 the frequent numbers."""
    states = np.isnan(values).astype(np.int64)
    for number, spike in enumerate(spikes):
        states[values == spike] = _SPECIAL + number
    return np.asarray(states)

"""A release: protected data with the evidence of how they were made and how safe they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.block_release import is_beyond_memory, measured
from tacit.core.bundle import save_bundle
from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, TacitError
from tacit.core.families import Measure
from tacit.core.measurement import Measurement
from tacit.core.method import methods
from tacit.core.progress import track
from tacit.core.scorecard import Scorecard

if TYPE_CHECKING:
    from tacit.core.plan import Plan


@dataclass(frozen=True)
class Step:
    """One thing that was done."""

    description: str
    """What was done, with its parameters; stays inside."""
    public_note: str
    """What users of the release may know."""
    seconds: float
    """How long it took."""
    n_records: int
    """Number of records after it."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """How many records have another value now, for each column that changed."""


@dataclass(frozen=True, eq=False)
class Release:
    """Protected data, made from an original by a plan and a seed."""

    original: Microdata
    """The confidential data."""
    data: Microdata
    """The protected data, with their schema."""
    plan: Plan
    """The methods, in order."""
    seed: int
    """The secret that reproduces the release; never published."""
    steps: tuple[Step, ...]
    """What was done."""
    copies: tuple[Microdata, ...] = ()
    """Further data sets, made alike with other random numbers (multiple imputation)."""
    blocks: int | None = None
    """Records in a block, where the plan was applied block by block."""

    @property
    def frame(self) -> Any:
        """The protected data as the kind of frame that came in."""
        return self.data.frame

    @property
    def data_sets(self) -> tuple[Microdata, ...]:
        """All data sets of the release: one, unless a method asks for several."""
        return (self.data, *self.copies)

    @property
    def each(self) -> tuple[Release, ...]:
        """Each data set as a release of its own."""
        if not self.copies:
            return (self,)
        return tuple(replace(self, data=data, copies=()) for data in self.data_sets)

    @cached_property
    def rows(self) -> np.ndarray:
        """For each released record the original record it came from, -1 for a simulated one."""
        rows = self.data.rows
        if rows is None:
            return np.full(self.data.n_records, -1, dtype=np.int64)
        return rows

    @property
    def newly_broken(self) -> dict[str, int]:
        """Edit rules that records break now whose originals kept them, with their number."""
        if self.copies:
            return _most([release.newly_broken for release in self.each])
        before, after = self.original.breaking_records(), self.data.breaking_records()
        if not after:
            return {}
        real = np.flatnonzero(self.rows >= 0)
        for rule, broken in after.items():
            if rule in before:
                broken[real] &= ~before[rule][self.rows[real]]
        return {rule: int(broken.sum()) for rule, broken in after.items() if broken.any()}

    def measure(self, measures: Iterable[Measure] | None = None) -> Scorecard:
        """Measure risk and utility; by default with every default measure that fits the roles.

        Measures that a method of the plan calls for are default ones too. Of several data sets
        the worst one counts. Beyond memory, risk is measured in the engine where the measure can,
        and utility on a sample.
        """
        if measures is None and is_beyond_memory(self):
            return measured(self)
        chosen = _default_measures(self.plan) if measures is None else _distinct(measures)
        taken: dict[str, list[Measurement]] = {"risk": [], "utility": []}
        before: dict[str, Measurement] = {}
        left_out: dict[str, str] = {}
        with track("measuring", len(chosen)) as advance:
            for measure in chosen:
                objection = measure.objection(self.original)
                if objection is None:
                    try:
                        after = worst([measure.measure(self.original, r) for r in self.each])
                        if measure.family == "risk":
                            before[measure.key] = measure.measure(self.original)
                        taken[measure.family].append(after)
                    except TacitError as error:
                        objection = str(error)
                if objection is not None:
                    left_out[measure.key] = objection
                advance(1)
        return Scorecard(tuple(taken["risk"]), tuple(taken["utility"]), before, left_out)

    def save(self, folder: str | Path, *, format: str = "csv", force: bool = False) -> Path:
        """Write ``public/`` (for users) and ``dossier/`` (stays inside), whole or not at all.

        Parameters
        ----------
        folder
            A folder that does not exist yet.
        format
            Key of the file format of the data: ``csv``, ``parquet``, ...
        force
            Replace an earlier release in that folder.
        """
        return save_bundle(self, Path(folder), format=format, force=force)


def worst(found: list[Measurement]) -> Measurement:
    """Return the worst of the measurements of several data sets, and say what all of them were."""
    if len(found) == 1:
        return found[0]
    sign = 1.0 if found[0].better == "lower" else -1.0
    values = np.array([sign * measurement.value for measurement in found])
    at = 0 if np.isnan(values).all() else int(np.nanargmax(values))
    details = {**found[at].details, "data_sets": [m.value for m in found]}
    # Values per released record would stand beside those of another data set.
    of_others = at > 0 and found[at].units == "released"
    return replace(found[at], details=details, per_unit=None if of_others else found[at].per_unit)


def _most(counts: list[dict[str, int]]) -> dict[str, int]:
    rules = dict.fromkeys(rule for found in counts for rule in found)
    return {rule: max(found.get(rule, 0) for found in counts) for rule in rules}


def _default_measures(plan: Plan) -> list[Measure]:
    called = {key for method in plan.methods for key in method.calls_for}
    found = [*methods("risk"), *methods("utility")]
    return [m() for m in found if issubclass(m, Measure) and (m.default or m.key in called)]


def _distinct(measures: Iterable[Measure]) -> list[Measure]:
    """Refuse variants of one measure, which a card that looks measures up by key would mix up."""
    chosen = list(measures)
    keys = [measure.key for measure in chosen]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ParameterError(
            "a scorecard holds each measure once",
            got=", ".join(twice),
            do="measure the variants one after the other",
        )
    return chosen

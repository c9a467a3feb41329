"""Evaluate one plan: apply it, sharing the work of equal first steps, and measure the release."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import TacitError
from tacit.core.plan import Plan
from tacit.core.release import Release
from tacit.core.rng import step_generator
from tacit.tradeoff.objective import Condition, Known, Objective

_MOST_CELLS = 20_000_000
"""Values that remembered prefixes may hold together."""


@dataclass(frozen=True, eq=False)
class Job:
    """One plan to be evaluated on one sample with one seed."""

    plan: Plan
    records: int
    """Size of the sample; the whole file where it has as many records."""
    replicate: int

    @cached_property
    def key(self) -> str:
        """A name for the job that is the same in every process."""
        steps = [method.as_step() for method in self.plan]
        text = json.dumps([steps, self.records, self.replicate], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Result:
    """What came out of a job, as plain numbers."""

    risk: float
    utility: float
    conditions: tuple[float, ...] = ()
    parts: dict[str, float] = field(default_factory=dict)
    is_random: bool = False
    seconds: float = 0.0
    """Of the processor, which depend less on what else the machine does."""
    error: str | None = None

    @property
    def is_usable(self) -> bool:
        """Whether the plan could be applied and measured."""
        return self.error is None and bool(np.isfinite(self.risk) and np.isfinite(self.utility))


@dataclass
class Setting:
    """What all jobs of a search share; it travels to other processes once."""

    samples: dict[int, Microdata]
    """The records of each stage, by their number."""
    risk: Objective
    utility: Objective
    conditions: tuple[Condition, ...]
    seeds: tuple[int, ...]
    """Seed of each replicate."""


class Evaluator:
    """Apply and measure plans, remembering what plans with equal first steps share."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._prefixes: OrderedDict[tuple[Any, ...], tuple[Microdata, bool]] = OrderedDict()
        self.steps_applied = 0
        self.steps_saved = 0

    def evaluate(self, job: Job) -> Result:
        """Return the numbers of one job; a plan that fails says why."""
        started = time.process_time()
        try:
            return self._measured(job, started)
        except TacitError as error:
            said = str(error)
        except Exception as error:  # one broken method must not end a search over many
            said = f"a bug in a method: {type(error).__name__}: {error}"
        nothing = float("nan")
        return Result(nothing, nothing, seconds=time.process_time() - started, error=said)

    def _measured(self, job: Job, started: float) -> Result:
        release, is_random = self.released(job)
        setting, original = self._setting, release.original
        known: Known = {}
        risk, risk_parts = setting.risk.value(original, release, known)
        utility, utility_parts = setting.utility.value(original, release, known)
        conditions = tuple(c.value(original, release, known) for c in setting.conditions)
        seconds = time.process_time() - started
        parts = risk_parts | utility_parts
        return Result(risk, utility, conditions, parts, is_random, seconds)

    def released(self, job: Job) -> tuple[Release, bool]:
        """Return the release, the same that ``plan.apply`` gives, and whether it drew numbers."""
        original, seed = self._setting.samples[job.records], self._setting.seeds[job.replicate]
        steps = list(job.plan)
        address = (job.records, job.replicate)
        done, current, is_random = self._longest_prefix(address, steps, original)
        for number in range(done, len(steps)):
            generator = step_generator(seed, number)
            before = _state(generator)
            current = steps[number].apply(current, generator).in_memory()
            is_random = is_random or _state(generator) != before
            self.steps_applied += 1
            if number + 1 < len(steps):
                self._remember((*address, *_texts(steps[: number + 1])), current, is_random)
        self.steps_saved += done
        return Release(original, current, job.plan, seed, ()), is_random

    def _longest_prefix(
        self, address: tuple[int, int], steps: Sequence[Any], original: Microdata
    ) -> tuple[int, Microdata, bool]:
        texts = _texts(steps)
        for done in range(len(steps) - 1, 0, -1):
            found = self._prefixes.get((*address, *texts[:done]))
            if found is not None:
                self._prefixes.move_to_end((*address, *texts[:done]))
                return done, *found
        start = original.numbered()
        return 0, start.drop(start.schema.identifiers), False

    def _remember(self, key: tuple[Any, ...], data: Microdata, is_random: bool) -> None:
        self._prefixes[key] = (data, is_random)
        cells = max(1, data.n_records * len(data.columns))
        while len(self._prefixes) * cells > _MOST_CELLS and len(self._prefixes) > 1:
            self._prefixes.popitem(last=False)


def _texts(steps: Sequence[Any]) -> tuple[str, ...]:
    return tuple(json.dumps(s.as_step(), sort_keys=True, default=str) for s in steps)


def _state(generator: np.random.Generator) -> tuple[str, int]:
    """Return what tells whether numbers were drawn, or children made."""
    bits = generator.bit_generator
    made = getattr(bits.seed_seq, "n_children_spawned", 0)
    return repr(bits.state), int(made)

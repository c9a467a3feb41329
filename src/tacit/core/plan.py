"""A plan: methods in order, applied to data to give a release."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.atomic import write_text
from tacit.core.changes import changed_values
from tacit.core.data import Microdata
from tacit.core.errors import (
    DataError,
    ParameterError,
    PlanError,
    SchemaError,
    UnknownColumnError,
    nearest,
)
from tacit.core.families import Mask
from tacit.core.method import Method, build
from tacit.core.progress import Advance, track
from tacit.core.release import Release, Step
from tacit.core.rng import fresh_seed, step_generator

_FORMAT = 1


@dataclass(frozen=True, init=False)
class Plan:
    """A list of masking methods; the order matters and is kept.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> plan = tacit.Plan([mask.Mdav(columns=["Age"], k=2), mask.Sample(fraction=0.8)])
    >>> release = plan.apply(tacit.datasets.patients(), seed=7)
    >>> len(release.frame)
    8
    """

    methods: tuple[Mask, ...]

    def __init__(self, methods: Iterable[Mask | Mapping[str, Any]] = ()) -> None:
        if isinstance(methods, Method | str | Mapping):
            raise ParameterError(
                "a plan is a list of masking methods",
                got=repr(methods),
                do="put it into a list, even if it is the only one",
            )
        built = tuple(m if isinstance(m, Mask) else _build(m) for m in methods)
        object.__setattr__(self, "methods", built)

    def __iter__(self) -> Iterator[Mask]:
        return iter(self.methods)

    def __len__(self) -> int:
        return len(self.methods)

    def apply(self, data: Any, *, seed: int | None = None, blocks: int | None = None) -> Release:
        """Apply the methods in order and return the release.

        Direct identifiers are removed first, always. The same data, plan and seed give the same
        release; without a seed a fresh secret one is drawn and kept in the dossier.

        Parameters
        ----------
        data
            Microdata, or any frame (which then has no roles yet).
        seed
            A nonnegative whole number.
        blocks
            For data beyond memory (DuckDB, Spark): records in a block. Methods then work in the
            engine or block by block, and those that cannot are refused. The same seed and blocks
            give the same records in any engine.
        """
        original = Microdata.of(data)
        seed = fresh_seed() if seed is None else _checked_seed(seed)
        if blocks is not None:
            from tacit.core.block_plan import apply_in_blocks

            return apply_in_blocks(self, original, seed, blocks)
        current, steps = original.numbered(), []
        identifiers = current.schema.identifiers
        if identifiers:
            current = without_identifiers(current, identifiers)
            note = f"Direct identifiers removed: {', '.join(identifiers)}"
            steps.append(Step(note, "Direct identifiers removed", 0.0, len(current)))
        n_sets = max((method.n_data_sets for method in self.methods), default=1)
        made = []
        with (
            track("applying the plan", n_sets * len(self.methods)) as advance,
            explaining(identifiers),
        ):
            for copy in range(n_sets):
                made.append(self._made(current, seed, copy, advance))
        data, done = made[0]
        copies = tuple(data for data, _ in made[1:])
        return Release(original, data, self, seed, (*steps, *done), copies)

    def _made(
        self, current: Microdata, seed: int, copy: int, advance: Advance
    ) -> tuple[Microdata, list[Step]]:
        """Apply the methods once, with the random numbers of one of the data sets."""
        original, steps = current, []
        for number, method in enumerate(self.methods):
            started = time.perf_counter()
            before = current
            drawn = copy if _draws_data_sets(method) else 0
            current = method.apply(before, step_generator(seed, number, drawn)).in_memory()
            seconds = time.perf_counter() - started
            changed = changed_values(before, current)
            note = method.public_note()
            steps.append(Step(method.describe(), note, seconds, len(current), changed))
            advance(1)
        for method in self.methods:
            method.check_release(original, current)
        return current, steps

    # -- TOML -----------------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Write the plan as TOML."""
        import tomli_w

        steps = [method.as_step() for method in self.methods]
        return tomli_w.dumps({"format": _FORMAT, "step": steps})

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """Read a plan from TOML text."""
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"the plan is not valid TOML: {error}") from error
        unknown = set(content) - {"format", "step"}
        if unknown:
            raise PlanError(
                f"a plan file has no entry {min(unknown)!r}",
                do=nearest(min(unknown), ["format", "step"]),
            )
        if content.get("format", _FORMAT) != _FORMAT:
            raise PlanError(
                "the plan was written for another version", got=f"format {content['format']}"
            )
        steps = content.get("step", [])
        if not isinstance(steps, list) or not all(isinstance(s, dict) for s in steps):
            raise PlanError("the steps of a plan are written as [[step]] tables")
        return cls(steps)

    def save(self, path: str | Path) -> None:
        """Write the plan to a TOML file."""
        write_text(Path(path), self.to_toml())

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan from a TOML file."""
        path = Path(path)
        if not path.is_file():
            raise PlanError("there is no plan file", got=str(path))
        try:
            return cls.from_toml(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise PlanError(f"the plan file is not UTF-8 text: {path}") from error


def without_identifiers(data: Microdata, identifiers: list[str]) -> Microdata:
    """Drop the direct identifiers, or refuse where nothing else is there."""
    if len(identifiers) == len(data.columns):
        raise DataError(
            "every column is an identifier, so nothing is left to release",
            got=", ".join(identifiers),
            do="give the columns to release another role",
        )
    return data.drop(identifiers)


@contextmanager
def explaining(identifiers: list[str]) -> Iterator[None]:
    """Say why an identifier that a step asks for is not there."""
    try:
        yield
    except UnknownColumnError as error:
        if error.column not in identifiers:
            raise
        raise SchemaError(
            f"{error.column!r} is an identifier, which is removed before the first step",
            do="leave it out of the plan, or give it another role",
        ) from error


def _draws_data_sets(method: Mask) -> bool:
    """Whether a method is made to draw each data set of a release anew.

    All others do the same in every data set: noise drawn m times could be averaged away, and m
    samples of the same people would show m times as many of them.
    """
    return type(method).n_data_sets is not Mask.n_data_sets


def _build(step: Mapping[str, Any]) -> Mask:
    if not isinstance(step, Mapping):
        raise ParameterError("a plan is a list of masking methods", got=repr(step))
    method = build(step, "mask")
    if not isinstance(method, Mask):
        raise ParameterError(f"{method.key!r} is not a masking method")
    return method


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("the seed must be a whole number, 0 or above", got=repr(seed))
    return int(seed)

"""The family of attacks: what an intruder would do, run by the custodian first."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from tacit.attack.finding import Finding, Outcome, Rate
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import MicrodataTarget, Target, target_of
from tacit.core.errors import DataError
from tacit.core.measurement import counted
from tacit.core.method import Method

_WORTH_A_WORD = 0.05
"""Success over guessing that is told even where chance may explain it."""
_BROKEN = 0.5
"""A unit counts as broken if the attack is right about it more likely than not."""


class Attack(Method):
    """Try to learn something about single people or firms, and compare with guessing."""

    family: ClassVar[str] = "attack"
    verb: ClassVar[str] = "run"
    kind: ClassVar[type[Any]] = MicrodataTarget
    """What it attacks: a release of microdata, tables, or a server."""
    remedy: ClassVar[str] = ""
    """What would stop it, in a sentence."""
    every_set: ClassVar[bool] = False
    """Whether it uses all data sets of a release that has several, or the first one only."""

    @classmethod
    def in_audit(cls) -> list[Self]:
        """Return the attacks that an audit carries out: one, or one for each way of attacking."""
        return [cls(**cls.example)]

    @property
    def in_words(self) -> str:
        """Which way of attacking it is, where an audit tries several; nothing for the usual one."""
        return ""

    @property
    def label(self) -> str:
        """The key, and which way of attacking it is."""
        return f"{self.key} ({self.in_words})" if self.in_words else self.key

    def repeats(self, target: Any, knowledge: Knowledge) -> bool:
        """Say whether the usual way does the same on this target, so that an audit skips this."""
        return False

    def run(self, target: Any, knowledge: Knowledge | None = None) -> Finding:
        """Attack and report how often it succeeded, beside what could be guessed anyway.

        Parameters
        ----------
        target
            A release, ``(original, released)``, protected tables, or ``(data, policy)``.
        knowledge
            What the intruder knows; by default a strong one.
        """
        made, known = target_of(target), knowledge or Knowledge()
        objection = self.refusal(made, known)
        if objection is not None:
            raise DataError(f"{self.key} does not apply: {objection}")
        started = time.perf_counter()
        outcome = self._saying_sets(self.attacked(made, known), made)
        return self._finding(outcome, time.perf_counter() - started)

    def refusal(self, target: Target, knowledge: Knowledge) -> str | None:
        """Say why this attack makes no sense on this target, or nothing if it does."""
        if not isinstance(target, self.kind):
            return "it attacks another kind of target"
        return self.objection(target, knowledge)

    def objection(self, target: Any, knowledge: Knowledge) -> str | None:
        """Say why this attack makes no sense on a target of its kind."""
        return None

    @abstractmethod
    def attacked(self, target: Any, knowledge: Knowledge) -> Outcome:
        """Attack a target of the right kind."""

    def _saying_sets(self, outcome: Outcome, target: Target) -> Outcome:
        """Say how many data sets of the release were used, where it has several."""
        n_sets = len(target.data_sets) if isinstance(target, MicrodataTarget) else 1
        if n_sets == 1:
            return outcome
        used = {**outcome.details, "data_sets": n_sets if self.every_set else 1}
        if self.every_set:
            return replace(outcome, details=used)
        first = f"Of the {n_sets} data sets of the release only the first was attacked."
        return replace(outcome, details=used, warnings=(*outcome.warnings, first))

    def _finding(self, outcome: Outcome, seconds: float) -> Finding:
        hits = np.asarray(outcome.hits, dtype=float)
        places = np.arange(len(hits)) if outcome.positions is None else outcome.positions
        guesses, rate = outcome.guesses, Rate.counted if outcome.exact else Rate.of
        baseline = (
            rate(np.asarray(guesses, dtype=float))
            if isinstance(guesses, np.ndarray)
            else Rate.known(float(guesses), len(hits))
        )
        found = Finding(
            key=self.key, title=", ".join(filter(None, (self.title, self.in_words))),
            question=outcome.question, success=rate(hits),
            baseline=baseline, unit=outcome.unit, broken=np.asarray(places)[hits > _BROKEN],
            worst=outcome.worst, remedy=" ".join(filter(None, (self.remedy, outcome.remedy))),
            details=outcome.details, warnings=outcome.warnings, seconds=seconds,
        )  # fmt: skip
        return replace(found, warnings=(*found.warnings, *_too_few(found)))


def _too_few(found: Finding) -> tuple[str, ...]:
    """Say that an attack did better than guessing, but on too few units to be sure."""
    if found.leaked or found.success.n == 0 or found.gain < _WORTH_A_WORD:
        return ()
    return (
        f"It was right {100 * found.gain:.3g} percentage points more often than guessing, which "
        f"chance may explain in {counted(found.success.n, 'attempt')}: this shows neither a leak "
        "nor safety.",
    )

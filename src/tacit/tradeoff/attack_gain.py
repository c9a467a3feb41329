"""Attacks as conditions of a search: how much more than guessing an intruder may learn."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from tacit.core.errors import DataError, ParameterError
from tacit.core.measurement import Measurement
from tacit.core.method import build
from tacit.core.value import Value
from tacit.tradeoff.objective import Condition


class AttackGain(Value):
    """How much more often an attack on a release succeeds than guessing does.

    An attack that is named by its key alone is tried in all its ways, as in an audit, and the best
    one counts. One that makes no sense on a release, such as linkage on records that are
    nobody's, gains nothing.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300)
    >>> linked = AttackGain(step={"method": "linkage"})
    >>> weak, strong = (tacit.Plan(p).apply(data, seed=1) for p in ([], [mask.Mondrian(k=10)]))
    >>> linked.measure(data, weak).value > 0.5 > 0.1 > linked.measure(data, strong).value
    True
    """

    step: dict[str, Any]
    """The attack as plain data: its key under ``method``, and its parameters."""

    @property
    def title(self) -> str:
        """Name of the measurement."""
        return f"Gain of {self._attack.title}"

    @property
    def _attack(self) -> Any:
        return build(self.step, "attack")

    def _best(self, target: Any, known: Any) -> Any:
        """Return the best finding of all ways; one that cannot be carried out is left out."""
        usual = self._attack
        found = [usual.run(target, known)]
        others = [] if len(self.step) > 1 else [w for w in usual.in_audit() if w != usual]
        for way in others:
            if not way.repeats(target, known):
                with suppress(DataError):
                    found.append(way.run(target, known))
        return max(found, key=lambda finding: finding.gain)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Attack the release and return success over guessing."""
        from tacit.attack import Knowledge
        from tacit.attack.target import target_of
        from tacit.core.release import Release

        known = Knowledge()
        target = target_of(release if isinstance(release, Release) else (original, release))
        refused = self._attack.refusal(target, known)
        found = None if refused else self._best(target, known)
        return Measurement(
            key="attack-gain", title=self.title, value=max(found.gain, 0.0) if found else 0.0,
            better="lower", bounds=(0.0, 1.0), unit="percent",
            explanation=found.summary() if found else f"The attack makes no sense: {refused}.",
        )  # fmt: skip


def attack_conditions(attacks: Iterable[Any], most: float) -> tuple[Condition, ...]:
    """Return one condition per attack: it may succeed at most so much more often than guessing.

    Parameters
    ----------
    attacks
        Attacks on microdata, or their keys.
    most
        Largest success over guessing, between 0 and 1.
    """
    if not 0 <= most < 1:
        raise ParameterError("success over guessing is a share below 1", got=f"{most:g}")
    found = []
    for given in attacks:
        gain = AttackGain(step={"method": given} if isinstance(given, str) else given.as_step())
        _check(gain)
        words = f"{gain._attack.title} gains at most {100 * most:g} percentage points over guessing"
        found.append(Condition(gain, at_most=most, title=words))
    return tuple(found)


def _check(gain: AttackGain) -> None:
    """Refuse what is no attack on records."""
    from tacit.attack import MicrodataTarget

    if gain._attack.kind is not MicrodataTarget:
        raise ParameterError(
            "a search of masked records takes attacks on records",
            got=gain._attack.key,
            do="choose one of the attacks on microdata, such as linkage or homogeneity",
        )

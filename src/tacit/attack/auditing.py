"""The audit: every attack that applies, within a time, and what they found together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tacit.attack.family import Attack
from tacit.attack.finding import Finding
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import MicrodataTarget, TableTarget, Target, target_of
from tacit.core.errors import ParameterError, TacitError
from tacit.core.method import methods
from tacit.core.progress import track


@dataclass(frozen=True, eq=False)
class AttackReport:
    """The findings of an audit, the most successful attack first, and what was left out."""

    findings: tuple[Finding, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    """Attacks that were not run, with the reason."""
    target: str = ""
    """What was attacked, in words."""
    knowledge: Knowledge = field(default_factory=Knowledge)
    """What the intruder knew."""
    seconds: float = 0.0
    """Time taken."""

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, key: str) -> Finding:
        """Return the finding of one attack, by its key."""
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise ParameterError("there is no finding of this attack", got=repr(key))

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings in which the release tells more than guessing."""
        return tuple(finding for finding in self.findings if finding.leaked)

    @property
    def passed(self) -> bool:
        """Whether no attack beat guessing."""
        return not self.leaks

    @property
    def gain(self) -> float:
        """Largest success over guessing among the leaks; 0 without a leak."""
        return max((finding.gain for finding in self.leaks), default=0.0)

    def summary(self) -> str:
        """Say what was found in a few lines."""
        head = (
            f"{len(self.findings)} attacks on {self.target}: {len(self.leaks)} learnt more than "
            f"guessing would; {len(self.left_out)} did not apply."
        )
        return "\n".join([head, *(f"- {finding.summary()}" for finding in self.findings)])

    def __repr__(self) -> str:
        return f"AttackReport({len(self.findings)} findings, {len(self.leaks)} leaks)"

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "target": self.target,
            "passed": self.passed,
            "gain": self.gain,
            "knowledge": _told(self.knowledge),
            "findings": [finding.as_dict() for finding in self.findings],
            "left_out": dict(self.left_out),
            "seconds": round(self.seconds, 2),
        }


def audit(
    target: Any,
    knowledge: Knowledge | None = None,
    *,
    seconds: float | None = 300.0,
    attacks: Iterable[Attack] | None = None,
) -> AttackReport:
    """Run every attack that applies and say what an intruder would learn.

    Parameters
    ----------
    target
        A release, ``(original, released)``, several releases of the same data, protected tables,
        or ``(data, policy)``.
    knowledge
        What the intruder knows; by default a strong one.
    seconds
        Time for all attacks together: none is started later. No limit if None.
    attacks
        Attacks to run; by default all of the registry with their default parameters.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> release = tacit.Plan([]).apply(tacit.datasets.census(300), seed=1)
    >>> report = attack.audit(release, attacks=[attack.Linkage()])
    >>> report.passed, report["linkage"].verdict
    (False, <Verdict.LEAKED: 'leaked'>)
    """
    made, known = target_of(target), knowledge or Knowledge()
    chosen = _every_attack() if attacks is None else list(attacks)
    started = time.perf_counter()
    findings, left_out = [], {}
    with track("attacking", len(chosen)) as advance:
        for attack in chosen:
            reason = attack.refusal(made, known)
            if reason is None and _is_over(started, seconds):
                reason = "the time was over"
            found = _run(attack, made, known) if reason is None else reason
            if isinstance(found, Finding):
                findings.append(found)
            elif isinstance(made, attack.kind):
                left_out[attack.key] = found
            advance(1)
    ranked = sorted(findings, key=lambda f: (not f.leaked, -f.gain))
    return AttackReport(tuple(ranked), left_out, _words(made), known, time.perf_counter() - started)


def _every_attack() -> list[Attack]:
    made = [attack(**attack.example) for attack in methods("attack")]
    return [attack for attack in made if isinstance(attack, Attack)]


def _is_over(started: float, seconds: float | None) -> bool:
    return seconds is not None and time.perf_counter() - started > seconds


def _run(attack: Attack, target: Target, knowledge: Knowledge) -> Finding | str:
    """Run one attack; one that cannot be carried out is left out with its reason."""
    try:
        return attack.run(target, knowledge)
    except TacitError as error:
        return str(error)


def _words(target: Target) -> str:
    if isinstance(target, MicrodataTarget):
        return f"{target.released.n_records:,} released records"
    if isinstance(target, TableTarget):
        cells = sum(table.original.n_cells for table in target.tables)
        return f"{len(target.tables)} table(s) with {cells:,} cells"
    return f"{target.data.n_records:,} records behind the policy {target.policy.id}"


def _told(knowledge: Knowledge) -> dict[str, Any]:
    """Return what the intruder knew as plain data, without records."""
    fields = knowledge.model_dump(mode="python", exclude={"holdout", "some"})
    return {
        **{name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()},
        "some": sorted(knowledge.some),
        "holdout": knowledge.holdout is not None,
    }

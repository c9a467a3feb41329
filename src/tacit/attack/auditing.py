"""The audit: every attack that applies, within a time, and what they found together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tacit.attack._limited import Overrun, within
from tacit.attack.family import Attack
from tacit.attack.finding import Finding
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import MicrodataTarget, TableTarget, Target, target_of
from tacit.core import stopping
from tacit.core.errors import ParameterError, TacitError
from tacit.core.method import find, methods
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
    unfinished: tuple[str, ...] = ()
    """Attacks that were stopped, or not started, because the time was over or somebody ended it."""

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, key: str) -> Finding:
        """Return the finding of one attack, by its key; of several ways the best one."""
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
        """Whether attacks were carried out and none beat guessing; none at all says nothing."""
        return bool(self.findings) and not self.leaks

    @property
    def complete(self) -> bool:
        """Whether every attack that applies was carried out to its end."""
        return not self.unfinished

    @property
    def gain(self) -> float:
        """Largest success over guessing among the leaks; 0 without a leak."""
        return max((finding.gain for finding in self.leaks), default=0.0)

    def summary(self) -> str:
        """Say what was found in a few lines."""
        head = (
            f"{len(self.findings)} attacks on {self.target}: {len(self.leaks)} learnt more than "
            f"guessing would; {len(self.left_out) - len(self.unfinished)} did not apply."
        )
        if not self.findings:
            head += " Nothing was attacked, which says nothing about safety."
        if not self.complete:
            head += f" {len(self.unfinished)} did not finish in the time."
        return "\n".join([head, *(f"- {finding.summary()}" for finding in self.findings)])

    def __repr__(self) -> str:
        return f"AttackReport({len(self.findings)} findings, {len(self.leaks)} leaks)"

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "target": self.target,
            "passed": self.passed,
            "complete": self.complete,
            "gain": self.gain,
            "knowledge": _told(self.knowledge),
            "findings": [finding.as_dict() for finding in self.findings],
            "left_out": dict(self.left_out),
            "unfinished": list(self.unfinished),
            "seconds": round(self.seconds, 2),
        }


def audit(
    target: Any,
    knowledge: Knowledge | None = None,
    *,
    seconds: float | None = 300.0,
    each: float | None = None,
    attacks: Iterable[Attack | str] | None = None,
) -> AttackReport:
    """Run every attack that applies and say what an intruder would learn.

    Parameters
    ----------
    target
        A release, ``(original, released)``, several releases of the same data, protected tables,
        the folder of a saved release or of tables (or several folders of the same data),
        ``(data, policy)``, or a `ServerTarget`: a live server by its REST address.
    knowledge
        What the intruder knows; by default a strong one.
    seconds
        Time for all attacks together; no limit if None. An attack that takes more than its share,
        half of what is left, is stopped and told as unfinished; an interrupt (Ctrl-C) keeps what
        was found so far.
    each
        Longest time for one attack, if its share is longer.
    attacks
        Attacks to run, or their keys; by default all of the registry, in all their ways
        (`Attack.in_audit`).

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
    _check_time(seconds=seconds, each=each)
    if isinstance(made, MicrodataTarget):
        known.check(made.original)
    run = _Run(made, known, seconds, each)
    chosen = _every_attack(made, known) if attacks is None else _named(attacks)
    with track("attacking", len(chosen)) as advance:
        for attack in chosen:
            run.add(attack)
            advance(1)
    return run.report()


@dataclass
class _Run:
    """An audit on its way."""

    target: Target
    knowledge: Knowledge
    seconds: float | None
    each: float | None
    started: float = field(default_factory=time.perf_counter)
    findings: list[Finding] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    unfinished: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def taken(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def share(self) -> float | None:
        """Seconds that the next attack may take."""
        left = None if self.seconds is None else (self.seconds - self.taken) / 2
        limits = [limit for limit in (left, self.each) if limit is not None]
        return min(limits) if limits else None

    def add(self, attack: Attack) -> None:
        """Carry out one attack, or say why it was not."""
        if not isinstance(self.target, attack.kind):
            return
        reason, share = self._refusal(attack), self.share
        if reason is not None:
            if self.left_out.get(attack.key) != reason:  # said of the usual way already
                self.left_out[attack.label] = reason
        elif self.interrupted:
            self._unfinished(attack, "the audit was interrupted")
        elif share is not None and share <= 0:
            self._unfinished(attack, "the time was over")
        else:
            self._carry_out(attack, share)

    def _refusal(self, attack: Attack) -> str | None:
        try:
            return attack.refusal(self.target, self.knowledge)
        except TacitError as error:  # a live server that is away
            return str(error)

    def _carry_out(self, attack: Attack, share: float | None) -> None:
        """Run one attack; one that cannot be carried out is left out with its reason."""
        try:
            self.findings.append(within(share, lambda: attack.run(self.target, self.knowledge)))
        except TacitError as error:
            self.left_out[attack.label] = str(error)
        except Overrun:
            self._unfinished(attack, f"it was stopped after {share:.3g} s and did not finish")
        except KeyboardInterrupt:
            stopping.answered()
            self.interrupted = True
            self._unfinished(attack, "the audit was interrupted")

    def _unfinished(self, attack: Attack, reason: str) -> None:
        self.left_out[attack.label] = reason
        self.unfinished.append(attack.label)

    def report(self) -> AttackReport:
        """Return what was found, the most successful attack first."""
        ranked = sorted(self.findings, key=lambda f: (not f.leaked, -f.gain))
        return AttackReport(
            tuple(ranked), self.left_out, _words(self.target), self.knowledge, self.taken,
            tuple(self.unfinished),
        )  # fmt: skip


def _check_time(**limits: float | None) -> None:
    for name, limit in limits.items():
        if limit is not None and not limit >= 0:
            raise ParameterError(f"{name} is a time from 0 up, or None", got=repr(limit))


def _named(attacks: Iterable[Attack | str]) -> list[Attack]:
    """Return attacks that are given as they are, or by key in all their ways."""
    found: list[Attack] = []
    for given in attacks:
        if isinstance(given, str):
            found += find(given, "attack").in_audit()  # type: ignore[attr-defined]
        elif isinstance(given, Attack):
            found.append(given)
        else:
            raise ParameterError("this is no attack", got=repr(given), do="give attacks or keys")
    return found


def _every_attack(target: Target, knowledge: Knowledge) -> list[Attack]:
    """Return all attacks on such a target, in all their ways that are not the same on it."""
    known = [attack for attack in methods("attack") if issubclass(attack, Attack)]
    ways = [w for a in known if isinstance(target, a.kind) for w in a.in_audit()]
    return [way for way in ways if not way.repeats(target, knowledge)]


def _words(target: Target) -> str:
    if isinstance(target, MicrodataTarget):
        return _records_in_words([data.n_records for data in target.data_sets])
    if isinstance(target, TableTarget):
        cells = sum(table.original.n_cells for table in target.tables)
        return f"{len(target.tables)} table(s) with {cells:,} cells"
    return f"{target.data.n_records:,} records behind {target.words}"


def _records_in_words(sizes: list[int]) -> str:
    """Say how many records were released, and in how many data sets."""
    if len(sizes) == 1:
        return f"{sizes[0]:,} released records"
    if len(set(sizes)) == 1:
        return f"{sizes[0]:,} released records in each of {len(sizes)} data sets"
    return f"{sum(sizes):,} released records in {len(sizes)} data sets"


def _told(knowledge: Knowledge) -> dict[str, Any]:
    """Return what the intruder knew as plain data, without records."""
    fields = knowledge.model_dump(mode="python", exclude={"holdout", "some"})
    return {
        **{name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()},
        "some": sorted(knowledge.some),
        "holdout": knowledge.holdout is not None,
    }

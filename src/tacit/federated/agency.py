"""An agency: its data, its policy, its log, and its answers to a coordinator."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import TacitError
from tacit.federated import messages as m
from tacit.federated.admission import (
    WITHHELD,
    admit,
    check_asked,
    check_history,
    check_products,
    check_units,
    packed,
    question,
)
from tacit.federated.analysis import Analysis, State, analysis_from
from tacit.federated.identity import Identity, Roster
from tacit.federated.ledger import Ledger
from tacit.federated.masks import derive
from tacit.federated.pairs import Pairs
from tacit.federated.policy import Policy
from tacit.federated.record_digest import check_unchanged, column_digests
from tacit.federated.stopped import RefusedError, UnfitError
from tacit.federated.summation import Summation

Decide = Callable[[m.Proposal], bool]
_MOST_OPEN = 32
"""Computations that an agency keeps in memory; the oldest is forgotten first."""


@dataclass
class _Computation:
    """One computation as an agency sees it."""

    proposal: m.Proposal
    analysis: Analysis
    part: Any
    pairs: Pairs
    state: State = field(default_factory=dict)
    step: int = 0
    sum: Summation | None = None
    survivors: tuple[str, ...] | None = None
    answer: dict[str, Any] | None = None
    replies: dict[tuple[int, str], tuple[bytes, bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def used(self) -> np.ndarray | None:
        """Which records are used, where that depends on the other agencies."""
        return self.analysis.used_records(self.part)


class Agency:
    """One of the agencies that compute together.

    It answers messages, each as often as it is sent, and never says the same thing about two
    different questions. What it refuses and what it releases is written to its log first.

    Parameters
    ----------
    identity
        Name and signing key.
    data
        Its records; a frame of any kind or `Microdata`. They never leave.
    roster
        Public keys of all partners.
    policy
        Its rules.
    ledger
        Its log.
    decide
        Asked before the agency joins a computation, when the policy says so.
    """

    def __init__(
        self,
        identity: Identity,
        data: Any,
        roster: Roster,
        *,
        policy: Policy | None = None,
        ledger: Ledger | None = None,
        decide: Decide | None = None,
    ) -> None:
        self.identity, self.roster = identity, roster
        self.data = data if not hasattr(data, "columns") else Microdata.of(data)
        self.policy, self.ledger = policy or Policy(), ledger or Ledger()
        self._decide = decide
        self._open: dict[str, _Computation] = {}
        self._lock, self._joining, self._releasing = (threading.Lock() for _ in range(3))

    @property
    def name(self) -> str:
        """Name of the agency."""
        return self.identity.name

    def handle(self, request: bytes, sender: str | None = None) -> bytes:
        """Answer one message; whatever goes wrong becomes a refusal that shows no data."""
        try:
            return self._answer(request, sender)
        except RefusedError as error:
            return self._refuse(str(error), str(error))
        except TacitError as error:
            return self._refuse("its data or this request cannot be used", str(error))
        except Exception as error:
            return self._refuse("an internal error", f"{type(error).__name__}: {error}")

    def _refuse(self, told: str, logged: str) -> bytes:
        self.ledger.add("refused", reason=logged)
        return m.Refused(reason=told[:2000]).encode()

    def _answer(self, request: bytes, sender: str | None) -> bytes:
        message = m.decode(request, self._longest())
        digest = hashlib.sha256(request).digest()
        if isinstance(message, m.Propose):
            return self._join(message.proposal, sender).encode()
        if not isinstance(message, m.Request | m.Close):
            raise RefusedError("a message that only an agency sends")
        with self._lock:
            computation = self._open.get(message.computation)
        if computation is not None:
            _check_sender(computation.proposal, sender)
        if isinstance(message, m.Close):
            with self._lock:
                self._open.pop(message.computation, None)
            return m.Closed().encode()
        if computation is None:
            raise RefusedError("no such computation here: never joined, closed, or restarted since")
        return self._go_on(computation, message, digest)

    def _longest(self) -> int:
        return m.LONGEST_HEADER + 64 + 32 * self.policy.max_length

    # -- joining --------------------------------------------------------------------------------

    def _join(self, proposal: m.Proposal, sender: str | None) -> m.Message:
        _check_sender(proposal, sender)
        with self._lock:
            known = self._open.get(proposal.computation)
        if known is not None and known.proposal != proposal:
            raise RefusedError("another proposal has the same number")
        if known is None:
            analysis, rules = self._considered(proposal), (self.policy, self.ledger, self.data)
            with self._by_records(analysis):
                part = analysis.part(self.data, self.policy)
                check_history(proposal.participants, analysis, *rules)
                check_products(analysis, *rules)
            pairs = Pairs(proposal, self.identity, self.roster)
            self._keep(_Computation(proposal, analysis, part, pairs))
        return m.Accepted(digest=proposal.digest().hex())

    def _considered(self, proposal: m.Proposal) -> Analysis:
        """Check a proposal against the rules, then ask the operator if the policy says so."""
        analysis = analysis_from(proposal.analysis).held_by(self.name, proposal)
        admit(proposal, analysis, self.name, self.roster, self.policy, self.ledger, self.data)
        if self.policy.ask and (self._decide is None or not self._decide(proposal)):
            raise RefusedError("the operator said no")
        check_unchanged(self._digests(analysis), self.policy, self.ledger)
        with self._joining:  # from here on the answer may depend on the records
            check_asked(analysis, self.policy, self.ledger)
            self.ledger.add(
                "joined",
                computation=proposal.computation,
                fingerprint=analysis.fingerprint(),
                analysis=analysis.described(),
                columns=sorted(analysis.columns()),
                participants=list(proposal.participants),
                purpose=proposal.purpose,
            )
        return analysis

    def _digests(self, analysis: Analysis) -> dict[str, str]:
        """Return digests of the columns of an analysis, by which a later change is found."""
        if not isinstance(self.data, Microdata):
            return {}
        key = derive(self.identity.private, b"tacit records")
        return column_digests(self.data, analysis.columns(), key)

    @contextlib.contextmanager
    def _by_records(self, analysis: Analysis) -> Iterator[None]:
        """Note that a question was refused because of the records, which tells a bit about them."""
        try:
            yield
        except UnfitError:
            raise
        except TacitError:
            self.ledger.add(
                WITHHELD, fingerprint=analysis.fingerprint(), columns=sorted(analysis.columns())
            )
            raise

    def _keep(self, computation: _Computation) -> None:
        with self._lock:
            while len(self._open) >= _MOST_OPEN:
                self._open.pop(next(iter(self._open)))
            self._open[computation.proposal.computation] = computation

    # -- the steps of a sum ---------------------------------------------------------------------

    def _go_on(self, computation: _Computation, message: m.Request, digest: bytes) -> bytes:
        """Answer a step once; the same question again gets the same answer, another one none."""
        with computation.lock:
            place = message.place
            if place in computation.replies:
                seen, reply = computation.replies[place]
                if seen != digest:
                    raise RefusedError("this step was already answered for another request")
                return reply
            reply = self._step(computation, message).encode()
            computation.replies[place] = (digest, reply)
            return reply

    def _step(self, computation: _Computation, message: m.Request) -> m.Message:
        if message.step != computation.step or computation.answer is not None:
            raise RefusedError(f"step {message.step} is not the one that is due")
        if isinstance(message, m.Exchange):
            with self._by_records(computation.analysis):
                return computation.analysis.exchange(
                    computation.part, computation.pairs, message, computation.state
                )
        if isinstance(message, m.AskKeys):
            computation.sum = Summation(
                computation.proposal, message.step, self.identity, self.roster
            )
            return computation.sum.public()
        if computation.sum is None:
            raise RefusedError("keys come first")
        match message:
            case m.AskShares():
                return computation.sum.share(message.keys)
            case m.AskMasked():
                with self._by_records(computation.analysis):
                    values = computation.analysis.contribute(computation.part, computation.state)
                return computation.sum.mask(message.sealed, values)
            case m.AskUnmask():
                return self._unmask(computation, computation.sum, message.survivors)
            case m.Finish():
                return self._finish(computation, computation.sum, message)
            case _:
                raise RefusedError("a step of unknown kind")

    def _unmask(
        self, computation: _Computation, sum_: Summation, survivors: tuple[str, ...]
    ) -> m.Message:
        if (computation.step, m.AskMasked.kind) not in computation.replies:
            raise RefusedError("the contribution comes before the unmasking")
        if computation.survivors not in (None, survivors):
            raise RefusedError("the agencies must be the same in every sum of a computation")
        shares = sum_.unmask(survivors)
        if len(survivors) < self.policy.min_agencies:
            raise RefusedError(f"fewer than {self.policy.min_agencies} agencies are left")
        if computation.survivors is None:
            with self._releasing:  # two computations at once must not pass the rules together
                self._check_history(computation, survivors)
                self._log_release(computation, survivors)
        computation.survivors = survivors
        return shares

    def _check_history(self, computation: _Computation, survivors: tuple[str, ...]) -> None:
        analysis, used = computation.analysis, computation.used
        rules = self.policy, self.ledger, self.data
        check_history(survivors, analysis, *rules, fingerprint=question(analysis, used))
        check_products(analysis, *rules)
        if used is not None:
            check_units(used, analysis, *rules)

    def _log_release(self, computation: _Computation, survivors: tuple[str, ...]) -> None:
        used = computation.used
        records: dict[str, Any] = {} if used is None else {"records": packed(used)}
        records |= {"digests": self._digests(computation.analysis)}
        self.ledger.add(
            "released",
            computation=computation.proposal.computation,
            fingerprint=question(computation.analysis, used),
            analysis=computation.analysis.described(),
            columns=sorted(computation.analysis.columns()),
            participants=sorted(survivors),
            **records,
        )

    def _finish(self, computation: _Computation, sum_: Summation, message: m.Finish) -> m.Message:
        if message.survivors != computation.survivors:
            raise RefusedError("a sum of other agencies than those agreed")
        computation.sum = None  # one try: who could try again would guess the tags in the end
        length = computation.analysis.length(computation.state)
        total = sum_.reveal(message.survivors, message.payload, length)
        outcome = computation.analysis.absorb(total, computation.state, self.policy)
        computation.state, computation.answer = outcome.state, outcome.answer
        computation.step += 1
        _forget(computation, before=message.step)
        packed = b"" if outcome.vector is None else outcome.vector.astype("<f8").tobytes()
        return m.Finished(answer=outcome.answer, payload=packed)


def _check_sender(proposal: m.Proposal, sender: str | None) -> None:
    """Refuse whoever is not the coordinator of a computation, by the name in its certificate."""
    if sender is not None and sender != proposal.coordinator:
        raise RefusedError("the coordinator named is not the one that asks")


def _forget(computation: _Computation, before: int) -> None:
    """Drop the answers of earlier sums, which nobody will ask for again."""
    for place in [place for place in computation.replies if place[0] < before]:
        del computation.replies[place]

"""The coordinator: routes messages between agencies and sees masked values only."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import numpy as np

from tacit.core.errors import ParameterError, ProtectionError, TacitError
from tacit.core.progress import track
from tacit.federated import messages as m
from tacit.federated.analysis import Analysis
from tacit.federated.answer import Answer
from tacit.federated.fixed_point import FixedPoint
from tacit.federated.stopped import LostError, StoppedError
from tacit.federated.summation import FEWEST
from tacit.federated.unmasking import Unmasking

Reply = TypeVar("Reply", bound=m.Message)
_MOST_SUMS = 500


class Channel(Protocol):
    """A way to one agency: bytes there, bytes back; `LostError` if there is no answer."""

    def send(self, request: bytes) -> bytes:
        """Send a message and return the answer."""

    def close(self) -> None:
        """Let go of the connection; the next message opens another."""


def default_threshold(n_agencies: int) -> int:
    """Return the usual threshold: more than two thirds.

    Then even a coordinator who cheats, together with fewer than a third of the agencies, learns
    nothing about the others but sums.
    """
    return min(2 * n_agencies // 3 + 1, n_agencies)


class Coordinator:
    """Runs a computation over channels to agencies.

    Parameters
    ----------
    channels
        A channel to each agency, by name.
    threshold
        Agencies that must stay to the end; more than half, two thirds if not given.
    encoding
        How numbers are held.
    name
        The coordinator's own name.
    workers
        Agencies spoken to at the same time.
    """

    def __init__(
        self,
        channels: Mapping[str, Channel],
        *,
        threshold: int | None = None,
        encoding: FixedPoint | None = None,
        name: str = "coordinator",
        workers: int | None = None,
    ) -> None:
        if len(channels) < FEWEST:
            raise ParameterError(
                "at least three agencies are needed: with two, each learns the other's value",
                got=f"{len(channels)}",
            )
        self.channels = dict(channels)
        self.threshold = default_threshold(len(channels)) if threshold is None else threshold
        self.encoding, self.name = encoding or FixedPoint(), name
        self._workers = workers or len(channels)

    def run(self, analysis: Analysis, *, purpose: str = "") -> Answer:
        """Compute an analysis, or stop with who and why; nothing partial is returned."""
        proposal = m.Proposal(
            computation=secrets.token_hex(16),
            analysis=analysis.described(),
            participants=tuple(sorted(self.channels)),
            threshold=len(self.channels) if analysis.whole else self.threshold,
            encoding=self.encoding,
            coordinator=self.name,
            purpose=purpose,
        )
        run = _Run(self.channels, proposal, analysis, self._workers)
        try:
            return run.answer()
        finally:
            run.close()


class _Run:
    """One computation, from proposal to answer."""

    def __init__(
        self,
        channels: Mapping[str, Channel],
        proposal: m.Proposal,
        analysis: Analysis,
        workers: int,
    ) -> None:
        self._channels, self._proposal, self._analysis = channels, proposal, analysis
        self._memory: dict[str, Any] = {}
        self._present = set(proposal.participants)
        self._missing: dict[str, str] = {}
        self._traffic: dict[str, Counter[str]] = {n: Counter() for n in proposal.participants}
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None

    def answer(self) -> Answer:
        """Go through proposal and sums."""
        accepted = self._ask(
            m.Accepted, self._present, lambda _: m.Propose(proposal=self._proposal)
        )
        self._require(accepted, "joined")
        with track("secure sums") as advance:
            for step in range(_MOST_SUMS):
                self._analysis.route(step, _AskAll(self, step), self._memory)
                finished = self._sum(step)
                advance(1)
                _require_agreed({n: f.answer is not None for n, f in finished.items()}, "end")
                if all(f.answer is not None for f in finished.values()):
                    return self._released(finished, step + 1)
        raise StoppedError(f"no result after {_MOST_SUMS} sums", {})

    def close(self) -> None:
        """Tell everyone that the computation is over."""
        request = m.Close(computation=self._proposal.computation).encode()
        for name in self._present:
            try:
                self._channels[name].send(request)
            except TacitError:
                continue
        for channel in self._channels.values():
            channel.close()
        if self._pool is not None:
            self._pool.shutdown()

    # -- one sum --------------------------------------------------------------------------------

    def _sum(self, step: int) -> dict[str, m.Finished]:
        at: Any = self.at(step)
        keys = self._ask(m.Keys, self._present, lambda _: m.AskKeys(**at))
        self._require(keys, "showed keys", whole=step > 0)
        shares = self._ask(m.Shares, set(keys), lambda _: m.AskShares(**at, keys=keys))
        shares = self._addressed(shares)
        self._require(shares, "sent shares", whole=step > 0)
        masked = self._ask(
            m.Masked, set(shares), lambda name: m.AskMasked(**at, sealed=_inbox(shares, name))
        )
        contributions = self._shaped(masked)
        self._require(contributions, "contributed", whole=step > 0)
        survivors = tuple(sorted(contributions))
        given = self._ask(
            m.Unmask, set(survivors), lambda _: m.AskUnmask(**at, survivors=survivors)
        )
        self._require(given, "helped to take the masks away")
        used = {name: keys[name] for name in shares}
        total = self._unmasked(Unmasking(self._proposal, step, used, contributions, given))
        finished = self._ask(
            m.Finished, set(given), lambda _: m.Finish(**at, survivors=survivors, payload=total)
        )
        self._require(finished, "finished")
        self._survivors = survivors
        return finished

    def _addressed(self, shares: Mapping[str, m.Shares]) -> dict[str, m.Shares]:
        """Take shares of those who sent one to each other agency; the others are lost."""
        right = {}
        for name, given in shares.items():
            if set(shares) - {name} <= set(given.sealed):
                right[name] = given
            else:
                self._lose(name, "no shares for some of the others")
        return right

    def _shaped(self, masked: Mapping[str, m.Masked]) -> dict[str, np.ndarray]:
        """Take contributions of the shape that most agencies sent; the others are lost."""
        if not masked:
            return {}
        sizes = Counter(len(reply.payload) for reply in masked.values())
        usual = sizes.most_common(1)[0][0]
        for name, reply in masked.items():
            if len(reply.payload) != usual:
                self._lose(name, f"a contribution of the wrong shape: {len(reply.payload):,} bytes")
        length = usual // self._proposal.encoding.n_bytes(1)
        return {
            name: self._proposal.encoding.unpack(reply.payload, length)
            for name, reply in masked.items()
            if len(reply.payload) == usual
        }

    def _unmasked(self, unmasking: Unmasking) -> bytes:
        try:
            return self._proposal.encoding.pack(unmasking.total())
        except ProtectionError as error:
            raise StoppedError(str(error), self._missing) from error

    def _released(self, finished: Mapping[str, m.Finished], n_sums: int) -> Answer:
        answers = {name: _unpacked(finished[name]) for name in sorted(finished)}
        _require_agreed(answers, "result")
        traffic = {name: dict(counts) for name, counts in self._traffic.items()}
        return Answer(next(iter(answers.values())), self._survivors, self._missing, n_sums, traffic)

    # -- asking ---------------------------------------------------------------------------------

    def ask_all(self, wanted: type[Reply], request: Callable[[str], m.Message]) -> dict[str, Reply]:
        """Ask every agency, and stop if one of them does not answer."""
        replies = self._ask(wanted, self._present, request)
        if set(replies) != set(self._proposal.participants):
            raise StoppedError("all agencies are needed for this analysis", self._missing)
        return replies

    def at(self, step: int) -> dict[str, Any]:
        """Return what every request of a step says."""
        return {"computation": self._proposal.computation, "step": step}

    def _ask(
        self, wanted: type[Reply], names: set[str], request: Callable[[str], m.Message]
    ) -> dict[str, Reply]:
        """Ask some agencies; a refusal stops everything, a lost one is noted."""
        order = sorted(names)
        work = self._pool.map if self._pool is not None else map
        replies = dict(zip(order, work(lambda n: self._one(n, request(n)), order), strict=True))
        refused = {n: r.reason for n, r in replies.items() if isinstance(r, m.Refused)}
        for name, reply in replies.items():
            if isinstance(reply, str):
                self._lose(name, reply)
            elif not isinstance(reply, wanted | m.Refused):
                self._lose(name, f"answered {reply.kind!r} instead of {wanted.kind!r}")
        if refused:
            raise StoppedError("an agency refuses", refused)
        return {n: r for n, r in replies.items() if isinstance(r, wanted)}

    def _one(self, name: str, request: m.Message) -> Any:
        """Return the reply of one agency, or the reason why there is none."""
        sent = request.encode()
        try:
            received = self._channels[name].send(sent)
            reply = m.decode(received, m.LONGEST_HEADER + 64 + len(sent) + self._longest_vector())
        except LostError as error:
            return error.what
        except TacitError as error:
            return f"sent no proper message: {error}"
        self._traffic[name][request.kind] += len(sent)
        self._traffic[name][reply.kind] += len(received)
        return reply

    def _longest_vector(self) -> int:
        return m.LONGEST_MESSAGE

    def _lose(self, name: str, reason: str) -> None:
        self._missing[name] = reason
        self._present.discard(name)

    def _require(self, got: Mapping[str, Any], did: str, *, whole: bool = False) -> None:
        """Stop when too few agencies are left, or when one is lost between two sums."""
        needed = max(self._proposal.threshold, FEWEST)
        if len(got) < needed:
            raise StoppedError(
                f"only {len(got)} agencies {did}, {needed} are needed", self._missing
            )
        if whole and set(got) != set(self._survivors):
            raise StoppedError(
                "an agency was lost between two sums, and the difference of both would show its "
                "value", self._missing, do="begin again",
            )  # fmt: skip


class _AskAll:
    """Asks every agency within one step."""

    def __init__(self, run: _Run, step: int) -> None:
        self._run, self.at = run, run.at(step)

    def __call__(
        self, wanted: type[Reply], request: Callable[[str], m.Message]
    ) -> dict[str, Reply]:
        return self._run.ask_all(wanted, request)


def _require_agreed(said: Mapping[str, Any], about: str) -> None:
    """Stop if agencies that saw the same sum say different things, and name the fewer of them."""
    first, *rest = said.values()
    if all(_alike(first, other) for other in rest):
        return
    most = max(([n for n in said if _alike(said[n], one)] for one in said.values()), key=len)
    others = {name: f"says another {about} than most" for name in said if name not in most}
    named = others if 2 * len(most) > len(said) else {}
    raise StoppedError(f"the agencies do not agree on the {about}", named)


def _unpacked(finished: m.Finished) -> dict[str, Any]:
    if not finished.payload:
        return dict(finished.answer or {})
    return {**(finished.answer or {}), "sum": np.frombuffer(finished.payload, dtype="<f8")}


def _inbox(shares: Mapping[str, m.Shares], name: str) -> dict[str, str]:
    return {other: s.sealed[name] for other, s in shares.items() if name in s.sealed}


def _alike(one: Any, other: Any) -> bool:
    """Whether two answers agree up to the rounding of different processors."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-8, abs_tol=1e-12) or one == other
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-8, atol=1e-12))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)

"""The server: the one way from a request to an answer, with every rule of the policy on it."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any, Self

import numpy as np

from tacit.core.errors import DataError, ParameterError, TacitError
from tacit.core.plan import Plan
from tacit.query._kept_answers import KeptAnswers
from tacit.query._request_text import logged, outcome, parse
from tacit.query.analysis import Analysis, Needs
from tacit.query.answer import PARSE, Answer, Refusal, Refused, Step, released
from tacit.query.atoms import AtomCube
from tacit.query.audit_log import BEGUN, AuditLog
from tacit.query.camouflaged import Vectors, camouflaged
from tacit.query.guard import Context, Guard, Stage
from tacit.query.keys import Sticky, secret_bytes
from tacit.query.policy import Policy
from tacit.query.registration import Binned, register
from tacit.query.source import Source
from tacit.query.state import FolderLock, NoMemory, State
from tacit.query.view import EngineView, MustRead
from tacit.tables.perturb._aes import derived_key

FAULT = "fault"
"""Name of the rule that refuses where something failed."""
_OF_TIME = "rate-limit"
"""The rule that depends on when a request was made; asked again, it refuses what it refused."""
_NUMBER = re.compile(r"\d")
_SKETCHED = ("differencing", "near-cells")
"""Rules that need to know how sets of units fall into secret parts."""


@dataclass(eq=False)
class Asked:
    """One request on its way."""

    request: Any
    user: str
    analysis: Analysis = field(init=False)
    context: Context = field(init=False)
    trace: list[Step] = field(default_factory=list)
    is_late: bool = False
    """Whether it was refused for the time it came at, when it was first asked."""


class Server:
    """Answers questions about confidential records under a policy, and remembers what it said.

    Every request takes the same way: parsed, checked against the rules of universes, read in the
    engine, checked against the rules of outputs, released, logged. Analyses and guards are values;
    none of them can leave out a step.

    Parameters
    ----------
    data
        A `Source`, microdata, or a frame of any kind.
    policy
        A policy, its name, or its TOML file.
    secret
        At least 16 bytes that nobody outside may know. Keep it: the same secret gives the same
        noise. Without one, a folder keeps a new one; without a folder it lives as long as this.
    folder
        Where the audit log and the secret are kept. A server that starts again in the same folder
        remembers what was asked before. One server at a time may use it: `close` the other first.

    Examples
    --------
    >>> import tacit
    >>> from tacit import query
    >>> server = query.Server(tacit.datasets.census(2000), secret="a long and secret phrase")
    >>> answer = server.ask({"method": "crosstab", "by": ["sex", "employed"]})
    >>> answer.frame.columns
    ['sex', 'employed', 'count']
    >>> server.ask({"method": "crosstab", "by": ["shoe size"]}).rule
    'request'
    """

    def __init__(
        self,
        data: Any,
        policy: Policy | str | Path = "strict",
        *,
        secret: str | bytes | None = None,
        folder: str | Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.policy = Policy.of(policy)
        place = None if folder is None else Path(folder)
        self._lock = None if place is None else FolderLock(place)
        hidden = secret_bytes(secret, place)
        self._clock, self._turn, self._open = clock, RLock(), True
        source = self._masked(Source.of(data), hidden)
        rule = self.policy.cutpoints
        binned = Binned(rule.method, rule.minimum, rule.most, self.policy.rare)
        vectors: Vectors = {}
        if self.policy.camouflage is not None:
            seed = int.from_bytes(derived_key(hidden, "tacit query camouflage"), "big")
            rng = np.random.default_rng(seed)
            source, vectors = camouflaged(source, self.policy.camouflage, rng)
        self.schema, self._engine = register(source, hidden, binned, vectors)
        sizes = {name: len(v.labels) for name, v in self.schema.variables.items()}
        self._cube = self._atoms(sizes)
        self._sticky = Sticky(hidden)
        self._state = State(
            self._cube, KeptAnswers(None if place is None else place / "answers.jsonl")
        )
        self._no_memory: Any = NoMemory(self._cube)
        self.log = AuditLog(
            None if place is None else place / "audit.jsonl",
            key=derived_key(hidden, "tacit query audit log"),
            identities=self.policy.identities,
        )
        self._remember()

    def _masked(self, source: Source, secret: bytes) -> Source:
        """Apply the policy's masking methods once; the seed comes from the secret."""
        if not self.policy.masks:
            return source
        seed = int.from_bytes(derived_key(secret, "tacit query input perturbation")[:8], "big")
        release = Plan(self.policy.masks).apply(source.microdata, seed=seed)
        if source.unit is not None and source.unit not in release.data.columns:
            raise ParameterError(
                "masking removes identifiers, and the unit is one", do="serve one record per unit"
            )
        return replace(source, data=release.data)

    def _atoms(self, sizes: Mapping[str, int]) -> AtomCube:
        cube = AtomCube.build(self._engine, sizes)
        if any(guard.key in _SKETCHED for guard in self.policy.guards):
            _ = cube.sketches  # made here, so that no first request waits for it
        if not self.policy.blocks:
            return cube
        if not self._engine.one_record_per_unit:
            raise ParameterError("blocks need one record per unit", do="aggregate the units first")
        return cube.blocked(self.policy.blocks)

    def _remember(self) -> None:
        """Ask the logged requests again, so that history and ledgers are what they were."""
        for entry in list(self.log.entries()):
            # Refused requests too: some rules remember a set when it is first spoken of.
            if entry.request is None:
                continue
            asked = Asked(entry.request, entry.user or "")
            asked.is_late = entry.outcome.get("rule") == _OF_TIME
            try:
                self._again(asked, entry.kind == BEGUN)
            except Refused:
                continue
            except Exception:
                if entry.outcome.get("rule") != FAULT:
                    raise

    def _again(self, asked: Asked, only_begun: bool) -> None:
        """Remember a logged request: all of it, or what it did before records were read."""
        self._understood(asked)
        self._enter(asked, None)
        if not only_begun:
            self._gather(asked)
            self._judge(asked)
            self._released(asked)

    def close(self) -> None:
        """End the server, so that another may use its folder."""
        with self._turn:
            self._open = False
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- asking ---------------------------------------------------------------------------------

    def ask(
        self, request: Analysis | Mapping[str, Any] | str, *, user: str = ""
    ) -> Answer | Refusal:
        """Answer a request, or refuse it by naming the rule.

        Parameters
        ----------
        request
            An analysis, its plain data, or its JSON text.
        user
            Who asks; only limits by user and the log use it.
        """
        asked = Asked(request, user)
        given = self._safely(asked, self._understood)
        if given is None:
            with self._in_turn():
                given = self._safely(asked, self._begun)
        if given is None:
            given = self._safely(asked, self._read)
        if given is None:
            with self._in_turn():
                given = self._safely(asked, self._ended)
        if given is None:
            raise DataError("a request came to no end")
        self._wait()
        return given

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Keep other requests from what the server remembers, and from its log."""
        with self._turn:
            if not self._open:
                raise DataError("the server is closed", do="start it again")
            yield

    def _safely(
        self, asked: Asked, step: Callable[[Asked], Answer | None]
    ) -> Answer | Refusal | None:
        """Take a request one step further; whatever goes wrong is a refusal, and is logged."""
        try:
            return step(asked)
        except Refused as refused:
            return self._refused(refused, asked)
        except Exception as error:
            return self._refused(_fault(error), asked)

    def _refused(self, refused: Refused, asked: Asked) -> Refusal:
        refused = self._hiding(refused)
        refusal = Refusal(
            rule=refused.rule, reason=refused.reason, hint=refused.hint, policy=self.policy.id
        )
        with self._in_turn():
            self.log.append(logged(asked.request), outcome(refusal), user=asked.user or None)
        return refusal

    def _hiding(self, refused: Refused) -> Refused:
        """Return a refusal without the parameters of a rule that users are not told."""
        guards = (g for g in self.policy.guards if g.key in self.policy.hidden)
        guard = next((g for g in guards if g.key == refused.rule), None)
        if guard is None:
            return refused
        hint = refused.hint if refused.hint and not _NUMBER.search(refused.hint) else None
        return Refused(refused.rule, _discreet(guard, refused.reason), hint=hint)

    def _wait(self) -> None:
        """Answer at multiples of a time only, so that how long it took says nothing."""
        if self.policy.seconds:
            time.sleep(-time.monotonic() % self.policy.seconds)

    # -- the steps of a request -----------------------------------------------------------------
    #
    # The order of the log is the order in which the memory changed: a server that starts again
    # asks the logged requests in that order and must remember the same. So whatever uses the
    # memory is logged before another request gets its turn, and a request that lets others in
    # while records are read is logged as begun before it does.

    def _understood(self, asked: Asked) -> None:
        """Parse a request and find its units; nothing here uses the memory."""
        asked.analysis = parse(asked.request)
        asked.context = self._context(asked.analysis, asked.user)

    def _begun(self, asked: Asked) -> Answer | None:
        """Check the universe and, where the atoms suffice, answer; else make way for others."""
        self._enter(asked, self._clock())
        try:
            self._gather(asked, may_read=False)
        except MustRead:
            text = logged(asked.request)
            self.log.append(text, {"status": BEGUN}, user=asked.user or None, kind=BEGUN)
            return None
        self._judge(asked)
        return self._released(asked)

    def _read(self, asked: Asked) -> None:
        """Read records, in no turn; nor are rules in a turn that remember nothing of models."""
        self._gather(asked)
        later = (*self.policy.staged("output"), *self.policy.staged("answer"))
        if not any(guard.remembers(asked.context) for guard in later):
            self._judge(asked)

    def _ended(self, asked: Asked) -> Answer:
        """Check what was read, unless that is done, and release the answer."""
        if asked.context.answer is None:
            self._judge(asked)
        return self._released(asked)

    def _enter(self, asked: Asked, now: float | None) -> None:
        """Take a request through the rules of universes and of data.

        A request that is only remembered has no time: limits on time do not count it again.
        """
        asked.context = replace(asked.context, now=now)
        self._stage("universe", asked)
        self._stage("data", asked)

    def _gather(self, asked: Asked, may_read: bool = True) -> None:
        view = self._view(asked.context, may_read)
        asked.context = replace(asked.context, evidence=asked.analysis.gather(view))

    def _judge(self, asked: Asked) -> None:
        """Take what was read through the rules of outputs and of answers."""
        self._stage("output", asked)
        answer = asked.analysis.compute(asked.context.evidence)
        asked.context = replace(asked.context, answer=answer)
        self._stage("answer", asked)

    def _released(self, asked: Asked) -> Answer:
        """Say what was done, log it and remember it."""
        context = asked.context
        if context.answer is None:
            raise Refused(PARSE, "there is nothing to answer")
        answer = released(
            context.answer,
            notes=context.notes,
            policy=self.policy.id,
            data=self.schema.version,
            trace=tuple(asked.trace),
        )
        if context.now is not None:
            # Logged before anything else: what is remembered is never less than what was said.
            self.log.append(logged(asked.request), outcome(answer), user=asked.user or None)
        for action in context.remember:
            action()
        return answer

    def _context(self, analysis: Analysis, user: str) -> Context:
        needs = self._check_names(analysis)
        pieces = self.schema.pieces(analysis.universe)
        if self._engine.one_record_per_unit:
            # The cube of all variables of the request first: that of its universe is part of it.
            self._cube.over((*(name for piece in pieces for name in piece), *needs.categories))
        selection = self._cube.select(analysis.universe, pieces)
        return Context(
            schema=self.schema,
            selection=selection,
            sticky=self._sticky,
            state=self._state,
            user=user,
        )

    def _check_names(self, analysis: Analysis) -> Needs:
        allowed = self.policy.analyses
        if allowed and analysis.key not in allowed:
            raise Refused(PARSE, "the policy does not offer this analysis")
        needs = analysis.variables()
        for name in needs.categories:
            self.schema.variable(name)
        for name in needs.numbers:
            self.schema.number(name)
        if needs.weighted and not self.schema.has_weight:
            raise Refused(PARSE, "the data have no survey weights")
        return needs

    def _stage(self, stage: Stage, asked: Asked) -> None:
        for guard in self.policy.staged(stage):
            given = asked.context
            if asked.is_late and guard.key == _OF_TIME:
                raise guard.refuse("too many requests in this time")
            if not guard.remembers(given):
                given = replace(given, state=self._no_memory)
            after = _checked(guard, asked.analysis, given)
            if guard.key in self.policy.hidden and after is not given:
                said = (_discreet(guard, note) for note in after.notes[len(given.notes) :])
                after = replace(after, notes=(*given.notes, *said))
            note = " ".join(after.notes[len(given.notes) :])
            changed = "passed" if after is given else "amended"
            asked.trace.append(Step(rule=guard.key, outcome=changed, note=note))
            asked.context = replace(after, state=self._state)

    def _view(self, context: Context, may_read: bool = True) -> EngineView:
        """Return the data of a request as its analysis may see them, drops applied."""
        dropped = np.empty((0, 2), dtype=np.int64)
        if context.drop is not None:
            if not may_read:
                raise MustRead
            dropped = self._picked(context)
        cube, chosen = self._cube, context.selection
        return EngineView(self.schema, self._engine, cube, chosen, dropped, may_read)

    def _picked(self, context: Context) -> np.ndarray:
        drop, pieces = context.drop, context.selection.pieces
        if drop is None:
            raise Refused(PARSE, "there is nothing to drop")
        picks = []
        for block, (q, a, b) in enumerate(drop.numbers):
            inside = pieces if drop.block is None else _within(pieces, drop.block, block)
            if inside and q:
                picks.append(self._engine.picked(inside, q, a, b))
        return np.concatenate([np.empty((0, 2), np.int64), *picks])

    # -- telling --------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Return what users may know: variables, categories, cutpoints, analyses, rules."""
        from tacit.core.method import methods

        offered = self.policy.analyses or tuple(m.key for m in methods("analysis"))
        return {
            "policy": self.policy.id,
            "summary": self.policy.summary,
            "analyses": list(offered),
            "rules": self.policy.told(),
            **self.schema.plain(),
        }


def _fault(error: Exception) -> Refused:
    """Return a refusal for a request that failed in a way nobody foresaw; its words stay inside."""
    if not isinstance(error, TacitError):
        warnings.warn(f"a request failed: {type(error).__name__}: {error}", RuntimeWarning, 3)
    return Refused(FAULT, "the server could not answer this")


def _checked(guard: Guard, analysis: Analysis, context: Context) -> Context:
    """Run one guard; one that fails in any other way than refusing refuses too."""
    try:
        after = guard.check(analysis, context)
    except Refused:
        raise
    except TacitError as error:
        raise Refused(guard.key, "the rule could not be applied, so nothing is answered") from error
    if not isinstance(after, Context):
        raise Refused(guard.key, "the rule could not be applied, so nothing is answered")
    return after


def _discreet(guard: Guard, said: str) -> str:
    """Return words of a rule whose parameters are hidden: its title where they hold a number."""
    return f"{guard.title}." if _NUMBER.search(said) else said


def _within(pieces: Any, block: str, code: int) -> list[dict[str, Any]]:
    """Return the part of a union of pieces in which one variable has one category."""
    inside = []
    for piece in pieces:
        if code in piece.get(block, (code,)):
            inside.append({**piece, block: (code,)})
    return inside

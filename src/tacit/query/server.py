"""The server: the one way from a request to an answer, with every rule of the policy on it."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Self

import numpy as np

from tacit.core.errors import DataError, ParameterError, TacitError
from tacit.core.method import build
from tacit.core.plan import Plan
from tacit.query._kept_answers import KeptAnswers
from tacit.query.analysis import Analysis
from tacit.query.answer import PARSE, Answer, Refusal, Refused, Step, released
from tacit.query.atoms import AtomCube
from tacit.query.audit_log import AuditLog, digest
from tacit.query.camouflaged import Vectors, camouflaged
from tacit.query.guard import Context, Guard, Stage
from tacit.query.keys import Sticky, secret_bytes
from tacit.query.policy import Policy
from tacit.query.registration import Binned, register
from tacit.query.source import Source
from tacit.query.state import FolderLock, State
from tacit.query.view import EngineView
from tacit.tables.perturb._aes import derived_key

FAULT = "fault"
"""Name of the rule that refuses where something failed."""
_BEFORE_ALL = (PARSE, "rate-limit")
"""Rules that refuse before anything is remembered."""
_SKETCHED = ("differencing", "near-cells")
"""Rules that need to know how sets of units fall into secret parts."""
_LONGEST = 200_000
"""Characters of a request; nothing honest is longer."""


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
        for entry in list(self.log.requests()):
            # Refused requests too: some rules remember a set when it is first spoken of.
            if entry.outcome.get("rule") in _BEFORE_ALL:
                continue
            try:
                self._answered(entry.request or {}, entry.user or "", None)
            except Refused:
                continue
            except Exception:
                if entry.outcome.get("rule") != FAULT:
                    raise

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
        with self._turn:
            if not self._open:
                raise DataError("the server is closed", do="start it again")
            try:
                given: Answer | Refusal = self._answered(request, user, self._clock())
            except Refused as refused:
                given = self._refused(refused, request, user)
            except Exception as error:
                given = self._refused(_fault(error), request, user)
            self._wait()
            return given

    def _refused(self, refused: Refused, request: Any, user: str) -> Refusal:
        refusal = Refusal(
            rule=refused.rule, reason=refused.reason, hint=refused.hint, policy=self.policy.id
        )
        self.log.append(_logged(request), _outcome(refusal), user=user or None)
        return refusal

    def _wait(self) -> None:
        """Answer at multiples of a time only, so that how long it took says nothing."""
        if self.policy.seconds:
            time.sleep(-time.monotonic() % self.policy.seconds)

    def _answered(self, request: Any, user: str, now: float | None) -> Answer:
        """Take one request through all stages; what it changes is written down at the end.

        A request that is only remembered has no time: limits on time do not count it again.
        """
        analysis = parse(request)
        context = self._context(analysis, user, now)
        trace: list[Step] = []
        context = self._stage("universe", analysis, context, trace)
        context = self._stage("data", analysis, context, trace)
        view = self._view(context)
        context = replace(context, evidence=analysis.gather(view))
        context = self._stage("output", analysis, context, trace)
        context = replace(context, answer=analysis.compute(context.evidence))
        context = self._stage("answer", analysis, context, trace)
        if context.answer is None:
            raise Refused(PARSE, "there is nothing to answer")
        answer = released(
            context.answer,
            notes=context.notes,
            policy=self.policy.id,
            data=self.schema.version,
            trace=tuple(trace),
        )
        if now is not None:
            # Logged before anything else: what is remembered is never less than what was said.
            self.log.append(_logged(request), _outcome(answer), user=user or None)
        for action in context.remember:
            action()
        return answer

    def _context(self, analysis: Analysis, user: str, now: float | None) -> Context:
        self._check_names(analysis)
        pieces = self.schema.pieces(analysis.universe)
        selection = self._cube.select(analysis.universe, pieces)
        return Context(
            schema=self.schema,
            selection=selection,
            sticky=self._sticky,
            state=self._state,
            user=user,
            now=now,
        )

    def _check_names(self, analysis: Analysis) -> None:
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

    def _stage(
        self, stage: Stage, analysis: Analysis, context: Context, trace: list[Step]
    ) -> Context:
        for guard in self.policy.staged(stage):
            after = _checked(guard, analysis, context)
            outcome = "passed" if after is context else "amended"
            note = " ".join(after.notes[len(context.notes) :])
            trace.append(Step(rule=guard.key, outcome=outcome, note=note))
            context = after
        return context

    def _view(self, context: Context) -> EngineView:
        """Return the data of a request as its analysis may see them, drops applied."""
        dropped = np.empty((0, 2), dtype=np.int64)
        if context.drop is not None:
            dropped = self._picked(context)
        return EngineView(self.schema, self._engine, self._cube, context.selection, dropped)

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


def parse(request: Any) -> Analysis:
    """Read a request; whatever is not one is refused with words that repeat none of it."""
    if isinstance(request, Analysis):
        return request
    if isinstance(request, str):
        request = _from_json(request)
    if not isinstance(request, Mapping) or not isinstance(request.get("method"), str):
        raise Refused(PARSE, "a request is an object that names its method")
    try:
        made = build(request, "analysis")
    except Refused:
        raise
    except (TacitError, TypeError, ValueError, RecursionError) as error:
        raise Refused(
            PARSE,
            "the request is not one this server understands",
            hint="see describe() for analyses and their parameters",
        ) from error
    if not isinstance(made, Analysis):
        raise Refused(PARSE, "the request is not one this server understands")
    return made


def _fault(error: Exception) -> Refused:
    """Return a refusal for a request that failed in a way nobody foresaw; its words stay inside."""
    if not isinstance(error, TacitError):
        warnings.warn(f"a request failed: {type(error).__name__}: {error}", RuntimeWarning, 3)
    return Refused(FAULT, "the server could not answer this")


def _from_json(text: str) -> Any:
    if len(text) > _LONGEST:
        raise Refused(PARSE, "the request is too long")
    try:
        return json.loads(text, parse_constant=_not_finite)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE, "the request is not JSON") from error


def _not_finite(word: str) -> float:
    raise ValueError("numbers in a request must be finite")


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


def _within(pieces: Any, block: str, code: int) -> list[dict[str, Any]]:
    """Return the part of a union of pieces in which one variable has one category."""
    inside = []
    for piece in pieces:
        if code in piece.get(block, (code,)):
            inside.append({**piece, block: (code,)})
    return inside


def _logged(request: Any) -> dict[str, Any]:
    """Return a request as the log keeps it; what is no request is kept as a short text."""
    if isinstance(request, Analysis):
        return request.as_step()
    if isinstance(request, str):
        try:
            request = json.loads(request)
        except (ValueError, RecursionError):
            return {"text": request[:200]}
    if isinstance(request, Mapping):
        try:
            plain = json.loads(json.dumps(request, default=str, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            return {"text": str(type(request))}
        return plain if isinstance(plain, dict) and len(json.dumps(plain)) < _LONGEST else {}
    return {"text": str(type(request))}


def _outcome(given: Answer | Refusal) -> dict[str, Any]:
    if isinstance(given, Refusal):
        return {"status": "refused", "rule": given.rule}
    plain = given.as_dict()
    return {"status": "answered", "digest": digest(plain), "rules": [s.rule for s in given.trace]}

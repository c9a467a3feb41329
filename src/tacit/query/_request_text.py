"""Requests as they come in and as the log keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit.core.errors import TacitError
from tacit.core.method import build
from tacit.query.analysis import Analysis
from tacit.query.answer import PARSE, Answer, Refusal, Refused
from tacit.query.audit_log import digest

_LONGEST = 200_000
"""Characters of a request; nothing honest is longer."""


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


def _from_json(text: str) -> Any:
    if len(text) > _LONGEST:
        raise Refused(PARSE, "the request is too long")
    try:
        return json.loads(text, parse_constant=_not_finite)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE, "the request is not JSON") from error


def _not_finite(word: str) -> float:
    raise ValueError("numbers in a request must be finite")


def logged(request: Any) -> dict[str, Any]:
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


def outcome(given: Answer | Refusal) -> dict[str, Any]:
    """Return what became of a request, as the log keeps it."""
    if isinstance(given, Refusal):
        return {"status": "refused", "rule": given.rule}
    plain = given.as_dict()
    return {"status": "answered", "digest": digest(plain), "rules": [s.rule for s in given.trace]}

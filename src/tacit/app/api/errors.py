"""Errors as answers: what was wrong and what to do, never a value of a record or a trace."""

from __future__ import annotations

import logging
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.exc import DataError as StoreDataError
from starlette.exceptions import HTTPException

from tacit.app.logging_setup import places
from tacit.app.metrics import route_of
from tacit.app.permissions import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    NotLoggedInError,
    TooManyError,
)
from tacit.core.errors import TacitError

log = logging.getLogger("tacit.app")
STATUS: dict[type[TacitError], int] = {
    NotLoggedInError: 401,
    NotAllowedError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    TooManyError: 429,
}


class Problem(BaseModel):
    """What was wrong, and what to do."""

    type: str
    message: str
    do: str | None


class ErrorAnswer(BaseModel):
    """An error as every route answers it."""

    error: Problem


RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "The request cannot be read."},
    401: {"model": ErrorAnswer, "description": "Nobody is known to ask."},
    403: {"model": ErrorAnswer, "description": "This person may not do this."},
    404: {"model": ErrorAnswer, "description": "There is no such thing, or not for this person."},
    409: {"model": ErrorAnswer, "description": "Somebody else was first."},
    422: {"model": ErrorAnswer, "description": "What was asked cannot be done."},
    429: {"model": ErrorAnswer, "description": "Too many attempts, or too much at once."},
}
"""How every route may end besides success."""


def status_of(error: TacitError) -> int:
    """Return the status of an answer: 422 for what the person asked wrongly."""
    return next((code for kind, code in STATUS.items() if isinstance(error, kind)), 422)


def as_answer(status: int, kind: str, what: str, do: str | None = None) -> JSONResponse:
    """Return an error as JSON."""
    return JSONResponse({"error": {"type": kind, "message": what, "do": do}}, status_code=status)


def install(app: FastAPI) -> None:
    """Answer every error in one form."""

    @app.exception_handler(TacitError)
    async def ours(_request: Request, error: TacitError) -> JSONResponse:
        return as_answer(status_of(error), type(error).__name__, str(error), error.do)

    @app.exception_handler(RequestValidationError)
    async def malformed(_request: Request, error: RequestValidationError) -> JSONResponse:
        places = [
            f"{'.'.join(str(p) for p in found['loc'])}: {found['msg']}" for found in error.errors()
        ]
        return as_answer(422, "RequestError", "; ".join(places[:5]))

    @app.exception_handler(UnicodeEncodeError)
    @app.exception_handler(StoreDataError)
    async def unstorable(_request: Request, _error: Exception) -> JSONResponse:
        return as_answer(422, "RequestError", "the text holds characters that cannot be stored")

    @app.exception_handler(HTTPException)
    async def known(_request: Request, error: HTTPException) -> JSONResponse:
        return as_answer(error.status_code, "HttpError", str(error.detail))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        number = uuid4().hex[:8]
        place = (places(error.__traceback__) or [""])[-1]
        log.error(
            "error %s at %s: %s in %s", number, route_of(request.scope), type(error).__name__, place
        )
        return as_answer(500, "Bug", f"this is a bug in tacit (number {number}); please report it")

"""Errors as answers: what was wrong and what to do, never a value of a record or a trace."""

from __future__ import annotations

import logging
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

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

    @app.exception_handler(HTTPException)
    async def known(_request: Request, error: HTTPException) -> JSONResponse:
        return as_answer(error.status_code, "HttpError", str(error.detail))

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        number = uuid4().hex[:8]
        log.error("error %s at %s: %s", number, request.url.path, type(error).__name__)
        return as_answer(500, "Bug", f"this is a bug in tacit (number {number}); please report it")

"""The app as a whole: REST interface, pages, protection against the outside."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import BaseRoute

from tacit.app import oidc
from tacit.app.api import (
    access,
    accounts,
    catalogue,
    errors,
    federation,
    games,
    projects,
    queries,
    versions,
    work,
)
from tacit.app.metrics import CONTENT_TYPE, Measured, Requests, exposition
from tacit.app.permissions import Action
from tacit.app.services import Services
from tacit.app.settings import Settings
from tacit.app.uploads import Places

API = "/api/v1"
_THIS_MACHINE = ("127.0.0.1", "::1")
HEADERS = {
    # NiceGUI builds its pages with inline scripts and Vue's compiler; all else is closed.
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' "
    "'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' "
    "data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action "
    "'self'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
ONLY_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
"""Where browsers come by https, they never come by anything else for a year."""


class Attempts:
    """Counts log-ins per address: at most `most` in `seconds`."""

    def __init__(self, most: int = 20, seconds: float = 60.0) -> None:
        self.most, self.seconds = most, seconds
        self._times: dict[str, deque[float]] = defaultdict(deque)

    def allows(self, where: str) -> bool:
        """Count an attempt and say whether it may go on."""
        times, present = self._times[where], time.monotonic()
        while times and times[0] < present - self.seconds:
            times.popleft()
        if len(times) >= self.most:
            return False
        times.append(present)
        if len(self._times) > 10_000:
            self._times.clear()
        return True


def create_app(settings: Settings) -> FastAPI:
    """Return the app, ready to be served."""
    parts = Services.start(settings)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        yield
        parts.close()

    from tacit import __version__

    app = FastAPI(
        title="tacit",
        version=__version__,
        description="Statistical disclosure control over REST.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.state.services, app.state.attempts = parts, Attempts()
    app.state.uploads = Places(settings.uploads)
    app.router.routes.extend(_interface())
    errors.install(app)
    requests = Requests()
    _add_health(app, parts)
    _add_metrics(app, parts, requests)
    if settings.oidc_issuer:
        oidc.install(app, settings)
    _add_headers(app, HEADERS | (ONLY_HTTPS if settings.https else {}))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.allowed_hosts))
    app.add_middleware(Measured, requests=requests)
    return app


@cache
def _interface() -> tuple[BaseRoute, ...]:
    """Put the REST interface together, once for all apps of a process: it takes long."""
    whole = APIRouter()
    for module in (accounts, projects, versions, work, queries, catalogue, games, federation):
        whole.include_router(module.router, prefix=API, responses=errors.RESPONSES)
    return tuple(whole.routes)


def _add_health(app: FastAPI, parts: Services) -> None:
    @app.get("/health", tags=["operations"])
    def health(response: Response) -> dict[str, object]:
        """Say whether the app and its store work."""
        alive = parts.store.is_alive()
        response.status_code = 200 if alive else 503
        return {"ok": alive}


def _add_metrics(app: FastAPI, parts: Services, requests: Requests) -> None:
    @app.get("/metrics", tags=["operations"], response_class=PlainTextResponse)
    def metrics(request: Request) -> PlainTextResponse:
        """Tell how the app is doing, on this machine or with the key of an administrator."""
        if not request.client or request.client.host not in _THIS_MACHINE:
            access.actor(request).require(Action.MANAGE_ACCOUNTS)
        return PlainTextResponse(exposition(parts, requests), media_type=CONTENT_TYPE)


def _add_headers(app: FastAPI, headers: dict[str, str]) -> None:
    @app.middleware("http")
    async def protect(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        answer = await call_next(request)
        for name, value in headers.items():
            answer.headers.setdefault(name, value)
        if request.url.path.startswith(API):
            answer.headers.setdefault("Cache-Control", "no-store")
        return answer

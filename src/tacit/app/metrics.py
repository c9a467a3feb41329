"""How the app is doing, in numbers: for Prometheus, without a name and without a value."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from tacit.app.store.records import Job, Session, now

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tacit.app.services import Services

BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds below which answers are counted."""
STATES = ("queued", "running", "done", "failed", "cancelled")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_API = "/api/v1"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
log = logging.getLogger("tacit.requests")


class Requests:
    """Counts answers by method, pattern of the address and class of the status."""

    def __init__(self) -> None:
        self._turn = Lock()
        self.answers: Counter[tuple[str, str, str]] = Counter()
        self.seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(
            lambda: [0.0] * (len(BOUNDS) + 2)
        )

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        with self._turn:
            self.answers[method, route, f"{status // 100}xx"] += 1
            times = self.seconds[method, route]
            for number, bound in enumerate(BOUNDS):
                times[number] += seconds <= bound
            times[-2] += 1
            times[-1] += seconds

    def lines(self) -> Iterator[str]:
        """Yield the counts as Prometheus reads them."""
        with self._turn:
            answers = sorted(self.answers.items())
            seconds = sorted((key, list(times)) for key, times in self.seconds.items())
        yield from _head("tacit_requests_total", "counter", "Answers given.")
        for (method, route, status), count in answers:
            labels = _labels(method=method, route=route, status=status)
            yield f"tacit_requests_total{labels} {count}"
        yield from _head("tacit_request_seconds", "histogram", "Seconds until the answer.")
        for (method, route), times in seconds:
            yield from _histogram(method, route, times)


class Measured:
    """Wraps the app: each answer is counted, and logged without the address itself."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self.app, self.requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and measure it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            self._write_down(scope, status, time.perf_counter() - started)

    def _write_down(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = route_of(scope)
        self.requests.add(method, route, status, seconds)
        fields = {"method": method, "route": route, "status": status}
        log.info("request", extra={"fields": fields | {"seconds": round(seconds, 4)}})


def route_of(scope: Any) -> str:
    """Return the pattern of an address, such as ``/projects/{project}``, never the address.

    Examples
    --------
    >>> route_of({"type": "http", "path": "/projects/secret-name"})
    'other'
    """
    if scope["path"].startswith("/_nicegui"):
        return "static"
    found = str(getattr(scope.get("route"), "path", None) or "other")
    # An included router may tell the pattern without the prefix it was included under.
    inside = scope["path"].startswith(_API) and found != "other" and not found.startswith(_API)
    return f"{_API}{found}" if inside else found


def exposition(parts: Services, requests: Requests) -> str:
    """Return all numbers as the text that Prometheus fetches."""
    return "\n".join([*requests.lines(), *_from_store(parts), *_memory()]) + "\n"


def _from_store(parts: Services) -> Iterator[str]:
    from datetime import timedelta

    idle = now() - timedelta(hours=parts.settings.session_hours)
    with parts.store.read() as connection:
        found = connection.execute(select(Job.state, func.count()).group_by(Job.state))
        jobs = {state: count for state, count in found}
        alive = select(func.count()).select_from(Session).where(Session.seen >= idle)
        sessions = connection.scalar(alive) or 0
    yield from _head("tacit_jobs", "gauge", "Jobs by state.")
    for state in STATES:
        yield f"tacit_jobs{_labels(state=state)} {jobs.get(state, 0)}"
    yield from _head("tacit_sessions", "gauge", "Browsers that are logged in.")
    yield f"tacit_sessions {sessions}"


def _memory() -> Iterator[str]:
    """Yield the memory of this process, where the system tells it."""
    statm = Path("/proc/self/statm")
    if statm.is_file():
        import resource

        pages = int(statm.read_text(encoding="ascii").split()[1])
        yield from _head("process_resident_memory_bytes", "gauge", "Memory of this process.")
        yield f"process_resident_memory_bytes {pages * resource.getpagesize()}"


def _histogram(method: str, route: str, times: list[float]) -> Iterator[str]:
    for bound, count in zip((*BOUNDS, "+Inf"), times[:-1], strict=True):
        labels = _labels(method=method, route=route, le=str(bound))
        yield f"tacit_request_seconds_bucket{labels} {count:.0f}"
    labels = _labels(method=method, route=route)
    yield f"tacit_request_seconds_count{labels} {times[-2]:.0f}"
    yield f"tacit_request_seconds_sum{labels} {times[-1]:.6f}"


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def _labels(**labels: str) -> str:
    quoted = (
        f'{name}="{text}"'
        for name, text in (
            (n, t.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
            for n, t in labels.items()
        )
    )
    return "{" + ",".join(quoted) + "}"

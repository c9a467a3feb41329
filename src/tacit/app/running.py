"""Running the app: the web server, its workers, the first start."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.app import logging_setup
from tacit.app.permissions import Actor
from tacit.app.serving import create_app
from tacit.app.settings import PREFIX, Settings
from tacit.app.until_told import WITH_PARENT
from tacit.core.errors import ParameterError

log = logging.getLogger("tacit.app")


WORKER, AGENCY = "tacit.app.worker", "tacit.app.agency_process"


class Supervisor:
    """Keeps the workers, and the agency where the house is one, alive: who dies is replaced."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._modules: list[str] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start the workers."""
        self._modules = [WORKER] * self.settings.workers
        if self._modules and self.settings.agency_keys:
            self._modules.append(AGENCY)
        self._processes = list(map(self._new, self._modules))
        self._thread.start()

    def stop(self) -> None:
        """End the workers; a job that is under way is done by the next ones."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()  # or it might start another after all have ended
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _let_go(process)

    def _new(self, module: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, WITH_PARENT]
        given = environment(self.settings)
        return subprocess.Popen(command, env=given, stdin=subprocess.PIPE)  # noqa: S603 - our own

    def _watch(self) -> None:
        while not self._stopping.wait(0.5):
            for number, process in enumerate(self._processes):
                if process.poll() is not None:
                    module = self._modules[number]
                    log.warning("%s ended with %s; starting another", module, process.returncode)
                    if self._stopping.wait(0.5):
                        return
                    _let_go(process)
                    self._processes[number] = self._new(module)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close our end of the pipe by which a process hears that we are gone."""
    if process.stdin is not None:
        process.stdin.close()


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment that gives another process the same settings."""
    given = {
        f"{PREFIX}{name.upper()}": ",".join(value) if isinstance(value, list) else str(value)
        for name, value in settings.model_dump(mode="json").items()
    }
    return {**os.environ, **given}


def app_with_pages(
    settings: Settings, welcome: Callable[[Actor], object] | None = None
) -> tuple[Any, str]:
    """Return the app with its pages, and the code with which the first person comes in."""
    from tacit.app import pages

    app = create_app(settings)
    code = "" if app.state.services.accounts.are_there() else secrets.token_urlsafe(16)
    app.state.setup_code = code
    app.state.welcome = welcome or (lambda _made: None)
    pages.install(app, app.state.services, _page_secret(settings.folder))
    return app, code


def _page_secret(folder: Path) -> str:
    """Return the secret of the pages' own storage, drawn once and kept for the house."""
    path = folder / "page-secret"
    if not path.exists():
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_text(encoding="utf-8")


def serve(
    settings: Settings,
    *,
    tell: Callable[[str], None],
    welcome: Callable[[Settings, Actor], object] | None = None,
) -> None:
    """Serve until interrupted."""
    import uvicorn

    logging_setup.set_up()
    listener = _listener(settings)
    port = listener.getsockname()[1]
    settings = settings.replace(port=port)
    app, code = app_with_pages(
        settings, None if welcome is None else lambda made: welcome(settings, made)
    )
    address = f"{'https' if settings.https else 'http'}://{settings.host}:{port}"
    tell(f"tacit is at {address}" + (f"/setup?code={code}" if code else ""))
    if code:
        tell("Open this address to create the administrator; it works once.")
    supervisor = Supervisor(settings)
    supervisor.start()
    # No access log: addresses of pages hold the names of files and projects.
    config = uvicorn.Config(
        app, log_config=None, log_level="warning", access_log=False, proxy_headers=True
    )
    server = uvicorn.Server(config)
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    try:
        server.run(sockets=[listener])
    finally:
        supervisor.stop()


def _listener(settings: Settings) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((settings.host, settings.port))
        found.listen(2048)  # who comes before the server is ready waits instead of being sent away
    except OSError as error:
        found.close()
        raise ParameterError(
            "the address is not free",
            got=f"{settings.host}:{settings.port}",
            do="choose another port with --port, or 0 for a free one",
        ) from error
    return found

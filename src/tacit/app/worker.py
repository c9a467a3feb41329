"""A worker: takes jobs from the store and does them, one at a time."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.app import logging_setup
from tacit.app.jobs import Cancelled, Jobs
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.store.records import Job
from tacit.app.tidying import tidy
from tacit.app.until_told import run_until_told
from tacit.core.errors import TacitError
from tacit.core.progress import Advance, listening

KINDS = ("import", "generate", "wizard", "table", "attack", "save", "log", "federated")
"""Jobs that can be asked for; each is a module of `tacit.app.tasks`."""
_GRACE = 20.0
"""Seconds a cancelled job has to stop by itself."""
log = logging.getLogger("tacit.worker")


class Heart:
    """Says every few seconds that the worker lives, and hears whether the job is cancelled."""

    def __init__(self, jobs: Jobs, job: Job, worker: str) -> None:
        self.jobs, self.job, self.worker = jobs, job, worker
        self.wanted, self._levels = True, [0.0]
        self._titles: list[tuple[str, float | None]] = [("", None)]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Advance]:
        """Listen to the progress of the methods; the outermost task counts."""
        level = len(self._levels)
        self._levels.append(0.0)
        self._titles.append((title, total))

        def advance(units: float) -> None:
            if not self.wanted:
                raise Cancelled
            if total:
                self._levels[level] = min(self._levels[level] + units / total, 1.0)

        try:
            yield advance
        finally:
            del self._levels[level:], self._titles[level:]

    @property
    def title(self) -> str:
        """What is being done: not in every detail, which would change faster than one reads."""
        return self._shown[-1][0]

    @property
    def _shown(self) -> list[tuple[str, float | None]]:
        """The outermost task and its present part; parts of unknown number tell nothing."""
        outer = self._titles[1:2]
        return self._titles[:3] if outer and outer[0][1] else self._titles[:2]

    @property
    def progress(self) -> float:
        """Share of the outermost task that is done; while it is at its first part, of that."""
        outer, inner = [*self._levels[1 : len(self._shown)], 0.0, 0.0][:2]
        return outer or inner / 2

    def _beat(self) -> None:
        cancelled_at = None
        while not self._stop.wait(self.jobs.settings.heartbeat_seconds):
            try:
                self.wanted = self.jobs.beat(self.job.id, self.worker, self.progress, self.title)
            except Exception:
                log.exception("the store did not take a heartbeat")
                continue
            if self.wanted:
                continue
            cancelled_at = cancelled_at or time.monotonic()
            if time.monotonic() - cancelled_at > _GRACE:
                self.jobs.finish(self.job.id, self.worker, "cancelled", "cancelled", {})
                os._exit(3)  # a solver that hears nothing; the supervisor starts a new worker


class Worker:
    """Does the jobs of one store until told to stop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(settings.store_url)
        self.jobs = Jobs(self.store, settings)
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self.stopping = False

    def run(self) -> None:
        """Work until told to stop."""
        while not self.stopping:
            if not self.step():
                time.sleep(0.3)

    def step(self) -> bool:
        """Do one job if there is one."""
        for project in self.jobs.revive():
            tidy(self.store, self.settings, project)
        job = self.jobs.claim(self.name)
        if job is None:
            return False
        started = time.monotonic()
        state, message, result = self._done(job)
        self.jobs.finish(job.id, self.name, state, message, result)
        if job.attempts > 1:
            tidy(self.store, self.settings, job.project_id)
        log.info("job %s %s %s in %.1f s", job.id, job.kind, state, time.monotonic() - started)
        return True

    def _done(self, job: Job) -> tuple[str, str, dict[str, Any]]:
        """Do a job and say how it ended; messages of ours are fit to be shown."""
        try:
            with Heart(self.jobs, job, self.name) as heart, listening(heart):
                return "done", "done", _task(job.kind)(self.store, self.settings, job)
        except Cancelled:
            return "cancelled", "cancelled; nothing of it was kept", {}
        except TacitError as error:
            return "failed", str(error), {"error": type(error).__name__}
        except MemoryError:
            return "failed", "there is not enough memory for this", {}
        except Exception:
            # The text of an unforeseen error may hold values of records.
            log.exception("job %s failed", job.id) if self._is_debugging else log.error(
                "job %s failed: %s", job.id, _place()
            )
            return "failed", f"this is a bug in tacit (job {job.id}); please report it", {}

    @property
    def _is_debugging(self) -> bool:
        return log.isEnabledFor(logging.DEBUG)


def _place() -> str:
    """Say where an error came from, without its text."""
    kind, _error, trace = sys.exc_info()
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}"
    return f"{kind.__name__ if kind else 'error'} in {where}:{trace.tb_lineno if trace else 0}"


def _task(kind: str) -> Callable[[Store, Settings, Job], dict[str, Any]]:
    if kind not in KINDS:
        raise TacitError("there is no such kind of job", got=repr(kind))
    module = import_module(f"tacit.app.tasks.{kind}_task")
    run: Callable[[Store, Settings, Job], dict[str, Any]] = module.run
    return run


def main(settings: Settings | None = None) -> None:
    """Run a worker as a process of its own."""
    run_until_told(Worker(settings or Settings.load()))


if __name__ == "__main__":
    logging_setup.set_up()
    main()

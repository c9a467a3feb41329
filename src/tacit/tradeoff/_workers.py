"""Run jobs one after the other, or in other processes when that pays.

What comes out does not depend on how many processes there are: jobs are handed over in fixed
batches and their results looked at in a fixed order.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from tacit.core.errors import DataError
from tacit.tradeoff._evaluation import Evaluator, Job, Result, Setting

_WORTH_A_PROCESS = 15.0
"""Seconds of work from which starting processes, a few seconds each, pays."""
_WATCH = 0.5
"""Seconds between two looks at whether the parent process lives."""
_ONE_THREAD = {
    name: "1"
    for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS")
}
_own: dict[str, Evaluator] = {}
"""The evaluator of a worker process, which outlives its jobs to keep what it remembers."""


class Workers:
    """Evaluate jobs in this process, or in several."""

    def __init__(self, setting: Setting, workers: int | None) -> None:
        self._setting = setting
        self._wanted = available_cores() if workers is None else workers
        self._is_asked_for = workers is not None
        self._pool: Any = None
        self._here = Evaluator(setting)
        self._spent, self._done, self._records = 0.0, 0, 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=kind is not None)

    def run(self, jobs: Sequence[Job], left: int, done: Callable[[Job, Result], None]) -> None:
        """Evaluate jobs and report each as soon as it is finished.

        Parameters
        ----------
        jobs
            Different jobs.
        left
            About how many more are to come, these included.
        done
            Called in this process for each finished job.
        """
        waiting = list(jobs)
        while waiting and not self._pays(max(left, len(waiting))):
            job = waiting.pop(0)
            result = self._here.evaluate(job)
            self._note(job, result)
            done(job, result)
        if waiting:
            self._run_elsewhere(waiting, done)

    def _pays(self, left: int) -> bool:
        """Whether other processes would be quicker, as far as can be seen."""
        if self._wanted < 2:
            return False
        if self._pool is not None or self._is_asked_for:
            return True
        # The first job compiles and imports; it says little about the next.
        return self._done >= 2 and self._spent / self._done * left > _WORTH_A_PROCESS

    def _note(self, job: Job, result: Result) -> None:
        if self._records not in (0, job.records):  # a larger sample: what it takes is not known yet
            self._spent, self._done = 0.0, 1
        self._records = job.records
        self._done += 1
        if self._done > 1:
            self._spent += result.seconds

    def _run_elsewhere(self, jobs: Sequence[Job], done: Callable[[Job, Result], None]) -> None:
        from concurrent.futures import as_completed
        from concurrent.futures.process import BrokenProcessPool

        pool = self._started()
        futures = {pool.submit(_evaluated, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                done(futures[future], future.result())
        except BrokenProcessPool as error:
            raise DataError(
                "a worker process was ended from outside, perhaps for lack of memory",
                do="search with workers=1, or on a smaller sample",
            ) from error

    def _started(self) -> Any:
        if self._pool is None:
            # loky starts clean processes: Polars must not be forked, and unlike multiprocessing it
            # does not run the user's script again in each of them.
            from joblib.externals.loky import ProcessPoolExecutor

            self._pool = ProcessPoolExecutor(
                max_workers=self._wanted,
                initializer=_start,
                initargs=(self._setting,),
                env=_ONE_THREAD,
            )
        return self._pool

    @property
    def steps_saved(self) -> int:
        """Steps that did not have to be applied again, in this process."""
        return self._here.steps_saved


def available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _start(setting: Setting) -> None:
    """Prepare a worker; an interrupt is for the parent to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _own["evaluator"] = Evaluator(setting)


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a killed search leaves nobody behind."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def _evaluated(job: Job) -> Result:
    return _own["evaluator"].evaluate(job)

"""One search from its start to its frontier: explore, narrow down, confirm."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit import __version__
from tacit.core import stopping
from tacit.core.data import Microdata
from tacit.core.digest import frame_digest
from tacit.core.errors import DataError
from tacit.core.plan import Plan
from tacit.core.progress import track
from tacit.tradeoff._evaluation import Job, Result, Setting
from tacit.tradeoff._exploring import Explorer
from tacit.tradeoff._store import Store
from tacit.tradeoff._workers import Workers
from tacit.tradeoff.effort import Effort
from tacit.tradeoff.frontier import Frontier, Point, better, maximal
from tacit.tradeoff.objective import Condition, Objective, identity
from tacit.tradeoff.space import Space

_GROWTH = 5
"""Each sample is this many times as large as the one before, and tries as many times fewer."""
_LARGEST_SAMPLE = 50_000
_FEWEST_KEPT = 10
_FEWEST_CONFIRMED = 6
"""Plans that all records of a large file are tried with, where conditions must be met."""
_LONGEST = 120.0
"""Processor seconds that one plan may take on all records of a large file."""
_BARREN = 12
"""Batches without a new plan after which nothing new is expected."""


class Run:
    """One search from its start to its frontier."""

    def __init__(self, original: Microdata, effort: Effort, seed: int) -> None:
        self._original, self._effort, self._seed = original.in_memory(), effort, seed
        self._sizes = _stages(original.n_records, effort.sample)
        self._points: dict[int, dict[str, Point]] = {size: {} for size in self._sizes}
        self._confirmed: set[str] = set()
        self._failed: dict[str, str] = {}
        self._jobs: set[str] = set()
        self._seconds: dict[tuple[str, int], float] = {}
        self._too_slow: list[str] = []

    def look_at(
        self, risk: Objective, utility: Objective, conditions: tuple[Condition, ...], storage: Any
    ) -> None:
        """Say what is measured, and where results are kept."""
        seeds = tuple(_child(self._seed, r) for r in range(self._effort.replicates))
        samples = {n: _sample(self._original, n, self._seed) for n in self._sizes}
        self._setting = Setting(samples, risk, utility, conditions, seeds)
        looked_at = identity([risk, utility], conditions)
        self._store = Store(storage, _fingerprint(self._original, looked_at, self._seed))

    def search(self, space: Space, start: Sequence[Plan]) -> Frontier:
        """Explore on the first sample, narrow down on larger ones, confirm on all records."""
        interrupted = False
        try:
            with Workers(self._setting, self._effort.workers) as workers:
                self._workers = workers
                self._explore(space, start)
                for size in self._sizes[1:]:
                    self._promote(size)
                self._confirm()
        except KeyboardInterrupt:
            stopping.answered()
            interrupted = True
        return self._frontier(interrupted)

    # -- the stages ---------------------------------------------------------------------------

    def _explore(self, space: Space, start: Sequence[Plan]) -> None:
        began, size, budget = time.monotonic(), self._sizes[0], self._effort.evaluations
        explorer = Explorer(
            space, budget=budget, sampler=self._effort.sampler, seed=self._seed, known=start
        )
        with track("searching for releases", budget) as advance:
            known = 0
            for first in range(0, min(len(start), budget), explorer.batch):
                if known and self._is_late(began):
                    return
                batch = start[first : min(first + explorer.batch, budget)]
                tried = self._tried(batch, size, budget - known)
                known += tried
                advance(tried)
            barren = 0
            while known < budget and barren < _BARREN and not explorer.is_spent:
                plans = explorer.propose()
                fresh = self._unseen(plans, size)[: budget - known]
                self._tried(fresh, size, budget - known)
                explorer.learn([self._points[size].get(_key(plan)) for plan in plans])
                barren = 0 if fresh else barren + 1
                known += len(fresh)
                advance(len(fresh))
                if self._is_late(began):
                    break

    def _is_late(self, began: float) -> bool:
        seconds = self._effort.seconds
        return seconds is not None and time.monotonic() - began > seconds

    def _unseen(self, plans: Sequence[Plan], size: int) -> list[Plan]:
        new = {_key(p): p for p in plans}
        known = self._points[size].keys() | self._failed.keys()
        return [plan for key, plan in new.items() if key not in known]

    def _tried(self, plans: Sequence[Plan], size: int, left: int) -> int:
        """Evaluate plans once on one sample."""
        jobs = [Job(plan, size, 0) for plan in self._unseen(plans, size)]
        try:
            self._results(jobs, left)
        finally:  # what was finished before an interrupt counts
            for job in jobs:
                result = self._store.get(job.key)
                if result is not None:
                    self._take(job, [result])
        return len(jobs)

    def _promote(self, size: int) -> None:
        """Try the better plans of the sample before again on a larger one."""
        before = list(self._points[_before(self._sizes, size)].values())
        share = _GROWTH ** self._sizes.index(size)
        n_kept = max(_FEWEST_KEPT, self._effort.evaluations // share)
        if size == self._sizes[-1] and size > _LARGEST_SAMPLE:
            kept = self._last(self._in_time(before, size))
        else:
            kept = better(before, n_kept)
        plans = [p.plan for p in kept if p.plan is not None]
        with track(f"confirming on {size:,} records", len(plans)) as advance:
            self._tried(plans, size, len(plans))
            advance(len(plans))

    def _last(self, before: Sequence[Point]) -> list[Point]:
        """Return what all records of a large file confirm.

        A sample has fewer records that look alike: what misses a condition there may meet it.
        """
        front = maximal(before)
        if not self._setting.conditions or len(front) >= _FEWEST_CONFIRMED:
            return front
        return better(before, _FEWEST_CONFIRMED)

    def _in_time(self, points: Sequence[Point], size: int) -> list[Point]:
        """Leave out plans that would take too long on all records, by how their time grew.

        Those that are nearly as good and quicker come in their place.
        """
        kept = []
        for point in points:
            known = [(n, self._seconds.get((_key(point.plan), n))) for n in self._sizes]  # type: ignore[arg-type]
            if _foretold([(n, t) for n, t in known if t], size) <= _LONGEST:
                kept.append(point)
        labels = {point.label for point in kept}
        self._too_slow = [p.label for p in maximal(points) if p.label not in labels]
        return kept

    def _confirm(self) -> None:
        """Repeat the random plans of the frontier until it holds only repeated ones."""
        size = self._sizes[-1]
        while True:
            front = maximal(self._points[size].values())
            todo = [p for p in front if p.plan is not None and _key(p.plan) not in self._confirmed]
            if not todo:
                return
            plans = [p.plan for p in todo if p.plan is not None]
            with track(f"repeating {self._standing(front)}", len(plans)) as advance:
                self._repeat(plans, size)
                advance(len(plans))

    def _repeat(self, plans: Sequence[Plan], size: int) -> None:
        n = self._effort.replicates
        first = self._results([Job(plan, size, 0) for plan in plans], len(plans))
        again = {
            job: [Job(job.plan, size, r) for r in range(1, n)] if result.is_random else []
            for job, result in first.items()
        }
        jobs = [job for own in again.values() for job in own]
        more = self._results(jobs, len(jobs))
        for job, result in first.items():
            self._take(job, [result, *(more[other] for other in again[job])])
            self._confirmed.add(_key(job.plan))

    # -- jobs and points ----------------------------------------------------------------------

    def _results(self, jobs: Sequence[Job], left: int) -> dict[Job, Result]:
        """Return the results of jobs, from the store or by work, in the order of the jobs."""
        found = {job: self._store.get(job.key) for job in jobs}
        todo = [job for job, result in found.items() if result is None]
        with track(self._title(), len(todo)) as advance:

            def done(job: Job, result: Result) -> None:
                self._store.put(job.key, result)
                advance(1)

            if todo:
                self._workers.run(todo, max(left, len(todo)), done)
        self._jobs |= {job.key for job in jobs}
        return {job: self._known(job) for job in jobs}

    def _known(self, job: Job) -> Result:
        result = self._store.get(job.key)
        if result is None:
            raise DataError("an evaluation got lost", got=job.key)
        return result

    def _take(self, job: Job, results: Sequence[Result]) -> None:
        failed = next((r for r in results if not r.is_usable), None)
        key = _key(job.plan)
        self._seconds[key, job.records] = results[0].seconds
        if failed is not None:
            self._failed[key] = failed.error or "risk or utility is not a number"
            self._points[job.records].pop(key, None)
            return
        point = _point(job, results, self._setting.conditions)
        self._points[job.records][key] = point

    def _title(self) -> str:
        size = next((n for n in reversed(self._sizes) if self._points[n]), self._sizes[0])
        return self._standing(maximal(self._points[size].values()))

    def _standing(self, front: Sequence[Point]) -> str:
        if not front:
            return "first plans"
        if not front[0].is_met:
            return "no plan meets the conditions yet"
        low, high = front[0], front[-1]
        return (
            f"frontier of {len(front)}: risk {low.risk:.3g} at utility {low.utility:.3g} "
            f"to {high.risk:.3g} at {high.utility:.3g}"
        )

    # -- the answer ---------------------------------------------------------------------------

    def _frontier(self, interrupted: bool) -> Frontier:
        reached = [size for size in self._sizes if self._points[size]]
        tried = list(self._points[reached[-1]].values()) if reached else []
        if not tried and not interrupted:
            why = "; ".join(sorted(set(self._failed.values()))[:3])
            raise DataError("none of the plans could be applied and measured", got=why)
        return Frontier.of(
            tried,
            failed={_words(Plan.from_toml(key)): why for key, why in self._failed.items()},
            risk_title=self._setting.risk.title,
            utility_title=_axis_title(self._setting.utility, tried),
            notes=tuple(self._notes(reached, interrupted)),
            original=self._original,
            seed=self._setting.seeds[0],
            interrupted=interrupted,
            n_evaluations=len(self._jobs),
        )

    def _notes(self, reached: Sequence[int], interrupted: bool) -> list[str]:
        explored = len(self._points[self._sizes[0]]) + len(self._failed)
        said = [f"{explored} plans tried, {len(self._jobs)} evaluations."]
        if len(self._sizes) > 1 and reached:
            steps = ", then ".join(f"{n:,}" for n in self._sizes if n in reached)
            said.append(f"Searched on a sample of {steps} records.")
        if reached and reached[-1] < self._original.n_records:
            said.append(f"Stopped early: the numbers are those of {reached[-1]:,} sampled records.")
        if self._too_slow:
            said.append(
                f"Left out, as all records would take more than {_LONGEST / 60:.0f} minutes: "
                f"{' | '.join(self._too_slow)}."
            )
        if self._store.n_resumed:
            said.append(f"{self._store.n_resumed} evaluations were taken from the earlier run.")
        if interrupted:
            said.append("The search was interrupted; this is the best so far.")
        return said


def _axis_title(axis: Objective, points: Sequence[Point]) -> str:
    """Name an axis; a loss on an axis of utility is shown with a minus sign."""
    raw = [(p.parts.get(axis.title), p.utility) for p in points]
    is_mirrored = any(r is not None and r == -u != 0 for r, u in raw)
    return f"minus {axis.title.lower()}" if is_mirrored else axis.title


def _stages(n_records: int, first: int) -> list[int]:
    """Return the sizes of the samples, all records last."""
    sizes = []
    size = first
    while size * 2 <= n_records and size <= _LARGEST_SAMPLE:
        sizes.append(size)
        size *= _GROWTH
    return [*sizes, n_records]


def _foretold(times: Sequence[tuple[int, float]], size: int) -> float:
    """Return the seconds a plan would take, by the power law of its last times."""
    if not times:
        return 0.0
    n, seconds = times[-1]
    return float(seconds * (size / n) ** _power(times[-3:]))


def _power(times: Sequence[tuple[int, float]]) -> float:
    """Return how fast time grows; differences of three times leave out what each run costs."""
    if len(times) < 2:
        return 1.0
    taken = [t for _, t in times]
    step = np.log(times[-1][0] / times[-2][0])
    powers = [np.log(taken[-1] / taken[-2]) / step]
    if len(times) > 2 and taken[2] > taken[1] > taken[0]:
        powers.append(np.log((taken[2] - taken[1]) / (taken[1] - taken[0])) / step)
    return float(np.clip(max(powers), 1.0, 3.0))


def _before(sizes: Sequence[int], size: int) -> int:
    return sizes[sizes.index(size) - 1]


def _sample(data: Microdata, n: int, seed: int) -> Microdata:
    """Draw records, or whole households, about as many as wanted."""
    if n >= data.n_records:
        return data
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 20, n)))
    household = data.schema.household
    if household is None:
        return data.take(np.sort(rng.permutation(data.n_records)[:n]))
    home = np.asarray(data.local[household].rank("dense").fill_null(0).to_numpy(), dtype=np.int64)
    order = rng.permutation(int(home.max(initial=0)) + 1)
    counts = np.bincount(home, minlength=len(order))[order]
    chosen = order[: int(np.searchsorted(np.cumsum(counts), n)) + 1]
    return data.take(np.flatnonzero(np.isin(home, chosen)))


def _point(job: Job, results: Sequence[Result], conditions: Sequence[Condition]) -> Point:
    """Join the replicates of a plan: means, intervals, and conditions at their worst."""
    risk, utility = ([getattr(r, axis) for r in results] for axis in ("risk", "utility"))
    shortfalls = {
        c.words: max(c.shortfall(r.conditions[i]) for r in results)
        for i, c in enumerate(conditions)
    }
    return Point(
        label=_words(job.plan),
        risk=float(np.mean(risk)),
        utility=float(np.mean(utility)),
        plan=job.plan,
        risk_interval=_interval(risk),
        utility_interval=_interval(utility),
        group=" + ".join(m.title for m in job.plan) or "nothing",
        parts={name: float(np.mean([r.parts[name] for r in results])) for name in results[0].parts},
        shortfalls=shortfalls,
        conditions={
            c.words: float(np.mean([r.conditions[i] for r in results]))
            for i, c in enumerate(conditions)
        },
        records=job.records,
        replicates=len(results),
    )


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean, from Student's distribution."""
    if len(values) < 2:
        return None
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    centre = float(np.mean(values))
    return centre - half, centre + half


def _words(plan: Plan) -> str:
    return "; then ".join(m.describe() for m in plan) or "nothing but removing identifiers"


def _key(plan: Plan) -> str:
    return plan.to_toml()


def _child(seed: int, replicate: int) -> int:
    state = np.random.SeedSequence(seed, spawn_key=(replicate,)).generate_state(4, np.uint32)
    return int.from_bytes(state.tobytes(), "little")


def _fingerprint(data: Microdata, looked_at: str, seed: int) -> str:
    parts = [
        __version__,
        frame_digest(data.local.select(data.columns)),
        data.schema.to_toml(),
        looked_at,
        # The seed is a secret: the file must not give it away.
        hashlib.sha256(f"tacit-search-{seed}".encode()).hexdigest(),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()

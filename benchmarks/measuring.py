"""How the benchmarks measure: CPU seconds, medians, growth exponents, Markdown tables.

CPU seconds rather than wall time, because machines are shared. Compiled code is warmed up first.
"""

from __future__ import annotations

import math
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def cpu_seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """Return the median CPU time of `work`, all threads counted."""
    taken = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def peak_megabytes() -> float:
    """Return the largest memory this process has held so far.

    Linux counts what the parent held at the fork in ``ru_maxrss``, hence its own figure first.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growth_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return b of the best line log(seconds) = a + b log(n): 1 is linear, 2 quadratic."""
    xs, ys = [math.log(n) for n in sizes], [math.log(max(s, 1e-9)) for s in seconds]
    return statistics.linear_regression(xs, ys).slope


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)

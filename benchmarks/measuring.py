"""How the benchmarks measure: CPU seconds, medians, growth exponents, Markdown tables.

CPU seconds rather than wall time, because machines are shared. Compiled code is warmed up first.
"""

from __future__ import annotations

import math
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np


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


def pairs_distance(
    before: Mapping[str, Sequence[Any]], after: Mapping[str, Sequence[Any]]
) -> float:
    """Return the mean total variation between two files over the tables of all pairs of columns.

    Numbers are cut at the deciles of the first file; missing values are a category of their own.
    """
    coded = {name: _codes(before[name], after[name]) for name in before}
    found = []
    for first, second in combinations(coded.values(), 2):
        tables = []
        for x, y in zip(first[:2], second[:2], strict=True):
            counts = np.bincount(x * second[2] + y, minlength=first[2] * second[2])
            tables.append(counts / len(x))
        found.append(np.abs(tables[0] - tables[1]).sum() / 2)
    return float(np.mean(found))


def _codes(before: Sequence[Any], after: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the codes of both files and how many there may be."""
    numbers = [v for v in before if isinstance(v, int | float) and not isinstance(v, bool)]
    if numbers and len(set(numbers)) > 20:
        cuts = np.unique(np.nanquantile(np.array(numbers, dtype=float), np.arange(1, 10) / 10))
        sides = [np.array([np.nan if v is None else v for v in side], dtype=float)
                 for side in (before, after)]  # fmt: skip
        coded = [np.where(np.isnan(s), len(cuts) + 1, np.searchsorted(cuts, s)) for s in sides]
        return coded[0], coded[1], len(cuts) + 2
    known: dict[str, int] = {}
    sides = [
        np.array([known.setdefault(_text(v), len(known)) for v in side]) for side in (before, after)
    ]
    return sides[0], sides[1], len(known)


def _text(value: Any) -> str:
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if missing else str(float(value) if isinstance(value, int | float) else value)

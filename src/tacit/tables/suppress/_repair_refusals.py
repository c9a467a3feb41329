"""What the repair loop says when it finds no pattern, or not in time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from tacit.core.errors import ProtectionError
from tacit.tables.suppress._repair_problem import Problem
from tacit.tables.suppress._repair_search import Search


def in_time(search: Search, failed: Sequence[int] = ()) -> None:
    """Refuse if time was over before every need had a proof, but for those that have none."""
    if time.monotonic() > search.until and len(search.pattern.unproved) > len(failed):
        too_late(search)


def too_late(search: Search) -> NoReturn:
    """Say how many proofs were missing when time was over, and what to do."""
    late, known = search.pattern.unproved, search.problem.needs.known
    against = sum(len(known[need]) > 0 for need in late)
    less = f", {against:,} of them against single respondents" if against else ""
    other = ", leave single respondents out (singletons=False)" if against else ""
    raise ProtectionError(
        "time was over before a pattern was found that protects every sensitive cell",
        got=f"{len(late):,} of {len(search.problem.needs):,} proofs are missing{less}",
        do=f"give more seconds{other}, or use SuppressElimination(intervals=False) if it is "
        "enough that no cell can be calculated",
    )


def refuse(problem: Problem, cells: np.ndarray, how: str) -> NoReturn:
    """Say of which open cells no pattern was found that protects them, and what to do."""
    raise ProtectionError(
        f"no suppression was found that protects some sensitive cells {how}",
        got=problem.table.describe(np.unique(problem.cells[cells])),
        do="unfreeze cells around them, or collapse categories (redesign)",
    )

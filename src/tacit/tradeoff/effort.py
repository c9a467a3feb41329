"""How much work a search may do."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt

from tacit.core.value import Value
from tacit.tradeoff._exploring import Sampler


class Effort(Value):
    """How much work a search may do, and how."""

    evaluations: Annotated[int, Ge(1)] = 100
    """Number of plans to try."""
    seconds: Annotated[float, Gt(0)] | None = None
    """Start no further batch after so many seconds; what was found by then counts."""
    replicates: Annotated[int, Ge(1)] = 3
    """How often a plan of the frontier that draws at random is drawn."""
    sample: Annotated[int, Ge(50)] = 2000
    """Records of the first sample on which plans of a large file are tried."""
    workers: Annotated[int, Ge(1)] | None = None
    """Number of processes; by default as many as there are cores, once that pays."""
    sampler: Sampler = "auto"
    """How plans are proposed: all of them, by evolution, by a model, or at random."""

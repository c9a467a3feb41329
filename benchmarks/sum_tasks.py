"""The task of adding up vectors that three parties do not show each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from capability import Work

PARTIES = 3


def vectors(n: int) -> np.ndarray:
    return np.arange(n, dtype=float) + np.arange(PARTIES)[:, None]


def masked_sum(n: int) -> Work:
    """Let the agencies and their coordinator do all their work in this process."""
    from tacit import federated
    from tacit.federated.analyses.vector import Vector
    from tacit.federated.coordinator import Coordinator
    from tacit.federated.simulator import InProcess, agencies

    members = agencies(list(vectors(n)), federated.Policy(max_length=n))
    channels = {agency.name: InProcess(agency) for agency in members}

    def work() -> Any:
        coordinator = Coordinator(channels, encoding=federated.COUNTS, workers=1)
        return coordinator.run(Vector(size=n))["sum"]

    return work


def exactness(total: np.ndarray) -> str:
    return "exact" if np.array_equal(total, vectors(len(total)).sum(axis=0)) else "WRONG"


def lengths(n: int) -> Any:
    """Return the file that the peer reads: it only needs the length."""
    import polars as pl

    return pl.DataFrame({"place": np.arange(n)})


def bare_sum(n: int) -> Work:
    values = vectors(n)
    return lambda: values.sum(axis=0)

"""Search among 10^3 and 10^4 peers (``--large``: 10^5), equilibria of growing games; CPU s."""

from __future__ import annotations

import sys

import numpy as np
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

from tacit import coprivacy

_EACH = 100


def search() -> None:
    coprivacy.simulate_search(coprivacy.draw_queries(50, 10, seed=1), seed=1)  # compile
    sizes = (1_000, 10_000, 100_000) if "--large" in sys.argv else (1_000, 10_000)
    seconds, rows = [], []
    for n in sizes:
        queries = coprivacy.draw_queries(n, _EACH, seed=1)
        found: list[coprivacy.SearchResult] = []
        seconds.append(
            cpu_seconds(lambda q=queries, f=found: f.append(coprivacy.simulate_search(q, seed=1)))
        )
        result = found[0]
        rows.append([f"{n:,}", f"{len(queries):,}", f"{seconds[-1]:.2f}",
                     f"{result.direct_entropy.mean():.2f}", f"{result.entropy.mean():.2f}",
                     f"{result.gain.min():.2f}", f"{result.nash_fraction:.3f}",
                     f"{result.similarity.mean():.3f}", f"{peak_megabytes():,.0f}"])  # fmt: skip
    rows.append(["growth", "", f"n^{growth_exponent(sizes, seconds):.2f}", *[""] * 6])
    header = ["peers", "queries", "CPU s", "H direct", "H exchange", "smallest gain",
              "coprivate among forwarded", "cosine", "peak MB so far"]  # fmt: skip
    print(markdown(header, rows))


def _shown(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2f}"


def solvers() -> None:
    rng, rows = np.random.default_rng(1), []
    for players in (4, 8, 12, 16):
        game = coprivacy.Game(rng.random((players, *(2,) * players)))
        pure = cpu_seconds(game.equilibria)
        advice = cpu_seconds(game.correlated_equilibrium) if players <= 14 else None
        mixed = cpu_seconds(game.mixed_equilibria) if players <= 6 else None
        rows.append([f"{players} x 2", f"{2**players:,}", f"{pure:.4f}", _shown(mixed),
                     _shown(advice)])  # fmt: skip
    for size in (5, 20, 60):
        game = coprivacy.Game(rng.random((2, size, size)))
        rows.append([f"2 x {size}", f"{size**2:,}", f"{cpu_seconds(game.equilibria):.4f}",
                     f"{cpu_seconds(game.mixed_equilibria):.2f}",
                     f"{cpu_seconds(game.correlated_equilibrium):.2f}"])  # fmt: skip
    header = [
        "players x strategies",
        "outcomes",
        "pure, CPU s",
        "mixed, CPU s",
        "correlated, CPU s",
    ]
    print(markdown(header, rows))


if __name__ == "__main__":
    search()
    print()
    solvers()

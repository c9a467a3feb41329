"""Mixed equilibria of three and more players, support by support.

On its support each player must be indifferent between the strategies; the unknowns are the
probabilities and each player's value. The equations are polynomial, so Newton's method is started
from several points. What comes out are candidates: the caller checks each.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product

import numpy as np

from tacit.core.errors import ParameterError
from tacit.core.progress import track

_STARTS = 8
_MOST = 3_000
"""Most combinations of supports that are tried."""

Support = tuple[tuple[int, ...], ...]


def indifferent_mixtures(payoffs: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """Return mixtures that make every player indifferent on some combination of supports."""
    sizes = payoffs.shape[1:]
    n_combinations = int(np.prod([2.0**size - 1 for size in sizes]))
    if n_combinations > _MOST:
        raise ParameterError(
            "there are too many combinations of supports for mixed equilibria of many players",
            got=f"{n_combinations:,}, at most {_MOST:,}",
            do="look at pure or correlated equilibria, which have no such limit",
        )
    rng = np.random.default_rng(0)  # starting points only: the same game gives the same answer
    found: list[tuple[np.ndarray, ...]] = []
    with track("trying supports", n_combinations) as advance:
        for support in product(*map(_subsets, sizes)):
            if any(len(own) > 1 for own in support):  # the pure ones are known
                found += _on_support(payoffs, support, rng)
            advance(1)
    return found


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(size), r) for r in range(1, size + 1))


def _on_support(
    payoffs: np.ndarray, support: Support, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, ...]]:
    from tacit.coprivacy._indifference_kernel import newton

    n_players = len(support)
    sizes = [len(own) for own in support]
    first = np.concatenate([[0], np.cumsum(sizes)])
    positions = np.indices(sizes).reshape(n_players, -1).T + first[:-1]
    on_support = payoffs[(slice(None), *np.ix_(*support))].reshape(n_players, -1)  # type: ignore[arg-type]
    for start in _starts(sizes, rng):
        x = newton(np.ascontiguousarray(on_support), np.ascontiguousarray(positions), first, start)
        if np.isfinite(x).all() and x[: first[-1]].min() > 0:
            yield _spread(np.split(x[: first[-1]], first[1:-1]), support, payoffs.shape[1:])


def _starts(sizes: list[int], rng: np.random.Generator) -> Iterator[np.ndarray]:
    values = np.full(len(sizes), 0.5)
    yield np.concatenate([*(np.full(size, 1 / size) for size in sizes), values])
    for _ in range(_STARTS - 1):
        yield np.concatenate([*(rng.dirichlet(np.ones(size)) for size in sizes), values])


def _spread(
    parts: list[np.ndarray], support: Support, sizes: tuple[int, ...]
) -> tuple[np.ndarray, ...]:
    whole = tuple(np.zeros(size) for size in sizes)
    for own, part, chosen in zip(whole, parts, support, strict=True):
        own[list(chosen)] = part
    return whole

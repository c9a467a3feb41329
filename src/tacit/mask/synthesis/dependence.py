"""How much variables tell about each other, and the orders and predictors that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tacit.mask.synthesis.columns import Column

_LEVELS = 16
"""Values are merged into so many levels at most."""
_MOST_COUNTED = 50_000


def coarse_levels(column: Column, rows: np.ndarray) -> np.ndarray:
    """Merge values into a few levels: quantiles of numbers, frequent classes; 0 is missing."""
    values = column.values[rows]
    if column.is_class:
        sizes = np.bincount(values + 1, minlength=column.n_levels + 1)
        sizes[0] = 0
        frequent = np.argsort(-sizes, kind="stable")[: _LEVELS - 1]
        level = np.full(column.n_levels + 1, _LEVELS, dtype=np.int64)
        level[frequent], level[0] = 1 + np.arange(len(frequent)), 0
        return np.asarray(level[values + 1])
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values), dtype=np.int64)
    cuts = np.unique(np.quantile(known, np.linspace(0, 1, _LEVELS + 1)[1:-1]))
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(cuts, values, side="left"))


def dependence(columns: Mapping[str, Column], rng: np.random.Generator) -> np.ndarray:
    r"""Return the symmetric uncertainty :math:`2I(X;Y)/(H(X)+H(Y))` of all pairs of columns."""
    n = len(next(iter(columns.values())).values)
    rows = np.arange(n) if n <= _MOST_COUNTED else rng.choice(n, _MOST_COUNTED, replace=False)
    levels = [coarse_levels(column, rows) for column in columns.values()]
    single = [_entropy(np.bincount(a)) for a in levels]
    found = np.eye(len(levels))
    for i in range(len(levels)):
        for j in range(i):
            joint = _entropy(np.bincount(levels[i] * (_LEVELS + 1) + levels[j]))
            total = single[i] + single[j]
            found[i, j] = found[j, i] = 2 * (total - joint) / total if total > 0 else 0.0
    return found


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-np.sum(shares * np.log(shares)))


def learnt_visit(names: Sequence[str], related: np.ndarray) -> list[str]:
    """Order variables so that each follows those that tell most about it.

    The first one tells most about all others.
    """
    left = list(range(len(names)))
    chosen = [int(np.argmax(related.sum(axis=1)))] if left else []
    left = [j for j in left if j not in chosen]
    while left:
        following = max(left, key=lambda j: float(related[j, chosen].max()))
        chosen.append(following)
        left.remove(following)
    return [names[j] for j in chosen]


def best_predictors(
    name: str, candidates: Sequence[str], names: Sequence[str], related: np.ndarray, most: int
) -> tuple[str, ...]:
    """Return the candidates that tell most about a variable, in the order given."""
    if len(candidates) <= most:
        return tuple(candidates)
    place = {n: j for j, n in enumerate(names)}
    ranked = sorted(candidates, key=lambda c: -float(related[place[name], place[c]]))[:most]
    return tuple(c for c in candidates if c in ranked)

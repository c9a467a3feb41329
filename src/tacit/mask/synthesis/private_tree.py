"""A tree of pairs of categories, measured with differential privacy and drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ProtectionError, optional
from tacit.mask.synthesis.table_model import fitted_table

Pair = tuple[int, int]
_CAUTION = 1 + 1e-9
"""Noise is larger by this, so that rounding of the losses never adds up to more than stated."""
_FAINT = 1e-6
"""Share of independence mixed into a table, so that no margin is out of reach."""


@dataclass
class Ledger:
    """Adds up the privacy loss that OpenDP states for each measurement."""

    epsilon: float
    losses: list[float] = field(default_factory=list)

    @property
    def spent(self) -> float:
        """Privacy loss so far."""
        return float(sum(self.losses))

    def pay(self, loss: float) -> None:
        """Book a measurement before it is made, or refuse it."""
        if self.spent + loss > self.epsilon:
            raise ProtectionError(
                "the measurement would cost more than the stated epsilon",
                got=f"{self.spent + loss:g} of {self.epsilon:g}",
            )
        self.losses.append(loss)

    def counts(self, table: np.ndarray, epsilon: float) -> np.ndarray:
        """Return counts with discrete Laplace noise; one record changes one of them by one."""
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        noise = dp.m.make_laplace(*space, scale=_CAUTION / epsilon)
        self.pay(float(noise.map(1)))
        return np.array(noise(table.ravel().tolist()), dtype=np.int64).reshape(table.shape)

    def largest(self, scores: Sequence[int], epsilon: float) -> int:
        """Return the place of about the largest score; one record changes each by at most one."""
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        choice = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 * _CAUTION / epsilon)
        self.pay(float(choice.map(1)))
        return int(choice([int(s) for s in scores]))


def _opendp() -> Any:
    dp: Any = optional("opendp.prelude", extra="dp")
    dp.enable_features("contrib")
    return dp


def measured_singles(
    codes: np.ndarray, shape: Sequence[int], ledger: Ledger, epsilon: float
) -> list[np.ndarray]:
    """Count each column, with noise; together they cost epsilon."""
    each = epsilon / len(shape)
    return [ledger.counts(np.bincount(codes[:, j], minlength=k), each) for j, k in enumerate(shape)]


def measured_pairs(
    codes: np.ndarray, shape: Sequence[int], pairs: Sequence[Pair], ledger: Ledger, epsilon: float
) -> list[np.ndarray]:
    """Count pairs of columns, with noise; together they cost epsilon."""
    return [ledger.counts(_crossed(codes, shape, p), epsilon / len(pairs)) for p in pairs]


def _crossed(codes: np.ndarray, shape: Sequence[int], pair: Pair) -> np.ndarray:
    i, j = pair
    flat = codes[:, i] * shape[j] + codes[:, j]
    return np.bincount(flat, minlength=shape[i] * shape[j]).reshape(shape[i], shape[j])


def chosen_tree(
    codes: np.ndarray, singles: Sequence[np.ndarray], ledger: Ledger, epsilon: float
) -> list[Pair]:
    r"""Choose pairs that form a tree and are far from independent, privately.

    Notes
    -----
    A pair scores :math:`\sum |n_{ab} - \hat n_{ab}|`, with :math:`\hat n` the independent table
    of the noisy single counts in whole numbers [mckenna2021]_. That table is public already, so one
    record changes a score by at most one.
    """
    shape = [len(s) for s in singles]
    n = _total(singles)
    shares = [_on_simplex(s, 1.0) for s in (s / max(n, 1.0) for s in singles)]
    score = {
        p: int(np.abs(_crossed(codes, shape, p) - _alone(shares, p, n)).sum())
        for p in combinations(range(len(shape)), 2)
    }
    group = list(range(len(shape)))
    tree: list[Pair] = []
    while len(tree) < len(shape) - 1:
        open_pairs = [p for p in score if group[p[0]] != group[p[1]]]
        place = ledger.largest([score[p] for p in open_pairs], epsilon / (len(shape) - 1))
        i, j = open_pairs[place]
        tree.append((i, j))
        group = [group[i] if g == group[j] else g for g in group]
    return tree


def _alone(shares: Sequence[np.ndarray], pair: Pair, n: float) -> np.ndarray:
    return np.rint(n * np.outer(shares[pair[0]], shares[pair[1]])).astype(np.int64)


def check_forest(pairs: Sequence[Pair], n_columns: int) -> None:
    """Refuse pairs that run in a circle."""
    group = list(range(n_columns))
    for i, j in pairs:
        if group[i] == group[j]:
            raise DataError("the pairs run in a circle", do="leave one of them out")
        group = [group[i] if g == group[j] else g for g in group]


def _total(tables: Sequence[np.ndarray]) -> float:
    """Estimate the number of records from noisy tables, small ones counting more."""
    weights = np.array([1.0 / t.size for t in tables])
    return max(float(np.average([float(t.sum()) for t in tables], weights=weights)), 0.0)


def _on_simplex(table: np.ndarray, total: float) -> np.ndarray:
    """Return the nearest table without negative cells that adds up to a total."""
    values = np.sort(table.ravel().astype(np.float64))[::-1]
    excess = (np.cumsum(values) - total) / np.arange(1, values.size + 1)
    shift = excess[np.flatnonzero(values > excess)[-1]] if total > 0 else values[0]
    return np.asarray(np.maximum(table - shift, 0.0))


@dataclass(frozen=True)
class PrivateTree:
    """Categories whose joint distribution follows from noisy counts alone."""

    singles: tuple[np.ndarray, ...]
    """Share of each category."""
    tables: dict[Pair, np.ndarray]
    """Joint shares of the pairs."""
    n: float
    """Estimated number of records."""

    @classmethod
    def of(
        cls, singles: Sequence[np.ndarray], pairs: Sequence[Pair], tables: Sequence[np.ndarray]
    ) -> PrivateTree:
        """Make noisy counts agree with each other."""
        n = _total(singles)
        margins = [_on_simplex(s / max(n, 1.0), 1.0) for s in singles]
        joint = {}
        for (i, j), table in zip(pairs, tables, strict=True):
            apart = np.outer(margins[i], margins[j])
            start = (1 - _FAINT) * _on_simplex(table / max(n, 1.0), 1.0) + _FAINT * apart
            joint[i, j] = fitted_table(start, [((0,), margins[i]), ((1,), margins[j])])
        return cls(tuple(margins), joint, n)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw records as codes, each column given its neighbour in the tree."""
        codes = np.full((n, len(self.singles)), -1, dtype=np.int64)
        for root in range(len(self.singles)):
            if n and codes[0, root] < 0:
                codes[:, root] = _picked(self.singles[root][None], np.zeros(n, dtype=int), rng)
                self._follow(root, codes, rng)
        return codes

    def _follow(self, start: int, codes: np.ndarray, rng: np.random.Generator) -> None:
        waiting = [start]
        while waiting:
            near = waiting.pop()
            for (i, j), table in self.tables.items():
                far = j if i == near else i
                if near in (i, j) and codes[0, far] < 0:
                    given = table if i == near else table.T
                    codes[:, far] = _picked(given, codes[:, near], rng)
                    waiting.append(far)


def _picked(rows: np.ndarray, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a column of a table for each record, given its row."""
    steps = np.cumsum(rows, axis=1)
    ends = np.where(steps[:, -1:] > 0, steps / np.maximum(steps[:, -1:], 1e-300), 1.0)
    # One sorted line of all rows: row r fills the stretch from r to r + 1.
    line = (ends + np.arange(len(rows))[:, None]).ravel()
    place = np.searchsorted(line, which + rng.random(len(which)), side="right")
    return np.asarray(np.minimum(place - which * rows.shape[1], rows.shape[1] - 1))

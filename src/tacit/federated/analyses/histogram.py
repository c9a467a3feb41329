"""Histograms and quantiles of pooled records, by agreed bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated.analyses._diagnostics import merged
from tacit.federated.analysis import (
    SMALLEST_CELLS,
    Analysis,
    Outcome,
    State,
    ballot,
    complete_records,
    require_cells,
    require_plausible,
    require_records,
    strictest,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


class Histogram(Analysis, key="histogram"):
    """Counts of a numeric variable between agreed edges.

    A value outside the edges counts in the first or last bin, which are open. Neighbouring bins
    are joined until none of the pooled ones is small by the strictest of the agencies' rules; an
    agency with a small bin of its own refuses. Missing values are left out.
    """

    variable: str
    """Numeric column."""
    edges: tuple[float, ...]
    """Inner edges of the bins, rising; a value on an edge is in the bin below."""

    def model_post_init(self, context: Any) -> None:
        """Check the edges."""
        if (
            not self.edges
            or not np.all(np.diff(self.edges) > 0)
            or not np.all(np.isfinite(self.edges))
        ):
            raise ParameterError("edges are rising numbers", got=list(self.edges)[:10])

    def columns(self) -> tuple[str, ...]:
        """Return the variable."""
        return (self.variable,)

    def part(self, data: Microdata, policy: Policy) -> np.ndarray:
        """Return the agency's counts, or refuse small ones."""
        values = complete_records(data, (self.variable,), policy)[:, 0]
        counts = np.bincount(np.searchsorted(self.edges, values), minlength=self._n_bins)
        require_cells(counts, policy, "a bin of this agency")
        return np.concatenate([counts, ballot(policy)])

    def require_apart(self, earlier: Analysis, data: Microdata, policy: Policy) -> None:
        """Refuse edges that, with earlier ones, have few records between them."""
        super().require_apart(earlier, data, policy)
        if not isinstance(earlier, Histogram) or earlier.variable != self.variable:
            return
        edges = np.union1d(self.edges, earlier.edges)
        values = data.numeric([self.variable])[:, 0]
        counts = np.bincount(np.searchsorted(edges, values[np.isfinite(values)]))
        require_cells(counts, policy, "a table by these edges and those of an earlier computation")

    @property
    def _n_bins(self) -> int:
        return len(self.edges) + 1

    def length(self, state: State) -> int:
        """Return the number of bins, and of votes for the smallest one shown."""
        return self._n_bins + len(SMALLEST_CELLS)

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the counts, and the agency's rule."""
        return part

    def _counts(self, total: np.ndarray, policy: Policy) -> np.ndarray:
        counts: np.ndarray = np.rint(total[: self._n_bins])
        fits = np.allclose(counts, total[: self._n_bins])
        require_plausible(bool((counts >= 0).all() and fits), "counts")
        require_records(int(counts.sum()), policy)
        return counts

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the pooled counts, small bins joined with their neighbours."""
        counts = self._counts(total, policy)
        classes = merged(counts, strictest(total[self._n_bins :]))
        edges = [self.edges[last] for _, last, _ in classes[:-1]]
        return Outcome(
            state,
            {"n": int(counts.sum()), "edges": edges, "counts": [count for *_, count in classes]},
        )


class Quantiles(Histogram, key="quantiles"):
    """Quantiles of a numeric variable, found between agreed edges.

    The bin of the quantile is exact; within it the records are taken as spread evenly. A quantile
    in an open bin, or in a bin of few records, is refused.
    """

    probabilities: tuple[float, ...] = (0.25, 0.5, 0.75)
    """Shares of records below the quantiles."""

    def model_post_init(self, context: Any) -> None:
        """Check edges and probabilities."""
        super().model_post_init(context)
        if not self.probabilities or not all(0 < p < 1 for p in self.probabilities):
            raise ParameterError("probabilities are between 0 and 1", got=list(self.probabilities))

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the quantiles and the bins in which they lie."""
        counts = self._counts(total, policy)
        require_cells(counts, policy, "a pooled bin")
        below = np.concatenate([[0], np.cumsum(counts)])
        found = []
        for p in self.probabilities:
            rank = p * below[-1]
            i = int(np.searchsorted(below[1:], rank, side="left"))
            if i == 0 or i == len(self.edges):
                raise RefusedError(f"the quantile {p:g} lies outside the edges")
            low, high = self.edges[i - 1], self.edges[i]
            value = low + (high - low) * (rank - below[i]) / counts[i]
            found.append({"p": p, "value": float(value), "between": [low, high]})
        return Outcome(state, {"n": int(below[-1]), "quantiles": found})

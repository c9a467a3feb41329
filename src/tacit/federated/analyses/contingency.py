"""Contingency tables of pooled records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated.analysis import (
    Analysis,
    Outcome,
    State,
    codes_of,
    require_cells,
    require_plausible,
    require_records,
)
from tacit.federated.policy import Policy

_MOST_CELLS = 1_000_000


class Contingency(Analysis, key="contingency"):
    """Counts of records by agreed categories, with the chi-squared test for two variables.

    A table with small cells is refused, at each agency for its own and for the pooled one: to
    blank single cells is not enough while margins are known. Take fewer categories instead.
    Records with a missing value are left out.
    """

    levels: Mapping[str, tuple[str, ...]]
    """The categories of each variable, in order."""

    def model_post_init(self, context: Any) -> None:
        """Check the categories."""
        if not self.levels or any(len(set(v)) != len(v) or not v for v in self.levels.values()):
            raise ParameterError("each variable has different categories", got=dict(self.levels))
        if math.prod(self.shape) > _MOST_CELLS:
            raise ParameterError(
                f"a table has at most {_MOST_CELLS:,} cells", got=f"{math.prod(self.shape):,}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each variable."""
        return tuple(len(v) for v in self.levels.values())

    def columns(self) -> tuple[str, ...]:
        """Return the variables."""
        return tuple(self.levels)

    def part(self, data: Microdata, policy: Policy) -> np.ndarray:
        """Return the agency's counts, or refuse small ones."""
        codes = [codes_of(data, column, levels) for column, levels in self.levels.items()]
        kept = np.logical_and.reduce([code >= 0 for code in codes])
        require_records(int(kept.sum()), policy)
        place = np.ravel_multi_index([code[kept] for code in codes], self.shape)
        counts = np.bincount(place, minlength=self.length({}))
        require_cells(counts, policy, "the table of this agency")
        return counts.astype(float)

    def length(self, state: State) -> int:
        """Return the number of cells."""
        return math.prod(self.shape)

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the counts."""
        return part

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the pooled table."""
        counts = np.rint(total).reshape(self.shape)
        require_plausible(bool((counts >= 0).all()), "negative counts")
        require_cells(counts, policy, "the pooled table")
        answer: dict[str, Any] = {
            "n": int(counts.sum()),
            "levels": {name: list(v) for name, v in self.levels.items()},
            "counts": counts.astype(int).tolist(),
        }
        return Outcome(state, answer | _independence(counts))


def _independence(counts: np.ndarray) -> dict[str, Any]:
    """Return Pearson's test of a table with two variables and no empty row or column."""
    margins = [counts.sum(axis=a) for a in range(counts.ndim)]
    if counts.ndim != 2 or min(counts.shape) < 2 or any((m == 0).any() for m in margins):
        return {}
    from scipy import special

    expected = np.outer(margins[1], margins[0]) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return {
        "chi_squared": statistic,
        "degrees_of_freedom": freedom,
        "p_value": float(special.chdtrc(freedom, statistic)),
    }

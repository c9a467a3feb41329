"""How many records the agencies have together."""

from __future__ import annotations

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.analysis import (
    Analysis,
    Outcome,
    State,
    require_plausible,
    require_records,
)
from tacit.federated.policy import Policy


class Count(Analysis, key="count"):
    """Number of records, and of values that are not missing in each variable."""

    variables: tuple[str, ...] = ()
    """Columns whose values are counted."""

    def columns(self) -> tuple[str, ...]:
        """Return the variables."""
        return self.variables

    def part(self, data: Microdata, policy: Policy) -> np.ndarray:
        """Return the counts of the agency."""
        require_records(data.n_records, policy)
        known = [data.n_records - data.local[c].null_count() for c in self.variables]
        for n in known:
            require_records(n, policy)
        return np.array([data.n_records, *known], dtype=float)

    def universe(self, data: Microdata) -> None:
        """Return nothing: only numbers of records are shown."""
        return

    def length(self, state: State) -> int:
        """Return one number, and one for each variable."""
        return 1 + len(self.variables)

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the counts."""
        return part

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the pooled counts."""
        counts = np.rint(total).astype(int)
        require_plausible(bool((counts >= 0).all() and (counts <= counts[0]).all()), "counts")
        known = dict(zip(self.variables, counts[1:].tolist(), strict=True))
        return Outcome(state, {"n": int(counts[0]), "known": known})

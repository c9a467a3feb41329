"""Means and variances of pooled records."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.analysis import (
    Analysis,
    Outcome,
    State,
    complete_records,
    require_different,
    require_plausible,
    require_records,
)
from tacit.federated.policy import Policy


class Mean(Analysis, key="mean"):
    r"""Count, means and standard deviations of numeric variables.

    Notes
    -----
    Two sums: :math:`n, \sum x`, and then :math:`\sum (x - \bar x)^2` around the pooled mean, which
    is exact where :math:`\sum x^2 - n \bar x^2` is not. Records with a missing value in any of the
    variables are left out.
    """

    variables: tuple[str, ...]
    """Numeric columns."""

    def model_post_init(self, context: Any) -> None:
        """Check the variables."""
        require_different(self.variables)

    def columns(self) -> tuple[str, ...]:
        """Return the variables."""
        return self.variables

    def part(self, data: Microdata, policy: Policy) -> np.ndarray:
        """Return the complete records."""
        return complete_records(data, self.variables, policy)

    def length(self, state: State) -> int:
        """Return one number for each variable, and the count."""
        return 1 + len(self.variables)

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the count and sums, or sums of squares around the pooled mean."""
        if not state:
            return np.concatenate([[len(part)], part.sum(axis=0)])
        return np.concatenate([[len(part)], ((part - state["mean"]) ** 2).sum(axis=0)])

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the mean first, then the answer."""
        n = round(total[0])
        if not state:
            require_plausible(n > 0, "no records")
            require_records(n, policy)
            return Outcome({"n": n, "mean": total[1:] / n})
        require_plausible(n == state["n"] and bool((total[1:] >= 0).all()), "a negative square")
        deviation = np.sqrt(total[1:] / (n - 1)) if n > 1 else np.full(len(total) - 1, np.nan)
        return Outcome(
            state,
            {
                "n": n,
                "means": dict(zip(self.variables, state["mean"].tolist(), strict=True)),
                "deviations": dict(zip(self.variables, deviation.tolist(), strict=True)),
            },
        )

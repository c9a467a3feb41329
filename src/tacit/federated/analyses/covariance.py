"""Covariances, correlations and principal components of pooled records."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.federated.analysis import (
    Analysis,
    Outcome,
    State,
    complete_records,
    require_different,
    require_plausible,
    require_records,
    symmetric,
    triangle,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


class Covariance(Analysis, key="covariance"):
    r"""Means, covariance and correlation matrix of numeric variables.

    Notes
    -----
    Three sums: the mean, then :math:`\sum (x - \bar x)(x - \bar x)^T`, then how many records have
    too much leverage: a variable that marks one record would give away all its other values.
    Refused where the variables are as many as the records. Records with a missing value are left
    out.
    """

    variables: tuple[str, ...]
    """Numeric columns."""

    def model_post_init(self, context: Any) -> None:
        """Check the variables."""
        require_different(self.variables)

    def columns(self) -> tuple[str, ...]:
        """Return the variables."""
        return self.variables

    def multiplied(self) -> tuple[str, ...]:
        """Return the variables: all their products are shown."""
        return self.variables

    def part(self, data: Microdata, policy: Policy) -> np.ndarray:
        """Return the complete records."""
        values = complete_records(data, self.variables, policy)
        if len(values) <= len(self.variables):
            raise RefusedError("no more records than variables (p >= n)")
        return values

    def length(self, state: State) -> int:
        """Return the count and the sums, a triangle of products, or the check of leverages."""
        p = len(self.variables)
        return 1 + (p, p * (p + 1) // 2, 1)[state.get("sum", 0)]

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the sums, or the products around the pooled mean."""
        if not state:
            return np.concatenate([[len(part)], part.sum(axis=0)])
        centred = part - state["mean"]
        if state["sum"] == 2:
            leverage = np.einsum("ij,jk,ik->i", centred, state["inverse"], centred) + 1 / state["n"]
            return np.array([len(part), np.sum(leverage > state["limit"])])
        return np.concatenate([[len(part)], triangle(centred.T @ centred)])

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the mean first, then the answer."""
        n = round(total[0])
        if not state:
            require_plausible(n > 0, "no records")
            require_records(n, policy)
            return Outcome({"sum": 1, "n": n, "mean": total[1:] / n})
        require_plausible(n == state["n"], "another number of records")
        if state["sum"] == 1:
            return Outcome(self._spread(total, state, policy))
        if round(total[1]) > 0:
            raise RefusedError(f"a record has a leverage above {policy.max_leverage:g}")
        return Outcome(state, self._answer(n, state["mean"], state["covariance"]))

    def _spread(self, total: np.ndarray, state: State, policy: Policy) -> dict[str, Any]:
        covariance = symmetric(total[1:], len(self.variables)) / (state["n"] - 1)
        values = np.linalg.eigvalsh(covariance)
        require_plausible(bool(values[0] >= -1e-9 * max(values[-1], 0) - 1e-300), "variances")
        scale = 1 / np.sqrt(np.where(np.diag(covariance) > 0, np.diag(covariance), 1.0))
        inverse = np.linalg.pinv(covariance * np.outer(scale, scale), hermitian=True)
        inverse = inverse * np.outer(scale, scale) / (state["n"] - 1)
        return {**state, "sum": 2, "covariance": covariance, "inverse": inverse,
                "limit": policy.max_leverage}  # fmt: skip

    def _answer(self, n: int, mean: np.ndarray, covariance: np.ndarray) -> dict[str, Any]:
        return {
            "n": n,
            "variables": list(self.variables),
            "means": dict(zip(self.variables, mean.tolist(), strict=True)),
            "covariance": covariance.tolist(),
            "correlation": correlation(covariance).tolist(),
        }


class Components(Covariance, key="components"):
    """Principal components: directions of largest variance and what they explain."""

    n_components: Annotated[int, Ge(1)] | None = None
    """How many; None for all."""
    scaled: bool = True
    """Whether every variable counts the same (components of the correlation matrix)."""

    def _answer(self, n: int, mean: np.ndarray, covariance: np.ndarray) -> dict[str, Any]:
        deviation = np.sqrt(np.diag(covariance))
        if self.scaled and np.any(deviation <= 0):
            raise RefusedError("a variable is constant in the pooled records")
        values, vectors = np.linalg.eigh(correlation(covariance) if self.scaled else covariance)
        order = np.argsort(values)[::-1][: self.n_components]
        chosen = vectors[:, order]
        # A direction and its opposite are the same; the largest entry is made positive.
        largest = chosen[np.argmax(np.abs(chosen), axis=0), np.arange(chosen.shape[1])]
        chosen = chosen * np.where(largest < 0, -1.0, 1.0)
        return {
            "n": n,
            "variables": list(self.variables),
            "means": dict(zip(self.variables, mean.tolist(), strict=True)),
            "deviations": dict(zip(self.variables, deviation.tolist(), strict=True)),
            "variances": np.maximum(values[order], 0.0).tolist(),
            "explained": (np.maximum(values[order], 0.0) / values.sum()).tolist(),
            "components": chosen.T.tolist(),
        }


def correlation(covariance: np.ndarray) -> np.ndarray:
    """Return the correlations; those of a constant variable are 0."""
    deviation = np.sqrt(np.diag(covariance))
    scale = np.outer(deviation, deviation)
    found: np.ndarray = np.where(scale > 0, covariance / np.where(scale > 0, scale, 1.0), 0.0)
    return found

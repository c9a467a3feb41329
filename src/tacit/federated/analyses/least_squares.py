"""Linear regression over the records of all agencies, with KS's diagnostics."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.analyses import _diagnostics as shown
from tacit.federated.analyses._design import Design, Regression, Scale, solved
from tacit.federated.analysis import (
    SMALLEST_CELLS,
    Outcome,
    State,
    require_plausible,
    strictest,
    symmetric,
    triangle,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


class Ols(Regression, key="ols"):
    r"""Ordinary least squares with standard errors, R² and diagnostics.

    Notes
    -----
    :math:`X^T X = \sum_j (X^j)^T X^j` and :math:`X^T y` likewise [karr2005]_. Four sums: centres
    and spreads; cross-products of centred predictors (so that nothing is lost to cancellation);
    residual sum of squares and leverages :math:`h_i = x_i^T (X^T X)^{-1} x_i`; summaries of
    standardised residuals and the grid from which the synthetic residual plot is drawn. Classes
    are joined until none is small by the strictest of the agencies' rules. Refused:
    p >= n at an agency or pooled, collinear predictors, a record with too much leverage or too
    large a part of the response's variance, a perfect fit. Records with a missing value
    are left out.
    """

    @property
    def _weight(self) -> str | None:
        return None

    def part(self, data: Microdata, policy: Policy) -> Design:
        """Return the agency's design."""
        return self.design(data, policy, self._weight)

    def length(self, state: State) -> int:
        """Return the length of the sum that is due."""
        p = len(self.predictors)
        return (
            self._n_scale + len(SMALLEST_CELLS),
            p * (p + 1) // 2 + p + 2,
            shown.N_LEVERAGE + 2,
            shown.N_RESIDUAL,
        )[state.get("sum", 0)]

    def contribute(self, part: Design, state: State) -> np.ndarray:
        """Return the agency's share of the sum that is due."""
        due = state.get("sum", 0)
        if due == 0:
            return np.concatenate([self._scale_sums(part), part.vote])
        scale: Scale = state["scale"]
        z, y = scale.of(part.x), part.y - scale.y_centre
        if due == 1:
            wz = part.w[:, None] * z
            ends = [wz.T @ y, [(part.w * y * y).sum(), float(len(part))]]
            return np.concatenate([triangle(wz.T @ z), *ends])
        residual = y - z @ state["b"]
        leverage = self._leverage(z, part.w, state)
        if due == 2:
            squares = [(part.w * residual**2).sum(), (part.w * residual).sum()]
            counts = shown.leverage_counts(leverage, state["limits"])
            # A response that outweighs all others makes X'y that record's predictors.
            share = part.w * y * y / max(state["y_square"], 1e-300)
            counts[-1] += np.sum(share > state["limits"][-1])
            return np.concatenate([squares, counts])
        fitted = (part.y - residual - state["fitted_mean"]) / state["fitted_spread"]
        return shown.residual_sums(residual * np.sqrt(part.w) / state["sigma"], leverage, fitted)

    def _leverage(self, z: np.ndarray, w: np.ndarray, state: State) -> np.ndarray:
        constant = 1.0 / state["scale"].weight if self.intercept else 0.0
        leverage: np.ndarray = w * (np.einsum("ij,jk,ik->i", z, state["inverse"], z) + constant)
        return leverage

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Go from sum to sum to the answer."""
        due = state.get("sum", 0)
        if due == 0:
            scale = self._scale(total[: self._n_scale], policy)
            smallest = strictest(total[self._n_scale :])
            return Outcome({"sum": 1, "scale": scale, "smallest": smallest})
        if due == 1:
            return Outcome(self._fitted(total, state, policy))
        if due == 2:
            return Outcome(self._judged(total, state, policy))
        return Outcome(state, self._answer(total, state))

    def _fitted(self, total: np.ndarray, state: State, policy: Policy) -> dict[str, Any]:
        p = len(self.predictors)
        zz = symmetric(total[: p * (p + 1) // 2], p)
        zy, (y_square, n) = total[p * (p + 1) // 2 : -2], total[-2:]
        require_plausible(round(n) == state["scale"].n, "another number of records")
        inverse = solved(zz)
        b = inverse @ zy
        b = b + inverse @ (zy - zz @ b)  # one step of refinement
        spread = float(np.sqrt(max(b @ zz @ b, 0.0) / state["scale"].weight))
        q = len(self.terms)
        limits = (*(k * q / state["scale"].n for k in shown.LEVERAGE_EDGES), policy.max_leverage)
        return {
            **state, "sum": 2, "b": b, "inverse": inverse, "y_square": float(y_square),
            "limits": limits, "fitted_mean": state["scale"].y_centre,
            "fitted_spread": spread if spread > 0 else 1.0,
        }  # fmt: skip

    def _judged(self, total: np.ndarray, state: State, policy: Policy) -> dict[str, Any]:
        rss, residual_sum = total[:2]
        counts = total[2:]
        require_plausible(0 <= rss <= state["y_square"] * (1 + 1e-6) + 1e-300, "residuals")
        require_plausible(round(counts[:-1].sum()) == state["scale"].n, "another number of records")
        if round(counts[-1]) > 0:
            raise RefusedError(
                f"a record has a leverage above {policy.max_leverage:g}, or as large a part of the "
                "response's variance"
            )
        if state["y_square"] <= 0 or 1 - rss / state["y_square"] > policy.max_r_squared:
            raise RefusedError("the fit is (nearly) perfect, which tells every response")
        free = state["scale"].n - len(self.terms)
        return {
            **state, "sum": 3, "rss": float(rss), "sigma": float(np.sqrt(rss / free)),
            "leverages": shown.merged(counts[:-1], state["smallest"]), "residual_sum": residual_sum,
        }  # fmt: skip

    def _answer(self, total: np.ndarray, state: State) -> dict[str, Any]:
        from scipy import special

        scale: Scale = state["scale"]
        n, q, sigma = scale.n, len(self.terms), state["sigma"]
        to_units = self._in_units(state["b"], scale)
        b = state["b"]
        covariance = sigma**2 * state["inverse"]
        if self.intercept:
            b = np.concatenate([[scale.y_centre], b])
            covariance = np.pad(covariance, ((1, 0), (1, 0)))
            covariance[0, 0] = sigma**2 / scale.weight
        beta, error = to_units @ b, np.sqrt(np.diag(to_units @ covariance @ to_units.T))
        r_squared = 1 - state["rss"] / state["y_square"]
        df = q - int(self.intercept)
        f = (r_squared / df) / ((1 - r_squared) / (n - q))
        return {
            "n": n,
            "coefficients": self._named(beta),
            "standard_errors": self._named(error),
            "t_values": self._named(beta / error),
            "p_values": self._named(2 * special.stdtr(n - q, -np.abs(beta / error))),
            "r_squared": r_squared,
            "adjusted_r_squared": 1 - (1 - r_squared) * (n - int(self.intercept)) / (n - q),
            "f_value": f,
            "f_p_value": float(special.fdtrc(df, n - q, f)),
            "residual_error": sigma,
            "residual_sum_of_squares": state["rss"],
            "leverage": {"mean": q / n, "edges": list(state["limits"][:-1]),
                         "counts": state["leverages"]},
            "residuals": shown.residual_summary(total, n, state["smallest"]),
            "residual_plot": shown.synthetic_plot(
                total, state["smallest"], state["fitted_mean"], state["fitted_spread"]
            ),
        }  # fmt: skip


class Wls(Ols, key="wls"):
    """Weighted least squares: weights say how exact each response is."""

    weight: str
    """Column of weights, above 0."""

    def columns(self) -> tuple[str, ...]:
        """Return response, predictors and weight."""
        return tuple(dict.fromkeys((*super().columns(), self.weight)))

    def weighting(self) -> str:
        """Return the weight."""
        return self.weight

    @property
    def _weight(self) -> str | None:
        return self.weight

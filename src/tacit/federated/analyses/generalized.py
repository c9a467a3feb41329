"""Logistic and Poisson regression by iterated secure sums."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.analyses._design import Design, Regression, Scale, solved
from tacit.federated.analysis import (
    Outcome,
    State,
    require_cells,
    require_plausible,
    symmetric,
    triangle,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

_MOST_ITERATIONS = 50
_TOLERANCE = 1e-11
_LARGEST = 30.0
"""A linear predictor of this size, in units of the spreads, means that the model separates."""


class _Generalized(Regression):
    """Fisher scoring: every agency adds its score and information at the same coefficients."""

    @abstractmethod
    def mean(self, eta: np.ndarray) -> np.ndarray:
        """Return the mean of the response; its derivative is the variance (canonical link)."""

    @abstractmethod
    def variance(self, mean: np.ndarray) -> np.ndarray:
        """Return the variance of the response."""

    @abstractmethod
    def deviance(self, y: np.ndarray, mean: np.ndarray) -> float:
        """Return the deviance of an agency's records."""

    @abstractmethod
    def start(self, mean: float) -> float:
        """Return the linear predictor of the overall mean."""

    @abstractmethod
    def check_response(self, y: np.ndarray, policy: Policy) -> None:
        """Refuse responses that the model does not have."""

    def part(self, data: Microdata, policy: Policy) -> Design:
        """Return the agency's design."""
        design = self.design(data, policy)
        self.check_response(design.y, policy)
        return design

    def length(self, state: State) -> int:
        """Return the length of the sum that is due."""
        q = len(self.terms)
        if not state:
            return self._n_scale
        return 3 if state["checking"] else q * (q + 1) // 2 + q + 2

    def contribute(self, part: Design, state: State) -> np.ndarray:
        """Return score, information and deviance at the present coefficients."""
        if not state:
            return self._scale_sums(part)
        z = self._with_constant(state["scale"].of(part.x))
        mean = self.mean(z @ state["b"])
        v = self.variance(mean)
        deviance = self.deviance(part.y, mean)
        if state["checking"]:
            h = v * np.einsum("ij,jk,ik->i", z, state["inverse"], z)
            return np.array([np.sum(h > state["limit"]), deviance, len(part)])
        information = triangle((v[:, None] * z).T @ z)
        return np.concatenate([information, z.T @ (part.y - mean), [deviance, len(part)]])

    def _with_constant(self, z: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(z)), z]) if self.intercept else z

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Go to the next coefficients, or to the answer."""
        if not state:
            return Outcome(self._started(total, policy))
        require_plausible(round(total[-1]) == state["scale"].n, "another number of records")
        if state["checking"]:
            return self._checked(total, state, policy)
        return Outcome(self._improved(total, state, policy))

    def _started(self, total: np.ndarray, policy: Policy) -> dict[str, Any]:
        scale = self._scale(total, policy)
        average = total[2] / total[1]
        b = np.zeros(len(self.terms))
        if self.intercept:
            b[0] = self.start(average)
        return {"scale": scale, "b": b, "before": b, "deviance": np.inf, "iteration": 0,
                "checking": False}  # fmt: skip

    def _improved(self, total: np.ndarray, state: State, policy: Policy) -> dict[str, Any]:
        q = len(self.terms)
        n_information = q * (q + 1) // 2
        information = symmetric(total[:n_information], q)
        score, deviance = total[n_information:-2], float(total[-2])
        require_plausible(deviance >= -1e-6, "a negative deviance")
        if state["iteration"] >= _MOST_ITERATIONS:
            raise RefusedError("the iterations do not converge in the pooled records")
        now = {**state, "iteration": state["iteration"] + 1}
        if deviance > state["deviance"] * (1 + 1e-9) + 1e-9:  # too long a step: half of it
            return {**now, "b": (state["b"] + state["before"]) / 2}
        inverse = solved(information)
        move = inverse @ score
        b = state["b"] + move
        if np.abs(b[1:] if self.intercept else b).max(initial=0.0) > _LARGEST:
            raise RefusedError("the predictors separate the responses: no finite coefficients")
        done = np.abs(move).max() <= _TOLERANCE * max(1.0, np.abs(b).max())
        return {**now, "before": state["b"], "b": b, "deviance": deviance, "inverse": inverse,
                "checking": bool(done), "limit": policy.max_leverage}  # fmt: skip

    def _checked(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        from scipy import special

        if round(total[0]) > 0:
            raise RefusedError(f"a record has a leverage above {policy.max_leverage:g}")
        scale: Scale = state["scale"]
        to_units = self._in_units(state["b"], scale)
        beta = to_units @ state["b"]
        error = np.sqrt(np.diag(to_units @ state["inverse"] @ to_units.T))
        answer = {
            "n": scale.n,
            "coefficients": self._named(beta),
            "standard_errors": self._named(error),
            "z_values": self._named(beta / error),
            "p_values": self._named(2 * special.ndtr(-np.abs(beta / error))),
            "deviance": float(total[1]),
            "iterations": state["iteration"],
        }
        return Outcome(state, answer)


class Logistic(_Generalized, key="logistic"):
    r"""Logistic regression of a response that is 0 or 1.

    Notes
    -----
    Fisher scoring, :math:`\beta \leftarrow \beta + (\sum_j X_j^T V_j X_j)^{-1} \sum_j X_j^T
    (y_j - \mu_j)`: each iteration is one secure sum, and every agency takes the step itself.
    Refused: predictors that separate the responses, few events, a record with too much leverage.
    """

    def mean(self, eta: np.ndarray) -> np.ndarray:
        """Return the probability."""
        half: np.ndarray = 0.5 * (1.0 + np.tanh(0.5 * eta))
        return half

    def variance(self, mean: np.ndarray) -> np.ndarray:
        """Return p (1 - p)."""
        return mean * (1.0 - mean)

    def deviance(self, y: np.ndarray, mean: np.ndarray) -> float:
        """Return minus twice the log-likelihood."""
        chance = np.clip(np.where(y > 0.5, mean, 1.0 - mean), 1e-300, 1.0)
        return float(-2.0 * np.log(chance).sum())

    def start(self, mean: float) -> float:
        """Return the logit of the mean."""
        if not 0 < mean < 1:
            raise RefusedError("the response is the same in all pooled records")
        return float(np.log(mean / (1.0 - mean)))

    def check_response(self, y: np.ndarray, policy: Policy) -> None:
        """Refuse other values than 0 and 1, and few of either."""
        if not np.isin(y, (0.0, 1.0)).all():
            raise RefusedError("the response must be 0 or 1")
        require_cells(
            np.bincount(y.astype(int), minlength=2), policy, "the response of this agency"
        )


class Poisson(_Generalized, key="poisson"):
    """Poisson regression of a response that counts something."""

    def mean(self, eta: np.ndarray) -> np.ndarray:
        """Return the rate."""
        rate: np.ndarray = np.exp(np.minimum(eta, 500.0))
        return rate

    def variance(self, mean: np.ndarray) -> np.ndarray:
        """Return the rate."""
        return mean

    def deviance(self, y: np.ndarray, mean: np.ndarray) -> float:
        """Return twice the distance of the log-likelihood from a perfect fit."""
        ratio = np.log(np.where(y > 0, y, 1.0) / np.maximum(mean, 1e-300))
        return float(2.0 * np.sum(np.where(y > 0, y * ratio, 0.0) - (y - mean)))

    def start(self, mean: float) -> float:
        """Return the logarithm of the mean."""
        if mean <= 0:
            raise RefusedError("the response is 0 in all pooled records")
        return float(np.log(mean))

    def check_response(self, y: np.ndarray, policy: Policy) -> None:
        """Refuse what is no count."""
        if np.any(y < 0) or np.any(y != np.rint(y)):
            raise RefusedError("the response must be a count: 0, 1, 2, ...")

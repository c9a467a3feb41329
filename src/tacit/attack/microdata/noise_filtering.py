"""Noise filtering: what the relations between variables take away from added noise."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import MicrodataTarget
from tacit.core.schema import Kind

_ADDITIVE = ("uncorrelated-noise", "correlated-noise")


class NoiseFiltering(
    Attack,
    key="noise-filtering",
    title="Spectral filtering of noise",
    cites=("kargupta2003", "huang2005"),
):
    r"""Remove added noise by what the principal components of the release tell.

    Missing values: records with a gap are left out. Weights: moments are unweighted. Households:
    not considered.

    Notes
    -----
    Noise that is independent between variables spreads over all directions, data over few
    [kargupta2003]_. With :math:`\Sigma_Z` the covariance of the release and :math:`\Sigma_E` that
    of the noise, which is known with the method, the best linear estimate is [huang2005]_

    .. math:: \hat x = \mu + (\Sigma_Z - \Sigma_E)\,\Sigma_Z^{-1}\,(z - \mu).

    An estimate within `width` standard deviations of the original succeeds. The baseline filters
    each variable by itself, which is what the noise was meant to leave; noise with the
    correlations of the data gains nothing over it.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(1000)
    >>> step = mask.UncorrelatedNoise(columns=["income", "taxes"], level=0.5)
    >>> attack.NoiseFiltering().run(tacit.Plan([step]).apply(data, seed=1)).gain > 0.02
    True
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Use noise with the correlations of the data (mask.CorrelatedNoise), or another method."
    )

    width: Annotated[float, Gt(0)] = 0.1
    """An estimate this near to the original, in its standard deviations, counts as known."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that no noise was added to two numbers at least."""
        if not knowledge.method:
            return "the intruder does not know the method"
        if not target.has_own_records:
            return "no released record is that of a person"
        step = _noise(target)
        if step is None or len(_numbers(target, step)) < 2:
            return "no noise was added to two numbers or more"
        return None

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Filter the noise out and count the values that are known then."""
        step = _noise(target)
        names = _numbers(target, step)
        at, to = target.matched
        truth = target.original.numeric(names)[at]
        seen = target.released.numeric(names)[to]
        whole = ~(np.isnan(truth) | np.isnan(seen)).any(axis=1)
        truth, seen = truth[whole], seen[whole]
        noise = _noise_covariance(seen, step)
        stretch = _stretch(step)
        filtered = _filtered(seen, noise, stretch)
        alone = _filtered(seen, np.diag(np.diag(noise)), stretch, alone=True)
        limit = self.width * truth.std(axis=0)
        hits = np.abs(filtered - truth) <= limit
        plain = np.abs(alone - truth) <= limit
        known = int(hits.all(axis=1).sum())
        return Outcome(
            hits=hits.ravel().astype(float), guesses=plain.ravel().astype(float),
            question=f"Take the noise off {', '.join(names)} by their correlations", unit="value",
            positions=np.repeat(at[whole], len(names)),
            worst=f"all of {', '.join(names)} known for {known:,} people",
            details={
                "columns": names,
                "error_filtered": _errors(filtered, truth),
                "error_released": _errors(seen, truth),
            },
        )  # fmt: skip


def _noise(target: MicrodataTarget) -> Any:
    return next(iter(target.steps_of(*_ADDITIVE)), None)


def _numbers(target: MicrodataTarget, step: Any) -> list[str]:
    both = (target.original.schema, target.released.schema)
    names = getattr(step, "columns", None) or ()
    return [n for n in names if all(n in s and s[n].kind is Kind.NUMERIC for s in both)]


def _noise_covariance(seen: np.ndarray, step: Any) -> np.ndarray:
    """Return the covariance of the noise, which follows from the release and the level."""
    ratio = _ratio(step)
    covariance = np.atleast_2d(np.cov(seen, rowvar=False)) * ratio / (1 + ratio)
    return covariance if step.key == "correlated-noise" else np.diag(np.diag(covariance))


def _ratio(step: Any) -> float:
    """Return the variance of the noise as a multiple of that of the data."""
    return float(step.alpha) if step.key == "correlated-noise" else float(step.level) ** 2


def _stretch(step: Any) -> float:
    """Return by how much released values were pulled together after the noise was added."""
    return float(np.sqrt(1 + _ratio(step))) if getattr(step, "scale_back", False) else 1.0


def _filtered(
    seen: np.ndarray, noise: np.ndarray, stretch: float, *, alone: bool = False
) -> np.ndarray:
    """Return the best linear estimate, from all variables or from each by itself."""
    mean = seen.mean(axis=0)
    covariance = np.atleast_2d(np.cov(seen, rowvar=False))
    if alone:
        covariance = np.diag(np.diag(covariance))
    gain = stretch * (covariance - noise) @ np.linalg.pinv(covariance)
    return np.asarray(mean + (seen - mean) @ gain.T)


def _errors(estimate: np.ndarray, truth: np.ndarray) -> float:
    """Return the root mean square error in standard deviations."""
    spread = np.where(truth.std(axis=0) > 0, truth.std(axis=0), 1.0)
    return float(np.sqrt(np.mean(((estimate - truth) / spread) ** 2)))

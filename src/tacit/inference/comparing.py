"""The same analysis on the original and on the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.release import Release
from tacit.inference.analysing import (
    Analysis,
    analyse,
    estimated,
    for_as_many,
    learnt_from,
    n_learnt_from,
)
from tacit.inference.combining import Combined, Rule
from tacit.inference.estimators import Estimates, Regression
from tacit.utility.regression_overlap import interval_overlap


@dataclass(frozen=True)
class Comparison:
    """Estimates of the original beside those of the release."""

    original: Estimates
    release: Combined

    @property
    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        from scipy.stats import norm

        margin = norm.ppf(0.5 + self.release.level / 2) * np.sqrt(self.original.variances)
        return self.original.values - margin, self.original.values + margin

    @property
    def overlaps(self) -> np.ndarray:
        """Average share that the common part has of both intervals [karr2006]_."""
        low, high = self._limits
        pairs = zip(low, high, self.release.low, self.release.high, strict=True)
        return np.array([interval_overlap((a, b), (c, d)) for a, b, c, d in pairs])

    @property
    def standardised(self) -> np.ndarray:
        """Differences in standard errors of the original."""
        return np.asarray(
            (self.release.estimates - self.original.values) / np.sqrt(self.original.variances)
        )

    @property
    def overlap(self) -> float:
        """Mean overlap of the intervals; a coefficient that cannot be estimated counts as none."""
        return float(np.mean(self.overlaps))

    @property
    def frame(self) -> Any:
        """The comparison as a Polars frame."""
        import polars as pl

        return pl.DataFrame(
            {
                "name": self.release.names, "original": self.original.values,
                "release": self.release.estimates,
                "difference": self.release.estimates - self.original.values,
                "standardised": self.standardised, "overlap": self.overlaps,
            }
        )  # fmt: skip


def compare(
    release: Release, analysis: Analysis, *, rule: Rule | None = None, level: float = 0.95
) -> Comparison:
    """Run an analysis on the original and on the release, and compare.

    The original's estimates are confidential: the comparison belongs into the dossier.
    """
    if isinstance(analysis, Regression):
        analysis = analysis.like(release.original)
    analysis = for_as_many(analysis, n_learnt_from(release))
    return Comparison(
        estimated(learnt_from(release), analysis),
        analyse(release, analysis, rule=rule, level=level),
    )

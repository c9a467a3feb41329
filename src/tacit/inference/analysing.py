"""One analysis, run over all data sets of a release and combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.plan import Plan
from tacit.core.release import Release
from tacit.inference.combining import Combined, Rule, combine
from tacit.inference.estimators import Estimates, Mean, Regression, Total

Analysis = Callable[[Any], Any]
"""Takes a data set; returns `Estimates`, or a fitted model with ``params`` and ``bse``."""


def analyse(
    release: Release, analysis: Analysis, *, rule: Rule | None = None, level: float = 0.95
) -> Combined:
    """Run an analysis over the data sets of a release and combine the results.

    Parameters
    ----------
    release
        A release of one or several synthetic data sets.
    analysis
        `Mean`, `Total`, `Regression`; or a function that takes a data set, as the kind of frame
        that came in, and returns a fitted model of statsmodels: ``lambda f: ols(..., f).fit()``.
    rule
        How to combine; by default as the method that made the data sets says.
    level
        Confidence level of the intervals.
    """
    if isinstance(analysis, Regression):
        analysis = analysis.like(release.original)
    return analyse_sets(
        release.data_sets, analysis, rule=rule or rule_of(release.plan),
        learnt_from=n_learnt_from(release), level=level,
    )  # fmt: skip


def analyse_sets(
    data_sets: Sequence[Microdata],
    analysis: Analysis,
    *,
    rule: Rule,
    learnt_from: float | None = None,
    level: float = 0.95,
) -> Combined:
    """Run an analysis over synthetic data sets, of which the original is not at hand, and combine.

    Parameters
    ----------
    data_sets
        The data sets of a release, as `tacit.read` returns them.
    analysis
        As for `analyse`; categories are those of the first data set.
    rule
        How to combine; the note beside the data says it.
    learnt_from
        Records that the models were fitted to; as many as a data set has if not given.
    level
        Confidence level of the intervals.
    """
    if not data_sets:
        raise ParameterError("there are no data sets to combine")
    if isinstance(analysis, Regression) and not analysis.levels:
        analysis = analysis.like(data_sets[0])
    size = float(np.mean([d.n_records for d in data_sets]))
    analysis = for_as_many(analysis, learnt_from or size)
    found = [estimated(data, analysis) for data in data_sets]
    names = found[0].names
    if any(f.names != names for f in found):
        raise DataError(
            "the data sets give different quantities, which cannot be combined",
            do="fix the categories in the analysis",
        )
    return combine(
        [f.values for f in found], [f.variances for f in found],
        rule=rule, size_ratio=size / (learnt_from or size), names=names, level=level,
    )  # fmt: skip


def for_as_many(analysis: Analysis, n_units: float) -> Analysis:
    """Let a total stand for the units of the original, however many records were drawn."""
    if isinstance(analysis, Total) and analysis.population is None:
        return replace(analysis, population=n_units)
    return analysis


def estimated(data: Microdata, analysis: Analysis) -> Estimates:
    """Run an analysis on one data set."""
    if isinstance(analysis, Mean | Total | Regression):
        return analysis(data)
    result = analysis(data.frame)
    if isinstance(result, Estimates):
        return result
    if not (hasattr(result, "params") and hasattr(result, "bse")):
        raise ParameterError(
            "an analysis returns Estimates, or a fitted model with params and bse",
            got=type(result).__name__,
        )
    values, errors = (
        np.asarray(part, dtype=np.float64).ravel() for part in (result.params, result.bse)
    )
    return Estimates(_names(result, len(values)), values, errors**2)


def _names(result: Any, n: int) -> list[str]:
    labels = getattr(result.params, "index", None)
    if labels is None:
        labels = getattr(getattr(result, "model", None), "exog_names", None)
    return [str(label) for label in labels] if labels is not None else list(map(str, range(n)))


def learnt_from(release: Release) -> Microdata:
    """Return the original records that say what the release imitates.

    For Rubin's fully synthetic data these are the people who were asked.
    """
    for method in release.plan.methods:
        if hasattr(method, "sample_of"):
            return method.sample_of(release.original)  # type: ignore[no-any-return]
    return release.original


def n_learnt_from(release: Release) -> float:
    """Return how many records the models were fitted to, steps before them considered."""
    original, methods = release.original.n_records, release.plan.methods
    at = next((i for i, method in enumerate(methods) if hasattr(method, "combining")), 0)
    before = [original, *(step.n_records for step in release.steps[-len(methods) :])][at]
    return before * learnt_from(release).n_records / original


def rule_of(plan: Plan) -> Rule:
    """Return the rule that the methods of a plan call for."""
    rules = [getattr(method, "combining", None) for method in plan.methods]
    found = [rule for rule in rules if rule is not None]
    if len(found) != 1:
        raise ParameterError(
            "the plan does not say how its data sets are to be combined",
            got=f"{len(found)} methods that synthesise",
            do="give the rule: fully, partially, simple or proper",
        )
    return found[0]  # type: ignore[no-any-return]

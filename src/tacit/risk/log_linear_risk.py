"""Population uniqueness by a log-linear model of the keys."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.progress import track
from tacit.risk._decomposable import DecomposableModel, KeyTable
from tacit.risk._log_linear_error import Misjudgement, misjudgement, unique_risks
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._sampled_keys import Fraction, SampledKeys, sampled_keys

Search = Literal["minimum-error", "bic", "none"]
_FITS = 1.959963984540054
"""A standardised error beyond this says that the model does not fit."""
_AKAIKE = 2.0
"""Penalty of Akaike's criterion for each parameter."""


class LogLinearRisk(
    Risk,
    key="log-linear-risk",
    title="Population uniques by a log-linear model",
    cites=("skinner2008", "elamir2006", "skinner1998"),
    example={"keys": ["region", "sex", "age"], "search": "minimum-error"},
):
    r"""Estimate which sample uniques are unique in the population from a model of their keys.

    Missing values: a category of their own. Weights: the inverse weight of a unique record is its
    sampling fraction; the fit and its diagnostics use the overall fraction; without weights, or a
    sampling fraction, the file is taken to be the population. Households: not considered.

    Notes
    -----
    Population frequencies are Poisson, :math:`F_k \sim \mathrm{Po}(\lambda_k)`, and so are those
    of the sample, with mean :math:`\mu_k = \pi \lambda_k`, where :math:`\log \mu_k` is a sum of
    effects and interactions of the keys [skinner1998]_, [elamir2006]_. Over the sample uniques,

    .. math:: \hat\tau_1 = \sum_{f_k=1} e^{-\hat\lambda_k(1-\pi)}, \qquad
              \hat\tau_2 = \sum_{f_k=1}
                  \frac{1 - e^{-\hat\lambda_k(1-\pi)}}{\hat\lambda_k(1-\pi)}

    are the expected number of population uniques and of correct matches. The value is
    :math:`\hat\tau_1` as a share of the records.

    Too simple a model overstates the risk, too rich a one understates it. The search adds
    interactions of two keys (and with them those of all keys joined to each other), the best by
    Akaike's criterion first, until both risk estimates seem too low, and takes the model with the
    smallest standardised errors :math:`\hat B_i / \sqrt{v_i}` [skinner2008]_,

    .. math:: \hat B_i = \sum_k \hat\lambda_k e^{-\hat\mu_k} \Big\{ -h_i'(\hat\lambda_k)
              (f_k - \hat\mu_k) + h_i''(\hat\lambda_k)
              \frac{(f_k - \hat\mu_k)^2 - f_k}{2\pi} \Big\}.

    ``"bic"`` takes the best model by the Bayesian criterion instead, ``"none"`` independence.
    Deviation: only decomposable models are looked at, which have closed forms and need no table of
    all combinations; tables of more than 262 144 cells are summed over drawn cells.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> people = tacit.datasets.census(2000)
    >>> found = risk.LogLinearRisk(keys=["region", "sex", "marital"]).measure(people)
    >>> 0 <= found.details["tau1"] <= found.details["tau2"] <= found.details["sample_uniques"]
    True
    """

    default: ClassVar[bool] = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    search: Search = "minimum-error"
    """How to choose the interactions: smallest error of the risk, BIC, or none at all."""
    sampling_fraction: Fraction | None = None
    """Share of the population in the file, in place of weights."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of records expected to be population uniques."""
        keys = sampled_keys(original, release, self.keys, self.sampling_fraction, by=self.key)
        table = KeyTable.of(keys.codes)
        best, n_tried = _best_model(table, keys.fraction, self.search)
        is_unique = table.counts[table.cell_of] == 1
        fraction = np.ones(keys.n_records) if keys.weights is None else 1 / keys.weights
        expected = best.model.fitted()[table.cell_of[is_unique]]
        first, second = unique_risks(expected, np.minimum(fraction[is_unique], 1.0))
        per_record = np.zeros(keys.n_records)
        per_record[is_unique] = first
        tau1, tau2 = float(first.sum()), float(second.sum())
        return Measurement(
            key=self.key,
            title=self.title,
            value=tau1 / keys.n_records,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=per_record,
            details={
                "keys": keys.names,
                "keys_removed": keys.removed,
                "search": self.search,
                "models_tried": n_tried,
                "interactions": [[keys.names[u], keys.names[v]] for u, v in best.model.edges],
                "sampling_fraction": keys.fraction,
                "sample_uniques": int(is_unique.sum()),
                "tau1": tau1,
                "tau2": tau2,
                "error": dict(zip(("tau1", "tau2"), best.error.bias, strict=True)),
                "standardised_error": dict(
                    zip(("tau1", "tau2"), best.error.standardised, strict=True)
                ),
            },
            explanation=_explanation(keys, int(is_unique.sum()), tau1, tau2, best),
            warnings=(*keys.warnings, *_doubts(best.error)),
        )


@dataclass(frozen=True)
class _Judged:
    model: DecomposableModel
    error: Misjudgement


def _best_model(table: KeyTable, fraction: float, search: Search) -> tuple[_Judged, int]:
    """Return the model chosen by the search, and how many were looked at."""
    start = DecomposableModel.independence(table)
    # The draws only stand in for sums over very large tables: any fixed seed will do.
    rng = np.random.default_rng(0)
    if search == "none" or fraction == 1:
        return _Judged(start, misjudgement(start, fraction, rng)), 1
    if search == "bic":
        steps = start.path(float(np.log(table.n_records)))
        path = [model for model, _ in takewhile(lambda step: step[1] > 0, steps)]
        return _Judged(path[-1], misjudgement(path[-1], fraction, rng)), len(path)
    judged: list[_Judged] = []
    with track("log-linear models") as advance:
        for model, _ in start.path(_AKAIKE):
            judged.append(_Judged(model, misjudgement(model, fraction, rng)))
            advance(1)
            if max(judged[-1].error.standardised) < 0:
                break
    return min(judged, key=lambda j: j.error.size), len(judged)


def _doubts(error: Misjudgement) -> tuple[str, ...]:
    largest = max(error.standardised, key=abs)
    if abs(largest) <= _FITS:
        return ()
    way = "simple, which overstates" if largest > 0 else "rich, which understates"
    return (
        f"No model that was tried fits: this one is too {way} the risk (standardised error "
        f"{largest:.3g}).",
    )


def _explanation(keys: SampledKeys, n_uniques: int, tau1: float, tau2: float, best: _Judged) -> str:
    on = ", ".join(keys.names) or "no key at all"
    n_edges = len(best.model.edges)
    kind = f"with {n_edges} interactions" if n_edges else "without interactions"
    return (
        f"{n_uniques:,} of {keys.n_records:,} records are alone in the file with their values of "
        f"{on}. By a model {kind} of the keys, about {tau1:,.1f} of them are alone in the "
        f"population too, and matching them all would be right about {tau2:,.1f} times."
    )

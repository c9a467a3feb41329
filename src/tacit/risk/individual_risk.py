"""Individual risk: the chance that a record is identified, from its frequency in the population."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.keys import Missing
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._sampled_keys import Fraction, SampledKeys, sampled_keys

Formula = Literal["exact", "approximate"]
_LEVELS = (0.01, 0.05, 0.1, 0.2)
"""Risks above which records are counted."""


class IndividualRisk(
    Risk,
    key="individual-risk",
    title="Individual risk",
    cites=("benedetti1998", "franconi2004", "hundepool2012"),
    example={"keys": ["region", "sex", "age"], "max_global_risk": 0.02},
    at_scale="native",
):
    r"""Estimate for each record the chance that somebody who knows its keys picks the right person.

    Missing values: read as any value (``"wildcard"``), so that a record hides among all those it
    may equal, or as a value of its own (``"strict"``). Weights: give the population frequencies;
    without them, or a sampling fraction, the file is taken to be the population. Households: not
    considered here; see `HouseholdRisk`.

    Notes
    -----
    With :math:`f_k` the number of records that have key :math:`k`, :math:`\hat F_k` the sum of
    their weights and :math:`p_k = f_k / \hat F_k`, the population frequency :math:`F_k` given
    :math:`f_k` is negative binomial and the risk [benedetti1998]_, [franconi2004]_ is

    .. math:: r_k = E(F_k^{-1} \mid f_k)
              = \frac{p_k^{f_k}}{f_k}\, {}_2F_1(f_k, f_k; f_k + 1; 1 - p_k).

    Each further record obeys :math:`r_{f+1} = \frac{p}{1-p} (\frac1f - r_f)`, from
    :math:`r_1 = \frac{p}{1-p} \log \frac1p`. The approximate formula is the same for
    :math:`f_k \le 2` and :math:`p_k / (f_k - 1 + p_k)` above; where the file holds everybody,
    both are :math:`1 / f_k`. The value is the global risk, the mean of the individual risks; times
    the number of records it is the expected number of re-identifications.

    The details give the largest risk that a record may keep if the global risk is to stay below
    ``max_global_risk``: riskier records are brought down to it by suppression or recoding.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> found = risk.IndividualRisk(sampling_fraction=0.1).measure(tacit.datasets.patients())
    >>> found.text, found.per_unit[:2].round(4).tolist()
    ('9.553 %', [0.0464, 0.0464])
    """

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    formula: Formula = "exact"
    """The posterior mean itself, or the usual approximation for keys of three or more records."""
    sampling_fraction: Fraction | None = None
    """Share of the population in the file, in place of weights."""
    max_global_risk: Fraction = 0.05
    """Largest acceptable share of re-identifications, for the threshold in the details."""
    missing: Missing = "wildcard"
    """How a missing value compares: only with another missing one, or with any value."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the global risk of the release, or of the original alone."""
        keys = sampled_keys(
            original,
            release,
            self.keys,
            self.sampling_fraction,
            by=self.key,
            may_count_classes=True,
        )
        in_file, in_population = keys.counts(self.missing)
        risks = individual_risks(in_file, in_population, self.formula)
        return Measurement(
            key=self.key,
            title=self.title,
            value=keys.total(risks) / keys.n_records,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=keys.per_record(risks),
            details=self._details(keys, risks, in_file, in_population),
            explanation=_explanation(keys, risks),
            warnings=keys.warnings,
        )

    def _details(
        self,
        keys: SampledKeys,
        risks: np.ndarray,
        in_file: np.ndarray,
        in_population: np.ndarray,
    ) -> dict[str, Any]:
        threshold = risk_threshold(risks, self.max_global_risk, keys.times)
        return {
            "keys": keys.names,
            "keys_removed": keys.removed,
            "formula": self.formula,
            "missing": self.missing,
            "records": keys.n_records,
            "sampling_fraction": keys.fraction,
            "expected_reidentifications": keys.total(risks),
            "largest": float(risks.max()),
            "above": {f"{100 * level:g} %": keys.count(risks > level) for level in _LEVELS},
            "max_global_risk": self.max_global_risk,
            "threshold": threshold,
            "above_threshold": keys.count(risks > threshold),
            "uniques": keys.count(in_file == 1),
            "smallest_population_class": float(in_population.min()),
        }


def individual_risks(
    in_file: np.ndarray, in_population: np.ndarray, formula: Formula = "exact"
) -> np.ndarray:
    """Return the risk of each record from the frequencies of its key in file and population.

    A population frequency below that of the file counts as equal to it.

    Examples
    --------
    >>> individual_risks(np.array([1, 2, 2]), np.array([17.0, 110.0, 2.0])).round(5).tolist()
    [0.17708, 0.01714, 0.5]
    """
    from tacit.risk import _individual_risk_kernel as kernel

    in_file = np.asarray(in_file, dtype=np.int64)
    inclusion = np.minimum(in_file / np.asarray(in_population, dtype=np.float64), 1.0)
    exact = np.ones(len(in_file), dtype=bool) if formula == "exact" else in_file <= 2
    # p / (f - (1 - p)): approximation for f > 2 of franconi2004
    risks = inclusion / (in_file - 1 + inclusion)
    risks[exact] = kernel.mean_reciprocals(in_file[exact], inclusion[exact])
    return np.asarray(risks)


def risk_threshold(
    risks: np.ndarray, max_global_risk: float, times: np.ndarray | None = None
) -> float:
    """Return the largest r for which the mean of min(risk, r) does not exceed the global risk.

    Each risk counts once, or as many `times` as records have it.

    Examples
    --------
    >>> risk_threshold(np.array([0.1, 0.2, 0.6]), 0.2)
    0.3
    """
    counts = np.ones(len(risks)) if times is None else times.astype(np.float64)
    n = counts.sum()
    if counts @ risks <= max_global_risk * n:
        return 1.0
    if times is None:
        ascending = np.sort(risks)
    else:
        order = np.argsort(risks, kind="stable")
        ascending, counts = risks[order], counts[order]
    below = np.concatenate([[0.0], np.cumsum(counts * ascending)[:-1]])
    left = n - np.concatenate([[0.0], np.cumsum(counts)[:-1]])
    # mean if every record from this one up were brought down to it
    means = (below + left * ascending) / n
    at = int(np.argmax(means > max_global_risk))
    return round(float((n * max_global_risk - below[at]) / left[at]), 15)


def _explanation(keys: SampledKeys, risks: np.ndarray) -> str:
    on = ", ".join(keys.names) or "no key at all"
    n_high, expected = keys.count(risks > _LEVELS[-1]), keys.total(risks)
    return (
        f"An intruder who knows {on} of somebody in the population and finds the record in the "
        f"file is right {100 * expected / keys.n_records:.3g} % of the time on average: "
        f"{expected:,.1f} of the {keys.n_records:,} records are expected to be re-identified. The "
        f"largest risk of one record is {100 * risks.max():.3g} %; {n_high:,} are above 20 %."
    )

"""Population uniques: how many records are alone with their keys in the whole population."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.keys import frequencies
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._sampled_keys import Fraction, SampledKeys, sampled_keys

Estimator = Literal["auto", "poisson", "negative-binomial", "pitman", "zayatz"]
_SMALL_FRACTION = 0.1
"""Up to this sampling fraction Pitman's model is preferred (dankar2012)."""


class PopulationUniques(
    Risk,
    key="population-uniques",
    title="Population uniques",
    cites=("bethlehem1990", "hoshino2001", "zayatz1991", "dankar2012"),
    example={"keys": ["region", "sex", "age"], "estimator": "auto"},
):
    r"""Estimate the share of records that are alone with their keys in the whole population.

    Missing values: a value of their own. Weights: only their sum is used, as the size of the
    population; without them, or a sampling fraction, the file is taken to be the population.
    Households: not considered; records are counted one by one.

    Notes
    -----
    With :math:`n_j` classes of :math:`j` records and the sampling fraction :math:`\pi = n/N`,
    each estimator gives the probability that a record unique in the sample is so in the
    population; the value is :math:`\frac{n_1}{n} P(F = 1 \mid f = 1)`, which also estimates the
    share of uniques in the population.

    poisson
        All classes have one expected frequency :math:`\mu`, fitted to the non-empty ones:
        :math:`e^{-\mu (1-\pi)/\pi}`. Too simple for most files; a yardstick.
    negative-binomial
        Expected frequencies are gamma with shape :math:`a` and rate :math:`b` on the scale of the
        sample [bethlehem1990]_: :math:`(\frac{\pi(b+1)}{\pi b+1})^{a+1}`.
    pitman
        The classes are a random partition with parameters :math:`\alpha, \theta`
        [hoshino2001]_: :math:`\prod_{i=n}^{N-1} \frac{\theta+i-1+\alpha}{\theta+i}`.
    zayatz
        The classes of the population are as large as those of the sample [zayatz1991]_:
        :math:`n_1 h_1 / \sum_j n_j h_j`, with :math:`h_j = P(f=1 \mid F=j)` hypergeometric.
    auto
        Pitman up to a sampling fraction of 0.1; above, the smaller of Zayatz and the negative
        binomial. After the rule of [dankar2012]_, which has a slide negative binomial instead.

    The interval is that of the model's fit; it does not cover the choice of the model, for which
    compare the estimates in the details.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> people = tacit.datasets.census(2000)
    >>> found = risk.PopulationUniques(keys=["region", "sex", "age"]).measure(people)
    >>> found.details["estimator"], found.value < found.details["sample_uniques"] / 2000
    ('pitman', True)
    """

    default: ClassVar[bool] = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    estimator: Estimator = "auto"
    """Model of the class sizes; auto chooses by the sampling fraction."""
    sampling_fraction: Fraction | None = None
    """Share of the population in the file, in place of weights."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of population uniques of the release, or of the original alone."""
        from tacit.risk._frequency_models import ClassSizes, intrusion_probability

        keys = sampled_keys(original, release, self.keys, self.sampling_fraction, by=self.key)
        in_file = frequencies(keys.codes)
        classes = ClassSizes.of(in_file, keys.fraction)
        found = _estimates(classes)
        chosen = _chosen(found, keys.fraction) if self.estimator == "auto" else self.estimator
        best, share = found[chosen], classes.n_uniques / classes.n_records
        return Measurement(
            key=self.key,
            title=self.title,
            value=share * best.probability,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            interval=None
            if best.interval is None
            else (share * best.interval[0], share * best.interval[1]),
            per_unit=np.where(in_file == 1, best.probability, 0.0),
            details={
                "keys": keys.names,
                "keys_removed": keys.removed,
                "estimator": chosen,
                "sampling_fraction": keys.fraction,
                "population": classes.population,
                "sample_uniques": classes.n_uniques,
                "unique_given_sample_unique": {k: e.probability for k, e in found.items()},
                "parameters": {k: e.parameters for k, e in found.items() if e.parameters},
                "estimated_population_uniques": {
                    k: classes.population * share * e.probability for k, e in found.items()
                },
                "correct_given_unique_match": intrusion_probability(in_file, keys.fraction),
            },
            explanation=_explanation(keys, classes, best.probability, chosen),
            warnings=(*keys.warnings, *_doubts(classes, found)),
        )


def _estimates(classes: Any) -> dict[str, Any]:
    """Apply every estimator; where the answer needs no model, all give it."""
    from tacit.risk import _frequency_models as models

    fits = {
        "poisson": models.poisson,
        "negative-binomial": models.negative_binomial,
        "pitman": models.pitman,
        "zayatz": models.zayatz,
    }
    if classes.is_trivial:
        known = models.UniqueGivenUnique(1.0 if classes.n_uniques else 0.0)
        return dict.fromkeys(fits, known)
    return {name: fit(classes) for name, fit in fits.items()}


def _chosen(found: dict[str, Any], fraction: float) -> Estimator:
    """Choose an estimator by the sampling fraction, after dankar2012."""
    if fraction <= _SMALL_FRACTION:
        return "pitman"
    smaller = found["zayatz"].probability < found["negative-binomial"].probability
    return "zayatz" if smaller else "negative-binomial"


def _doubts(classes: Any, found: dict[str, Any]) -> tuple[str, ...]:
    if classes.n_uniques == classes.n_records and classes.fraction < 1:
        return (
            "Every record is unique in the file, which then says nothing about the population: "
            "all are taken to be population uniques.",
        )
    models = [found[name].probability for name in ("negative-binomial", "pitman", "zayatz")]
    if max(models) > 3 * min(models) and max(models) > 0.01:
        return ("The estimators differ by more than a factor of three: trust the order only.",)
    return ()


def _explanation(keys: SampledKeys, classes: Any, probability: float, chosen: str) -> str:
    on = ", ".join(keys.names) or "no key at all"
    n_expected = classes.n_uniques * probability
    return (
        f"{classes.n_uniques:,} of {classes.n_records:,} records are alone in the file with their "
        f"values of {on}; about {n_expected:,.1f} of them are estimated to be alone in the "
        f"population of {classes.population:,.0f} as well ({chosen} estimator)."
    )

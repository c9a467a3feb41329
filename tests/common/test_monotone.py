"""More masking, less risk and more loss: on average, along the parameter of each method.

Each ladder is a method with a growing parameter. A measure is averaged over several files drawn
from the same population, each masked with its own seed.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk, utility

SEEDS = range(5)
NUMBERS, CATEGORIES = ["a", "b", "c"], ["g", "h"]

LADDERS = {
    "microaggregation, k": [mask.Mdav(columns=NUMBERS, k=k) for k in (2, 5, 15, 50)],
    "rank swapping, p": [mask.RankSwap(columns=NUMBERS, p=p) for p in (2, 6, 15, 40)],
    "noise, scale": [
        mask.UncorrelatedNoise(columns=NUMBERS, level=level) for level in (0.05, 0.2, 0.6, 2)
    ],
    "PRAM, share changed": [
        mask.Pram(columns=CATEGORIES, stay=stay) for stay in (0.95, 0.8, 0.5, 0.2)
    ],
}
OF_NUMBERS = {
    "DLD": risk.DistanceLinkage(attributes=NUMBERS),
    "DLD, Mahalanobis": risk.DistanceLinkage(attributes=NUMBERS, distance="mahalanobis"),
    "PLD": risk.ProbabilisticLinkage(attributes=NUMBERS),
    "PLD, fixed tolerance": risk.ProbabilisticLinkage(attributes=NUMBERS, tolerance=0.1),
    "rank linkage": risk.RankLinkage(attributes=NUMBERS),
    "microaggregation linkage": risk.MicroaggregationLinkage(blocks=[NUMBERS]),
    "ID, ranks": risk.IntervalDisclosure(attributes=NUMBERS),
    "ID, deviations": risk.IntervalDisclosure(attributes=NUMBERS, interval="deviation"),
    "identification": risk.IdentificationRisk(keys=["a", "g"]),
    "attribution": risk.CorrectAttribution(keys=CATEGORIES, targets=["a"]),
    "information loss": utility.InformationLoss(columns=NUMBERS),
    "probabilistic loss": utility.ProbabilisticLoss(columns=NUMBERS),
    "eigenvalues": utility.EigenvalueLoss(columns=NUMBERS),
    "pMSE, tree": utility.Propensity(columns=NUMBERS, model="tree", permutations=2),
    "subdomain means": utility.SubdomainMeans(columns=NUMBERS, by=["g"]),
    "validity": utility.AnalyticalValidity(columns=[*NUMBERS, *CATEGORIES], by=["g"]),
    "regression": utility.RegressionOverlap(response="b", predictors=["a", "c", "g"]),
}
OF_CATEGORIES = {
    "PLD": risk.ProbabilisticLinkage(attributes=CATEGORIES),
    "DLD": risk.DistanceLinkage(attributes=CATEGORIES),
    "identification": risk.IdentificationRisk(keys=CATEGORIES),
    "attribution": risk.CorrectAttribution(keys=CATEGORIES, targets=["a"]),
    "Hellinger": utility.ContingencyLoss(columns=CATEGORIES),
    "total variation": utility.ContingencyLoss(columns=CATEGORIES, distance="total-variation"),
    "changes": utility.CategoryChanges(columns=CATEGORIES),
    "log-linear": utility.LogLinearUtility(columns=CATEGORIES),
    "subdomain means": utility.SubdomainMeans(columns=NUMBERS, by=["g"]),
    "regression": utility.RegressionOverlap(response="b", predictors=["a", "c", "g"]),
}
NOT_SEEN = {
    ("pMSE, logistic", "microaggregation, k"): "means are kept, and it sees only main effects",
    ("pMSE, logistic", "rank swapping, p"): "margins are kept, and it sees only main effects",
}
"""What a measure cannot notice, and why."""
CASES = [
    *((ladder, name) for ladder in list(LADDERS)[:3] for name in OF_NUMBERS),
    *(("PRAM, share changed", name) for name in OF_CATEGORIES),
]


@cache
def people(seed, n=200):
    """Draw three related numbers and two related categories."""
    rng = np.random.default_rng(seed)
    related = [[1, 0.6, 0.3], [0.6, 1, 0.5], [0.3, 0.5, 1]]
    a, b, c = rng.multivariate_normal([0, 0, 0], related, n).T
    g = np.digitize(a + rng.normal(size=n), [-1, 0, 1])
    h = np.where(rng.random(n) < 0.7, g % 3, rng.integers(0, 3, n))
    frame = pl.DataFrame({"a": np.exp(a), "b": 10 + b, "c": 50 + 5 * c, "g": g, "h": h})
    as_text = frame.with_columns(pl.col("g", "h").cast(pl.String))
    return tacit.Microdata.of(as_text).with_roles(keys=["g", "h"], confidential=["a"])


@cache
def release(ladder, rung, seed):
    return tacit.Plan([LADDERS[ladder][rung]]).apply(people(seed), seed=seed)


def averages(ladder, measure):
    """Average a measure over the files, for each rung of a ladder."""
    return [
        np.mean([measure.measure(people(s), release(ladder, rung, s)).value for s in SEEDS])
        for rung in range(len(LADDERS[ladder]))
    ]


@pytest.mark.parametrize(("ladder", "name"), CASES)
def test_more_masking_is_safer_and_costs_more(ladder, name):
    measure = (OF_CATEGORIES if ladder.startswith("PRAM") else OF_NUMBERS)[name]
    better = measure.measure(people(0)).better
    grows = (measure.family == "risk") == (better == "higher")
    values = averages(ladder, measure)
    ordered = values if grows else values[::-1]
    # Neighbouring rungs may be equal where nothing more can be lost; the ends must differ.
    slack = 0.02 * (max(values) - min(values))
    assert all(first <= second + slack for first, second in pairwise(ordered)), values
    assert ordered[0] < ordered[-1], values


def test_logistic_propensity_sees_noise_but_no_kept_means():
    measure = utility.Propensity(columns=NUMBERS)
    noise = averages("noise, scale", measure)
    assert all(first < second for first, second in pairwise(noise)), noise
    for _, ladder in NOT_SEEN:
        assert max(averages(ladder, measure)) < 1e-3

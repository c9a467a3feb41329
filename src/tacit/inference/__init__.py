"""Inference from a release of several data sets: analyse each, combine, compare.

Examples
--------
>>> import tacit
>>> from tacit import inference, mask
>>> data = tacit.datasets.census(600)
>>> release = tacit.Plan([mask.Synthesise(m=3)]).apply(data, seed=1)
>>> income = inference.analyse(release, inference.Mean(columns=["income"]))
>>> income.names, bool(income.low[0] < income.estimates[0] < income.high[0])
(['income'], True)
"""

from tacit.inference.analysing import analyse as analyse
from tacit.inference.analysing import analyse_sets as analyse_sets
from tacit.inference.combining import Combined as Combined
from tacit.inference.combining import combine as combine
from tacit.inference.comparing import Comparison as Comparison
from tacit.inference.comparing import compare as compare
from tacit.inference.estimators import Estimates as Estimates
from tacit.inference.estimators import Mean as Mean
from tacit.inference.estimators import Regression as Regression
from tacit.inference.estimators import Total as Total

__all__ = [
    "Combined", "Comparison", "Estimates", "Mean", "Regression", "Total", "analyse", "analyse_sets",
    "combine", "compare",
]  # fmt: skip

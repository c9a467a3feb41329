"""A small business table with sensitive cells, for the tests of publication."""

from functools import cache

import numpy as np
import polars as pl

import tacit
from tacit import tables

RULE = tables.PPercent(p=10) | tables.MinFrequency(n=3)


def records(n=220, seed=4):
    """Businesses with skewed turnover; one code looks like a formula."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": range(n),
            "region": rng.choice(["N1", "N2", "S1", "S2", "S3"], n, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
            "nace": rng.choice(["A", "B", "Ü", "=1+1"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "size": rng.choice(["s", "m", "l"], n, p=[0.7, 0.25, 0.05]),
            "turnover": np.round(rng.lognormal(4, 1.8, n)) + 0.25,
        }
    )


REGIONS = {"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}


def business_table(by=("region", "nace"), **options):
    """Turnover by region and activity."""
    hierarchies = {"region": REGIONS} if "region" in by else {}
    return tacit.tabulate(records(), list(by), "turnover", hierarchies=hierarchies, **options)


@cache
def suppressed(by=("region", "nace")):
    """The table with its sensitive cells suppressed."""
    return business_table(by).protect(tables.SuppressModular(), RULE)

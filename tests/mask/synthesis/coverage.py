"""Simulation of intervals from synthetic data, shared by the short and the long test."""

import numpy as np
import polars as pl

import tacit
from tacit.inference import combine
from tacit.inference._glm import fit_glm
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.edits import Edits
from tacit.mask.synthesis.sequential import Design, fitted
from tacit.mask.synthesis.synthesisers.model import Settings

TRUTH = np.array([3.0, 1.0, 2.0])
"""Mean of y, and constant and slope of y on x."""


def people(n, rng):
    x = rng.normal(1.0, 1.0, n)
    return x, 1.0 + 2.0 * x + rng.normal(0.0, 1.5, n)


def columns_of(x, y):
    data = tacit.Microdata.of(pl.DataFrame({"x": x, "y": y}))
    return {c: Column.of(data.local[c], data.schema[c]) for c in ("x", "y")}


def estimates(x, y):
    values, variances = fit_glm(np.column_stack([np.ones(len(x)), x]), y, "gaussian")
    mean, of_mean = y.mean(), y.var(ddof=1) / len(y)
    return np.r_[mean, values], np.r_[of_mean, variances]


def data_sets(rule, x, y, rng, m, size, background):
    """Draw m data sets of x and y: all of them, only y, or y for other people."""
    columns = columns_of(x, y)
    given = ["x"] if rule in ("partially", "fully") else []
    visit = tuple(c for c in ("x", "y") if c not in given)
    design = Design(visit, {"x": (), "y": ("x",)}, {"x": "normal", "y": "normal"}, {})
    settings = Settings(proper=rule != "simple")
    for _ in range(m):
        model = fitted(columns, design, Edits(columns), settings, rng)
        known = {}
        if rule == "partially":
            known = {"x": x}
        elif rule == "fully":
            known = {"x": rng.choice(background, size, replace=False)}
        drawn = model.draw(known, size, rng)
        yield drawn["x"], drawn["y"]


def coverage(rule, repetitions, *, n=150, m=10, seed=0):
    """Return the share of 95 % intervals that cover the truth, for each quantity."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(len(TRUTH))
    for _ in range(repetitions):
        x, y = people(n, rng)
        background = people(100 * n, rng)[0] if rule == "fully" else x
        size = {"simple": 2 * n, "proper": 2 * n, "partially": n, "fully": 5 * n}[rule]
        found = [estimates(*d) for d in data_sets(rule, x, y, rng, m, size, background)]
        both = combine([q for q, _ in found], [v for _, v in found], rule=rule, size_ratio=size / n)
        covered += (both.low <= TRUTH) & (both.high >= TRUTH)
    return covered / repetitions

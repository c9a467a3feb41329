"""Simulations of intervals from synthetic data: the models alone, and whole releases.

``python benchmarks/bench_coverage.py`` prints the table of benchmarks/RESULTS.md.
"""

import numpy as np
import polars as pl

import tacit
from tacit import inference, mask
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


# -- releases, made and analysed as users do ------------------------------------------------------

MODELS = {"x": "normal", "y": "normal", "z": "logistic"}
RUNS = {
    "simple": (3, 1000, [11]),
    "proper": (3, 1000, [11]),
    "partially": (5, 800, [11]),
    "fully": (25, 120, [101, 102, 103, 104, 105]),
}
"""For each rule: data sets of a release, repetitions for each seed, seeds."""
QUANTITIES = ["mean", "total", "constant", "slope", "logit constant", "logit x", "logit y"]


def survey(n, rng):
    """Return people whose z is a logistic regression on x and y."""
    x, y = people(n, rng)
    z = rng.random(n) < 1 / (1 + np.exp(1.0 + 0.5 * x - 0.5 * y))
    return pl.DataFrame({"x": x, "y": y, "z": z})


def step_of(rule, n, m):
    """Return the method that calls for a rule."""
    drawn = {c: MODELS[c] for c in ("y", "z")}
    if rule == "partially":
        return mask.PartiallySynthetic(columns=["y", "z"], methods=drawn, m=m)
    if rule == "fully":
        background = {"background": ["x"], "sampled": "asked"}
        return mask.FullySynthetic(methods=drawn, m=m, size=5 * n, **background)
    return mask.Synthesise(methods=MODELS, m=m, size=2 * n, proper=rule == "proper")


def analysed(release):
    """Return the ends of all intervals, in the order of QUANTITIES."""
    found = [
        inference.analyse(release, analysis)
        for analysis in (
            inference.Mean(["y"]), inference.Total(["y"]), inference.Regression("y", ["x"]),
            inference.Regression("z", ["x", "y"], "binomial"),
        )
    ]  # fmt: skip
    return np.concatenate([f.low for f in found]), np.concatenate([f.high for f in found])


def coverage_of_releases(rule, repetitions, *, n=200, m=3, seed=0):
    """Return the share of 95 % intervals that cover the truth, for each of QUANTITIES."""
    rng = np.random.default_rng(seed)
    truth = np.array([3.0, 3.0 * n, 1.0, 2.0, -1.0, -0.5, 0.5])
    plan, covered = tacit.Plan([step_of(rule, n, m)]), np.zeros(len(truth))
    for _ in range(repetitions):
        frame = survey(50 * n if rule == "fully" else n, rng)
        if rule == "fully":
            frame = frame.with_columns(asked=pl.int_range(pl.len()) < n)
        low, high = analysed(plan.apply(frame, seed=int(rng.integers(2**31))))
        covered += (low <= truth) & (high >= truth)
    return covered / repetitions


def measured_coverage(rule):
    """Return the coverage over all repetitions, as benchmarks/RESULTS.md has it."""
    m, repetitions, seeds = RUNS[rule]
    each = [coverage_of_releases(rule, repetitions, m=m, seed=seed) for seed in seeds]
    return np.mean(each, axis=0)

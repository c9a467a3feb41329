"""Full-domain generalisation against the optima of source.md."""

import csv
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.io.hierarchies import read_hierarchy
from tacit.mask.generalise import generalisation

KEYS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation", "salary-class",
]  # fmt: skip
with (Path(__file__).parent / "optima.csv").open() as handle:
    OPTIMA = list(csv.DictReader(handle))
every_optimum = pytest.mark.parametrize(
    "row", OPTIMA, ids=lambda r: f"{r['keys']}-k{r['k']}-{r['limit']}-{r['condition']}"
)


@pytest.fixture(scope="module")
def adult(shared_data):
    folder = shared_data / "adult"
    table = pl.read_csv(folder / "adult.csv", separator=";", infer_schema=False)
    trees = {key: read_hierarchy(folder / f"adult_hierarchy_{key}.csv") for key in KEYS}
    return tacit.Microdata.of(table).with_roles(keys=KEYS).with_hierarchies(**trees)


def method_of(row, **more):
    parameters = {"k": int(row["k"]), "max_suppression": float(row["limit"])}
    if row["condition"]:
        name, limit = row["condition"].split("=")
        parameters |= {"keys": [k for k in KEYS if k != "occupation"],
                       "confidential": "occupation", name: float(limit)}  # fmt: skip
    return mask.Generalise(**parameters | more)


@every_optimum
def test_optimum_equals_that_of_arx(adult, row):
    found = generalisation(method_of(row), adult)
    assert list(found.levels.values()) == [int(level) for level in row["levels"].split()]
    assert found.score == pytest.approx(float(row["score"]), abs=5e-6)
    assert found.n_suppressed == int(row["suppressed"])
    assert found.is_optimal
    assert found.n_checked < found.n_combinations / 4


def test_release_holds_what_the_search_found(adult):
    row = OPTIMA[3]
    release = tacit.Plan([method_of(row)]).apply(adult, seed=1).frame
    blank = release.select(pl.all_horizontal(pl.col(KEYS).is_null())).to_series()
    assert blank.sum() == int(row["suppressed"])
    assert release.group_by(KEYS).len()["len"].min() >= 5
    assert set(release["age"].drop_nulls()) <= {"0-19", "20-39", "40-59", "60-79", "80-99"}


@every_optimum
def test_the_suppressed_records_of_these_optima_are_safe_too(adult, row):
    loose = generalisation(method_of(row, strict=False), adult)
    assert loose.levels == generalisation(method_of(row), adult).levels


def test_greedy_search_is_never_better_and_seldom_much_worse(adult):
    for row in OPTIMA[:6]:
        found = generalisation(method_of(row, search="greedy"), adult)
        assert float(row["score"]) - 5e-6 <= found.score <= 1.15 * float(row["score"])
        assert not found.is_optimal


@pytest.mark.slow
@pytest.mark.parametrize("n_keys", ["9", "8"])
def test_optima_equal_exhaustive_search(adult, n_keys):
    rows = [row for row in OPTIMA if row["keys"] == n_keys]
    wanted = [method_of(row) for row in rows]
    tables = [exhaustive_tables(adult, key) for key in wanted[0].keys or KEYS]
    confidential = adult.local["occupation"].rank("dense").to_numpy().astype(int) - 1
    best = [(np.inf, ())] * len(rows)
    for levels in product(*(range(len(labels)) for labels, _ in tables)):
        scores = exhaustive_scores(levels, tables, confidential, wanted)
        best = [min(old, (score, levels)) for old, score in zip(best, scores, strict=True)]
    for row, (score, levels) in zip(rows, best, strict=True):
        assert score == pytest.approx(float(row["score"]), abs=5e-6)
        assert levels == tuple(int(level) for level in row["levels"].split())


def exhaustive_tables(adult, key):
    paths = adult.schema[key].hierarchy.paths
    leaf = {path[0]: i for i, path in enumerate(paths)}
    codes = np.array([leaf[value] for value in adult.local[key]])
    labels, losses = [], []
    for level in range(len(paths[0])):
        _, number, counts = np.unique(
            [path[level] for path in paths], return_inverse=True, return_counts=True
        )
        labels.append(number[codes])
        losses.append(((counts - 1) / (len(paths) - 1))[number][codes])
    return labels, losses


def exhaustive_scores(levels, tables, confidential, wanted):
    packed = np.zeros(len(confidential), dtype=np.int64)
    for (labels, _), level in zip(tables, levels, strict=True):
        packed = packed * (labels[level].max() + 1) + labels[level]
    _, group, size = np.unique(packed, return_inverse=True, return_counts=True)
    losses = [x[level] for (_, x), level in zip(tables, levels, strict=True)]
    scores = []
    for method in wanted:
        out = exhaustive_failing(group, size, confidential, method)[group]
        if out.mean() > method.max_suppression:
            scores.append(np.inf)
            continue
        means = [(x.sum() + (1 - x[out]).sum()) / len(x) for x in losses]
        scores.append(np.exp(np.log1p(means).mean()) - 1)
    return scores


def exhaustive_failing(group, size, confidential, method):
    fails = size < method.k
    if not method.diversity and not method.closeness:
        return fails
    width = confidential.max() + 1
    cells = np.bincount(group * width + confidential, minlength=len(size) * width)
    counts = cells.reshape(-1, width)
    if method.diversity:
        return fails | ((counts > 0).sum(axis=1) < method.diversity)
    whole = np.bincount(confidential) / len(confidential)
    away = 0.5 * np.abs(counts / size[:, None] - whole).sum(axis=1)
    return fails | (away > method.closeness + 1e-9)

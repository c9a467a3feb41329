"""Full-domain generalisation: the optimum, the guarantee, the edges."""

from collections import Counter, defaultdict
from itertools import product
from math import log

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError
from tacit.core.hierarchy import Intervals, Prefixes, Tree
from tacit.mask import generalise as module
from tacit.mask._generalise_domains import _check_nested
from tacit.mask.generalise import found_levels, generalisation, recoding_plan

KEYS = ["region", "sex", "age", "marital"]
COLOUR = Tree(
    paths=[
        ("red", "warm", "*"),
        ("rose", "warm", "*"),
        ("blue", "cold", "*"),
        ("ciel", "cold", "*"),
    ]
)
SIZE = Tree(paths=[("s", "*"), ("m", "*"), ("l", "*")])


def small(n, seed, missing=0.0):
    """Return a few records on three keys of different hierarchies."""
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "colour": rng.choice(["red", "rose", "blue", "ciel"], n, p=[0.5, 0.1, 0.3, 0.1]),
            "size": rng.choice(["s", "m", "l"], n, p=[0.6, 0.3, 0.1]),
            "age": rng.integers(0, 12, n),
            "illness": rng.choice(["flu", "cold", "none"], n),
        }
    )
    blanks = [pl.when(pl.Series(rng.random(n) >= missing)).then(pl.col(c)).alias(c)
              for c in ("colour", "size", "age")]  # fmt: skip
    return (
        tacit.Microdata.of(table.with_columns(blanks))
        .with_roles(keys=["colour", "size", "age"], confidential=["illness"])
        .with_hierarchies(colour=COLOUR, size=SIZE, age=Intervals(widths=(3, 6)))
    )


# -- breaking the guarantee -----------------------------------------------------------------------


def classes_of(frame, keys, confidential):
    found = defaultdict(list)
    for row in frame.select([*keys, confidential]).rows():
        found[row[:-1]].append(row[-1])
    return found


def broken(frame, keys, confidential, method):
    """Return a class that breaks what the method promises, by the definitions alone."""
    whole = Counter(frame[confidential].to_list())
    n = sum(whole.values())
    for key, values in classes_of(frame, keys, confidential).items():
        counts = Counter(values)
        distinct = len(counts.keys() - {None})
        entropy = -sum(c / len(values) * log(c / len(values)) for c in counts.values())
        away = sum(abs(counts[v] / len(values) - whole[v] / n) for v in whole) / 2
        asked = method.diversity or 1
        if (
            len(values) < method.k
            or distinct < (method.sensitivity or 0)
            or (method.diversity_kind == "distinct" and distinct < asked)
            or (method.diversity_kind == "entropy" and entropy < log(asked) - 1e-8)
            or (method.closeness is not None and away > method.closeness + 1e-8)
        ):
            return key, values
    return None


asked_for = st.sampled_from(
    [
        {},
        {"diversity": 3.0},
        {"sensitivity": 2},
        {"diversity": 2.5, "diversity_kind": "entropy"},
        {"closeness": 0.3},
        {"closeness": 0.4, "sensitivity": 3},
    ]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(5, 200),
    seed=st.integers(0, 1000),
    missing=st.sampled_from([0.0, 0.1, 0.6]),
    k=st.integers(2, 8),
    limit=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    asked=asked_for,
)
def test_nobody_breaks_the_classes(n, seed, missing, k, limit, asked):
    data = tacit.datasets.census(n, seed=seed, missing=missing)
    more = {"confidential": "occupation", **asked} if asked else {}
    method = mask.Generalise(keys=KEYS, k=k, max_suppression=limit, **more)
    try:
        release = tacit.Plan([method]).apply(data, seed=1).frame
    except (ProtectionError, DataError):
        return
    assert broken(release, KEYS, "occupation", method) is None
    blank = release.select(pl.all_horizontal(pl.col(KEYS).is_null())).to_series().sum()
    before = data.local.select(pl.all_horizontal(pl.col(KEYS).is_null())).to_series().sum()
    assert blank - before <= limit * n


def test_the_breaker_can_break():
    data = tacit.datasets.census(100)
    method = mask.Generalise(keys=KEYS, k=5)
    assert broken(data.local, KEYS, "occupation", method) is not None
    release = tacit.Plan([mask.Recode(column="age", level=2)]).apply(data, seed=1).frame
    assert broken(release, KEYS, "occupation", method) is not None


def test_suppressed_records_are_safe_too_unless_told_otherwise():
    # Three classes of sizes 10, 10 and 1: blanking the one record would single it out.
    table = pl.DataFrame({"size": ["s"] * 10 + ["m"] * 10 + ["l"]})
    data = tacit.Microdata.of(table).with_roles(keys=["size"]).with_hierarchies(size=SIZE)
    loose = mask.Generalise(k=3, max_suppression=0.1, strict=False)
    assert generalisation(loose, data).n_suppressed == 1
    strict = mask.Generalise(k=3, max_suppression=0.1)
    found = generalisation(strict, data)
    assert found.levels == {"size": 1}
    assert found.n_suppressed == 0


# -- the optimum ----------------------------------------------------------------------------------


def exhaustive(data, method):
    """Return the best score by trying every combination on the release's own definition."""
    keys = ["colour", "size", "age"]
    depths = [data.schema[key].hierarchy.n_levels for key in keys]
    scores = [scored(data, keys, levels, method) for levels in product(*map(range, depths))]
    return min(scores)


def scored(data, keys, levels, method):
    columns, losses = [], []
    for key, level in zip(keys, levels, strict=True):
        labels, loss = generalised(data, key, level, method.objective)
        columns.append(labels)
        losses.append(loss)
    rows = list(zip(*columns, strict=True))
    sizes = Counter(rows)
    illness = defaultdict(set)
    for row, value in zip(rows, data.local["illness"], strict=True):
        illness[row].add(value)
    good = {
        r for r in sizes if sizes[r] >= method.k and len(illness[r]) >= (method.sensitivity or 0)
    }
    out = [row not in good for row in rows]
    n = len(rows)
    if sum(out) > method.max_suppression * n + 1e-9:
        return np.inf
    if method.objective == "discernibility":
        return sum(sizes[r] ** 2 for r in good) + n * sum(out)
    if method.objective == "class-size":
        return n / (len(good) + any(out))
    if method.objective == "height":
        return sum(levels)
    means = [np.mean([1.0 if o else x for o, x in zip(out, loss, strict=True)]) for loss in losses]
    if method.objective == "precision":
        return np.mean(means)
    return np.prod([1 + x for x in means]) ** (1 / 3) - 1


def generalised(data, key, level, objective):
    """Return the labels of a key at a level and the loss of each."""
    hierarchy, values = data.schema[key].hierarchy, data.local[key].to_list()
    top = hierarchy.n_levels - 1

    def label(value):
        if level == top:
            return "*"
        if value is None or level == 0:
            return value
        if isinstance(hierarchy, Tree):
            return hierarchy.mapping(level)[value]
        return value // hierarchy.widths[level - 1]

    domain = (
        [path[0] for path in hierarchy.paths]
        if isinstance(hierarchy, Tree)
        else sorted({v for v in values if v is not None})
    )
    domain += [None] * (None in values)
    if objective == "precision":
        return [label(v) for v in values], [level / top] * len(values)
    covers = Counter(label(leaf) for leaf in domain)
    size = max(len(domain) - 1, 1)
    loss = [(covers[label(v)] - 1) / size for v in values]
    return [label(v) for v in values], loss


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(6, 60),
    seed=st.integers(0, 1000),
    missing=st.sampled_from([0.0, 0.15]),
    limit=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    objective=st.sampled_from(["loss", "precision", "height", "discernibility", "class-size"]),
    sensitivity=st.sampled_from([None, 2, 3]),
)
def test_optimum_equals_exhaustive_search(n, seed, missing, limit, objective, sensitivity):
    data = small(n, seed, missing)
    method = mask.Generalise(
        k=3, max_suppression=limit, objective=objective, sensitivity=sensitivity, strict=False
    )
    best = exhaustive(data, method)
    if best == np.inf:
        with pytest.raises(ProtectionError):
            generalisation(method, data)
        return
    found = generalisation(method, data)
    assert found.score == pytest.approx(best, abs=1e-9)
    assert found.n_suppressed <= limit * n


def test_greedy_search_meets_the_same_conditions():
    data = tacit.datasets.census(800)
    best = generalisation(mask.Generalise(k=5), data)
    good = generalisation(mask.Generalise(k=5, search="greedy"), data)
    assert best.is_optimal
    assert not good.is_optimal
    assert best.score <= good.score <= 1.2 * best.score


def test_large_lattices_are_searched_greedily(monkeypatch):
    data = tacit.datasets.census(300)
    monkeypatch.setattr(module, "MOST_COMBINATIONS", 10)
    assert not generalisation(mask.Generalise(keys=KEYS), data).is_optimal
    assert generalisation(mask.Generalise(keys=KEYS, search="optimal"), data).is_optimal


def test_many_keys_are_no_obstacle():
    rng = np.random.default_rng(1)
    names = [f"key {i} ä" for i in range(30)]
    table = pl.DataFrame({c: rng.choice(["s", "m", "l"], 400, p=[0.9, 0.08, 0.02]) for c in names})
    data = tacit.Microdata.of(table).with_roles(keys=names)
    data = data.with_hierarchies(**dict.fromkeys(names, SIZE))
    release = tacit.Plan([mask.Generalise(k=5)]).apply(data, seed=1).frame
    assert release.group_by(names).len()["len"].min() >= 5
    assert (release[names[0]].is_null()).sum() <= 20


# -- steering the search --------------------------------------------------------------------------


def test_levels_stay_within_their_limits():
    data = tacit.datasets.census(400)
    levels = found_levels(
        mask.Generalise(keys=KEYS, k=3, min_levels={"age": 2}, max_levels={"region": 2}), data
    )
    assert levels["age"] >= 2
    assert levels["region"] <= 2


def test_an_important_key_is_kept_finer():
    data = tacit.datasets.census(1000)
    plain = found_levels(mask.Generalise(keys=["region", "age"], k=3), data)
    heavy = found_levels(
        mask.Generalise(keys=["region", "age"], k=3, importance={"region": 20.0}), data
    )
    assert heavy["region"] < plain["region"]


def test_unknown_names_and_levels_are_refused():
    data = tacit.datasets.census(50)
    for wrong in ({"importance": {"size": 1.0}}, {"min_levels": {"size": 1}}):
        with pytest.raises(ParameterError, match="'size' is not one of the keys"):
            generalisation(mask.Generalise(**wrong), data)
    with pytest.raises(ParameterError, match="above its highest"):
        generalisation(mask.Generalise(min_levels={"sex": 5}), data)
    with pytest.raises(ParameterError, match="importance"):
        mask.Generalise(importance={"sex": 0.0})
    with pytest.raises(ParameterError, match="confidential"):
        mask.Generalise(confidential="income")
    with pytest.raises(SchemaError, match="'age' cannot be a key"):
        generalisation(mask.Generalise(confidential="age", sensitivity=2), data)


# -- the release ----------------------------------------------------------------------------------


def test_exported_plan_gives_the_release_but_for_suppression():
    data = tacit.datasets.census(500)
    method = mask.Generalise(keys=KEYS, k=4)
    release = tacit.Plan([method]).apply(data, seed=1).frame
    plan = recoding_plan(found_levels(method, data))
    recoded = tacit.Plan.from_toml(plan.to_toml()).apply(data, seed=1).frame
    kept = ~release.select(pl.all_horizontal(pl.col(KEYS).is_null())).to_series()
    assert 0 < (~kept).sum() < 26
    assert release.filter(kept).equals(recoded.filter(kept))


def test_exported_plan_applies_to_new_data():
    levels = found_levels(mask.Generalise(keys=KEYS, k=4), tacit.datasets.census(500))
    new = tacit.datasets.census(50, seed=9)
    release = recoding_plan(levels).apply(new, seed=1).data
    for key, level in levels.items():
        assert level == 0 or release.local[key].dtype == pl.String


def test_missing_stays_missing_below_the_root_and_joins_it_there():
    table = pl.DataFrame({"colour": ["red", "rose", None, None, "blue", "ciel"] * 3})
    data = tacit.Microdata.of(table).with_roles(keys=["colour"]).with_hierarchies(colour=COLOUR)
    warm = tacit.Plan([mask.Generalise(k=6, max_suppression=0.0)]).apply(data, seed=1).frame
    assert Counter(warm["colour"].to_list()) == {"warm": 6, "cold": 6, None: 6}
    top = tacit.Plan([mask.Generalise(k=7, max_suppression=0.0)]).apply(data, seed=1).frame
    assert set(top["colour"].to_list()) == {"*"}


def test_linked_columns_are_blanked_with_their_key():
    table = pl.DataFrame({"size": ["s"] * 9 + ["m", "l"], "name": ["small"] * 9 + ["x", "y"]})
    data = tacit.Microdata.of(table).with_roles(keys=["size"], linked={"name": "size"})
    data = data.with_hierarchies(size=SIZE)
    method = mask.Generalise(k=2, max_suppression=0.2)
    release = tacit.Plan([method]).apply(data, seed=1).frame
    assert release["size"].to_list() == ["s"] * 9 + [None] * 2
    assert release["name"].to_list() == ["small"] * 9 + [None] * 2


def test_prefixes_and_numbers_in_a_tree():
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {"zip": [f"81{i:03d}" for i in rng.integers(0, 30, 200)], "age": rng.integers(1, 5, 200)}
    ).with_columns(pl.col("age").cast(pl.Float64))
    tree = Tree(paths=[(str(i), "young" if i < 3 else "old", "*") for i in range(1, 5)])
    data = tacit.Microdata.of(table).with_roles(keys=["zip", "age"])
    data = data.with_hierarchies(zip=Prefixes(length=5), age=tree)
    release = tacit.Plan([mask.Generalise(k=10)]).apply(data, seed=1).frame
    assert release.drop_nulls().group_by("zip", "age").len()["len"].min() >= 10
    assert all(code.startswith("81") for code in release["zip"].drop_nulls())


def test_values_that_the_hierarchy_does_not_hold_are_refused():
    table = pl.DataFrame({"colour": ["red", "green", "blue"]})
    data = tacit.Microdata.of(table).with_roles(keys=["colour"]).with_hierarchies(colour=COLOUR)
    with pytest.raises(DataError, match="1 unknown, such as 'green'"):
        generalisation(mask.Generalise(k=2), data)


def test_keys_without_a_hierarchy_are_refused():
    data = tacit.datasets.census(50)
    with pytest.raises(SchemaError, match="'hours' has no hierarchy"):
        generalisation(mask.Generalise(keys=["hours"]), data)
    with pytest.raises(SchemaError, match="role of a key"):
        generalisation(mask.Generalise(), tacit.Microdata.of(pl.DataFrame({"x": [1, 2, 3]})))


def test_impossible_conditions_release_nothing():
    data = tacit.datasets.census(50)
    method = mask.Generalise(keys=KEYS, k=2, sensitivity=30, confidential="occupation")
    with pytest.raises(ProtectionError, match="no combination of levels"):
        tacit.Plan([method]).apply(data, seed=1)


def test_a_column_of_one_value_loses_nothing():
    table = pl.DataFrame({"size": ["s"] * 5})
    tree = Tree(paths=[("s", "*")])
    data = tacit.Microdata.of(table).with_roles(keys=["size"]).with_hierarchies(size=tree)
    found = generalisation(mask.Generalise(k=3), data)
    assert (found.levels, found.score) == ({"size": 0}, 0.0)


def test_levels_that_do_not_nest_are_refused():
    _check_nested(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]]), "x")
    with pytest.raises(DataError, match="'x' do not nest"):
        _check_nested(np.array([[0, 1, 2], [0, 0, 1], [0, 1, 1]]), "x")


def test_description_says_what_is_promised():
    method = mask.Generalise(k=5, closeness=0.2, confidential="income")
    text = method.describe()
    assert "at least 5 records share their keys" in text
    assert "0.2-closeness" in text
    assert "5 %" in text

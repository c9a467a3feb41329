"""MDAV: exact groups, and the promises made about missing values and weights."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.progress import listening
from tacit.mask._grouped import group_means
from tacit.mask.mdav import mdav_groups


def plain_mdav(values: np.ndarray, k: int) -> np.ndarray:
    """MDAV as DF07 tells it, with a full scan at every step; ties to the first record."""
    groups = np.full(len(values), -1)
    free = np.arange(len(values))
    group = 0

    def squared(rows, target):
        return ((values[rows] - target) ** 2).sum(axis=1)

    def nearest(rows, seed):
        others = rows[rows != seed]
        order = np.lexsort((others, squared(others, values[seed])))
        return np.concatenate([[seed], others[order[: k - 1]]])

    while len(free) >= 3 * k:
        x_r = free[np.argmax(squared(free, values[free].mean(axis=0)))]
        x_s = free[np.argmax(squared(free, values[x_r]))]
        members = nearest(free, x_r)
        groups[members] = group
        free = np.setdiff1d(free, members)
        if x_s not in free:
            x_s = free[np.argmax(squared(free, values[x_r]))]
        members = nearest(free, x_s)
        groups[members] = group + 1
        free = np.setdiff1d(free, members)
        group += 2
    if len(free) >= 2 * k:
        x_r = free[np.argmax(squared(free, values[free].mean(axis=0)))]
        members = nearest(free, x_r)
        groups[members] = group
        free = np.setdiff1d(free, members)
        group += 1
    groups[free] = group
    return groups


def frame_of(values: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({f"x{j}": values[:, j] for j in range(values.shape[1])})


@pytest.mark.parametrize("n_columns", [1, 2, 5, 10])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_groups_equal_a_plain_reading_of_the_paper(n_columns, k):
    values = np.random.default_rng(n_columns * 10 + k).standard_normal((700, n_columns))
    before = values.copy()
    groups = mdav_groups(values, k, standardise=False)
    assert (values == before).all()
    assert (groups == plain_mdav(values, k)).all()


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 60), st.integers(1, 3)),
        elements=st.integers(-8, 8).map(float),
    ),
    k=st.integers(2, 5),
)
def test_every_group_has_at_least_k_and_fewer_than_2k_members(values, k):
    if len(values) < k:
        return
    groups = mdav_groups(values, k)
    sizes = np.bincount(groups)
    assert groups.min() == 0
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


def test_equal_records_and_constant_columns_are_grouped_too():
    values = np.ones((1000, 3))
    assert np.bincount(mdav_groups(values, 3)).min() >= 3


def test_means_are_kept_and_weighted_means_too():
    rng = np.random.default_rng(3)
    table = frame_of(rng.lognormal(size=(500, 3))).with_columns(w=pl.Series(rng.uniform(1, 9, 500)))
    columns = ["x0", "x1", "x2"]
    plain = tacit.Plan([mask.Mdav(columns=columns, k=4)]).apply(table, seed=1).frame
    assert np.allclose(plain[columns].mean().row(0), table[columns].mean().row(0))
    data = tacit.Microdata.of(table).with_roles(weight="w")
    weighted = tacit.Plan([mask.Mdav(columns=columns, k=4)]).apply(data, seed=1).frame
    for column in columns:
        kept = (weighted[column] * table["w"]).sum()
        assert kept == pytest.approx((table[column] * table["w"]).sum())


def test_a_breaker_finds_no_combination_of_fewer_than_k_records_even_with_missing_values():
    rng = np.random.default_rng(5)
    values = rng.standard_normal((400, 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    values[0] = [1.0, np.nan, np.nan]
    release = tacit.Plan([mask.Mdav(columns=["x0", "x1", "x2"], k=5)]).apply(
        frame_of(values), seed=1
    )
    counts = release.frame.group_by("x0", "x1", "x2").len()
    something = counts.filter(~pl.all_horizontal(pl.col("x0", "x1", "x2").is_null()))
    assert something["len"].min() >= 5


def test_a_rare_pattern_of_missing_values_is_blanked_not_invented():
    values = np.random.default_rng(0).standard_normal((50, 2))
    values[0, 0] = np.nan
    release = tacit.Plan([mask.Mdav(columns=["x0", "x1"], k=3)]).apply(frame_of(values), seed=1)
    assert release.frame.row(0) == (None, None)
    # one group of three is blanked with it: alone among blanks it would stand out
    assert release.frame.null_count().row(0) == (4, 4)


def test_minus_999_is_a_value_like_any_other():
    values = np.array([-999.0, -999.0, -999.0, 1.0, 2.0, 3.0])
    release = tacit.Plan([mask.Mdav(columns=["x0"], k=3)]).apply(frame_of(values[:, None]), seed=1)
    assert release.frame["x0"].to_list() == [-999.0, -999.0, -999.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("parameters", "word"),
    [({"k": 1}, "k"), ({"columns": []}, "columns"), ({"columns": ["x0", "x0"]}, "columns")],
)
def test_bad_parameters_are_named(parameters, word):
    with pytest.raises(ParameterError, match=word):
        mask.Mdav(**({"columns": ["x0"]} | parameters))


def test_k_larger_than_the_file_text_columns_and_infinities_are_refused():
    few = frame_of(np.zeros((2, 1)))
    with pytest.raises(DataError, match=r"k = 3 .* 2 records"):
        tacit.Plan([mask.Mdav(columns=["x0"], k=3)]).apply(few)
    with pytest.raises(SchemaError, match="nominal"):
        tacit.Plan([mask.Mdav(columns=["t"])]).apply(pl.DataFrame({"t": ["a", "b", "c"]}))
    with pytest.raises(DataError, match="infinite"):
        tacit.Plan([mask.Mdav(columns=["x"])]).apply(pl.DataFrame({"x": [1.0, 2.0, float("inf")]}))


def test_progress_counts_every_record_and_an_interrupt_is_noticed():
    values = np.random.default_rng(0).standard_normal((5000, 2))
    heard = []

    class Listener:
        def task(self, title, total):
            from contextlib import nullcontext

            return nullcontext(heard.append)

    with listening(Listener()):
        mdav_groups(values, 3)
    assert len(heard) > 2
    assert 5000 - 6 * 3 <= sum(heard) <= 5000

    class Interrupting:
        def task(self, title, total):
            from contextlib import nullcontext

            def stop(_units):
                raise KeyboardInterrupt

            return nullcontext(stop)

    with listening(Interrupting()), pytest.raises(KeyboardInterrupt):
        mdav_groups(values, 3)


def test_group_means_by_hand():
    values = np.array([[1.0], [3.0], [10.0]])
    groups = np.array([0, 0, 1])
    assert group_means(values, groups)[:, 0].tolist() == [2.0, 2.0, 10.0]
    weights = np.array([3.0, 1.0, 1.0])
    assert group_means(values, groups, weights)[:, 0].tolist() == [1.5, 1.5, 10.0]


def test_groups_stay_within_strata_and_small_strata_are_blanked():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.standard_normal(60), "s": ["a"] * 40 + ["b"] * 18 + ["c"] * 2})
    frame = tacit.Plan([mask.Mdav(columns=["x"], k=3, within=["s"])]).apply(table, seed=1).frame
    assert frame.filter(pl.col("s") == "c")["x"].null_count() == 2
    known = frame.drop_nulls()
    assert known.group_by("x").agg(pl.col("s").n_unique())["s"].max() == 1
    assert known.group_by("x").len()["len"].min() >= 3


def test_the_most_outlying_records_are_blanked_on_request():
    values = np.concatenate([np.random.default_rng(0).standard_normal(98), [50.0, -60.0]])
    frame = frame_of(values[:, None])
    released = tacit.Plan([mask.Mdav(columns=["x0"], k=3, outliers=0.02)]).apply(frame).frame["x0"]
    assert released.is_null().to_list()[-2:] == [True, True]
    assert released.null_count() == 5  # a group of three hides the two
    assert released.drop_nulls().abs().max() < 5


def test_equal_values_come_out_as_they_went_in():
    values = np.full((9, 1), 43.1)
    weights = np.random.default_rng(0).uniform(1, 7, 9)
    assert (group_means(values, np.repeat([0, 1, 2], 3), weights) == 43.1).all()


@pytest.mark.parametrize(
    "method",
    [
        mask.Mdav(columns=["a", "b"], k=3),
        mask.VMdav(columns=["a", "b"], k=3),
        mask.RefinedMicroaggregation(columns=["a", "b"], k=3),
        mask.ProjectedMicroaggregation(columns=["a", "b"], k=3),
        mask.MixedMdav(columns=["a", "b"], k=3),
        mask.Mdav(columns=["a", "b"], k=3, outliers=0.03),
    ],
)
@pytest.mark.parametrize("n_missing", [0, 1, 2, 3])
def test_blank_records_are_no_small_class_either(method, n_missing):
    rng = np.random.default_rng(5)
    a = [None if i < n_missing else float(x) for i, x in enumerate(rng.normal(size=60))]
    table = pl.DataFrame({"a": a, "b": rng.normal(size=60)})
    frame = tacit.Plan([method]).apply(table, seed=1).frame
    assert frame.group_by("a", "b").len()["len"].min() >= 3
    assert frame.filter(pl.col("a").is_null() & pl.col("b").is_null()).height <= 8

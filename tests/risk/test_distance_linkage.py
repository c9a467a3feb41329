"""Distance-based record linkage: exact, bounded, monotone, and clear about what it cannot do."""

import sys
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.numpy_device import numpy_device

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError, ParameterError

COLUMNS = ["age", "hours", "income", "taxes"]


def brute_force(before, after, at=None, to=None):
    """Share of right links by the definition: all pairs, deviations of the original as units."""
    unit = before.std(axis=0, ddof=1)
    at = np.arange(len(before)) if at is None else at
    to = np.arange(len(after)) if to is None else to
    share = np.zeros(len(before))
    for i, j in zip(at, to, strict=True):
        d = (((before[i] - after) / unit) ** 2).sum(axis=1)
        best = d <= d.min() * (1 + 1e-9) + 1e-18
        share[i] = best[j] / best.sum()
    return share


def linkage(before, after, **options):
    names = [f"x{c}" for c in range(before.shape[1])]
    original, released = (Microdata.of(pl.DataFrame(x, schema=names)) for x in (before, after))
    return risk.DistanceLinkage(**options).measure(original, released.numbered())


@given(st.integers(2, 60), st.integers(1, 4), st.integers(0, 2), st.integers(0, 10_000))
def test_equal_to_brute_force(n, p, digits, seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(n, p)).round(digits)
    before[0] = before.max() + 1  # no constant column
    after = (before + rng.normal(0, 0.5, (n, p))).round(digits)
    after[: n // 2] = after[: n // 2].mean(axis=0)
    found = linkage(before, after)
    np.testing.assert_allclose(found.per_unit, brute_force(before, after))
    assert found.value == pytest.approx(found.per_unit.mean())


@pytest.mark.parametrize("level", [0.05, 0.3, 1.0])
def test_equal_to_brute_force_on_a_sample_of_many(level):
    rng = np.random.default_rng(3)
    before = rng.standard_normal((20_000, 10))
    after = before + rng.normal(0, level, before.shape)
    found = linkage(before, after).per_unit
    unit = before.std(axis=0, ddof=1)
    for i in rng.choice(len(before), 100, replace=False):
        d = (((before[i] - after) / unit) ** 2).sum(axis=1)
        assert found[i] == (d.argmin() == i)


def test_identity_links_everybody_and_a_constant_nobody():
    data = tacit.datasets.census(400)
    measure = risk.DistanceLinkage(attributes=["income", "age"])
    distinct = data.take(np.unique(data.numeric(["income", "age"]), axis=0, return_index=True)[1])
    assert measure.measure(distinct).value == 1
    flat = distinct.with_arrays({c: np.full(len(distinct), 7.0) for c in ("income", "age")})
    assert measure.measure(distinct, flat).value == pytest.approx(1 / len(distinct))


def averages(make, parameters, columns, seeds=4, n=300):
    data = tacit.datasets.census(n, seed=2)
    measure = risk.DistanceLinkage(attributes=columns)
    return [
        np.mean(
            [
                measure.measure(data, tacit.Plan([make(p)]).apply(data, seed=s)).value
                for s in range(seeds)
            ]
        )
        for p in parameters
    ]


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (lambda k: mask.Mdav(columns=COLUMNS, k=k), (2, 4, 10, 40)),
        (lambda p: mask.RankSwap(columns=COLUMNS, p=p), (1, 5, 15, 40)),
        (lambda s: mask.UncorrelatedNoise(columns=COLUMNS, level=s), (0.02, 0.1, 0.4, 1.5)),
    ],
    ids=["mdav", "rank-swap", "noise"],
)
def test_falls_on_average_as_masking_grows(make, parameters):
    found = averages(make, parameters, COLUMNS)
    assert all(a > b for a, b in pairwise(found)), found
    assert found[-1] < 0.1


def test_never_above_one_over_k_for_microaggregation_of_all_attributes():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.Mdav(columns=COLUMNS, k=5)]).apply(data, seed=1)
    found = risk.DistanceLinkage(attributes=COLUMNS).measure(data, release)
    assert found.per_unit.max() <= 1 / 5


def test_records_left_out_count_as_not_linked():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    found = risk.DistanceLinkage(attributes=["income", "age"]).measure(data, release)
    kept = np.isin(np.arange(300), release.rows)
    assert np.all(found.per_unit[~kept] == 0)
    assert found.details["records_released"] == kept.sum()
    assert found.details["linked_among_released"] > 0.6 > found.value


def test_a_record_released_twice_is_found_by_either_copy():
    data = tacit.datasets.census(40).numbered()
    doubled = data.take(np.repeat(np.arange(40), 2))
    once = risk.DistanceLinkage(attributes=["income"]).measure(data)
    twice = risk.DistanceLinkage(attributes=["income"]).measure(data, doubled)
    np.testing.assert_allclose(twice.per_unit, once.per_unit)


def test_mixed_kinds_by_hand():
    frame = pl.DataFrame({"n": [0.0, 10.0, 20.0], "o": ["a", "b", "c"], "c": ["x", "y", "y"]})
    data = Microdata.of(frame).with_categories(o=["a", "b", "c"])
    released = frame.with_columns(n=pl.Series([9.0, 10.0, 20.0]), o=pl.Series(["b", "b", "c"]))
    found = risk.DistanceLinkage(attributes=["n", "o", "c"]).measure(data, released)
    # first: 0.81 + 1/4 to its own; 1 + 1/4 + 1 to the second. second: 0 to its own.
    assert found.per_unit.tolist() == [1.0, 1.0, 1.0]
    same = frame.with_columns(c=pl.lit("y"), n=pl.Series([9.0, 8.0, 20.0]), o=pl.lit("b"))
    found = risk.DistanceLinkage(attributes=["n", "o", "c"]).measure(data, same)
    # first: own 0.81 + 1/4 + 1, second 0.64 + 1/4 + 1 is nearer; second: own 0.04, first 0.01.
    assert found.per_unit.tolist() == [0.0, 0.0, 1.0]


def test_missing_values_count_the_same_for_all():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, None], "b": [1.0, 2.0, 3.0, 4.0]})
    assert risk.DistanceLinkage().measure(frame).value == 1
    blank = frame.with_columns(a=pl.lit(None, dtype=pl.Float64), b=pl.lit(None, dtype=pl.Float64))
    assert risk.DistanceLinkage().measure(frame, blank).per_unit.tolist() == [0.25] * 4


def test_mahalanobis_sees_through_correlation_and_leaves_out_what_does_not_vary():
    rng = np.random.default_rng(0)
    base = rng.normal(size=400)
    before = np.column_stack([base, base + rng.normal(0, 0.01, 400)])
    after = before + rng.normal(0, 0.3, 400)[:, None]
    plain, whitened = (
        linkage(before, after, distance=d).value for d in ("standardised", "mahalanobis")
    )
    assert whitened > 1.5 * plain
    doubled = np.column_stack([before, before.sum(axis=1)])
    again = np.column_stack([after, after.sum(axis=1)])
    found = linkage(doubled, again, distance="mahalanobis").value
    assert found == pytest.approx(whitened, abs=0.01)


def test_mahalanobis_equals_the_definition():
    rng = np.random.default_rng(1)
    before = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    after = before + rng.normal(0, 0.5, before.shape)
    inverse = np.linalg.inv(np.cov(before, rowvar=False))
    gap = before[:, None] - after[None]
    nearest = np.einsum("ijk,kl,ijl->ij", gap, inverse, gap).argmin(axis=1)
    found = linkage(before, after, distance="mahalanobis")
    np.testing.assert_array_equal(found.per_unit, nearest == np.arange(200))


def test_mahalanobis_refuses_categories_and_gaps():
    frame = pl.DataFrame({"a": [1.0, 2.0, None], "c": ["x", "y", "z"]})
    with pytest.raises(DataError, match="needs numbers"):
        risk.DistanceLinkage(attributes=["c"], distance="mahalanobis").measure(frame)
    with pytest.raises(DataError, match="complete"):
        risk.DistanceLinkage(attributes=["a"], distance="mahalanobis").measure(frame)


def test_scenarios_are_averaged():
    data = tacit.datasets.census(200)
    release = tacit.Plan([mask.UncorrelatedNoise(columns=COLUMNS, level=0.1)]).apply(data, seed=1)
    single = [
        risk.DistanceLinkage(attributes=COLUMNS[: n + 1]).measure(data, release) for n in range(4)
    ]
    growing = risk.DistanceLinkage(attributes=COLUMNS, growing=True).measure(data, release)
    assert growing.value == pytest.approx(np.mean([m.value for m in single]))
    assert [s["linked"] for s in growing.details["scenarios"]] == [m.value for m in single]
    given_ = risk.DistanceLinkage(scenarios=[["age"], ["age", "hours"]]).measure(data, release)
    assert given_.value == pytest.approx((single[0].value + single[1].value) / 2)
    with pytest.raises(ParameterError, match="leave out"):
        risk.DistanceLinkage(scenarios=[["age"]], attributes=["age"]).measure(data, release)


def test_a_recoded_number_is_linked_by_its_category():
    data = tacit.datasets.census(200)
    release = tacit.Plan([mask.Recode(column="age", width=10)]).apply(data, seed=1)
    found = risk.DistanceLinkage(attributes=["age", "income"]).measure(data, release)
    assert 0.3 < found.value <= 1


def test_huge_constant_and_infinite_numbers():
    frame = pl.DataFrame({"a": [1e300, -1e300, 5.0], "b": [1.0, 1.0, 1.0]})
    assert risk.DistanceLinkage().measure(frame).value == 1
    frame = pl.DataFrame({"a": [1.0, np.inf, 5.0]})
    assert risk.DistanceLinkage().measure(frame).per_unit.tolist() == [1.0, 1 / 3, 1.0]


def test_large_files_are_left_out_of_scorecards_unless_asked_for():
    data = tacit.datasets.census(50)
    assert "50 records" in risk.DistanceLinkage(largest_file=49).objection(data)
    assert risk.DistanceLinkage(largest_file=50).objection(data) is None
    assert risk.DistanceLinkage().objection(Microdata.of(pl.DataFrame({"c": ["x"]})))
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    assert "distance-linkage" in release.measure()


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("grain", [0, 3])
def test_a_graphics_processor_finds_the_same_links(monkeypatch, missing, grain):
    monkeypatch.setitem(sys.modules, "cupy", numpy_device)
    rng = np.random.default_rng(3)
    before = rng.standard_normal((300, 3)).round(grain)
    after = (before + rng.normal(0, 0.2, before.shape)).round(grain)
    for side in (before, after):
        side[rng.random(side.shape) < missing] = np.nan
    frames = [pl.DataFrame(x, schema=["a", "b", "c"], nan_to_null=True) for x in (before, after)]
    frames = [f.with_columns(d=pl.Series(["u", "v", "w"] * 100)) for f in frames]
    names = ["d", "a", "b", "c"]
    found = [
        risk.DistanceLinkage(attributes=names, device=device).measure(*frames)
        for device in ("cpu", "gpu")
    ]
    assert np.array_equal(found[0].per_unit, found[1].per_unit)
    assert 0 < found[0].value < 1

"""Probabilistic record linkage: the model by its definition, and its limits."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, mask, risk
from tacit.core.errors import DataError, ParameterError

KEYS = ["region", "sex", "age", "education", "marital"]


def by_definition(before, after, tolerance, m=None):
    """Weights of all pairs from agreement counted one by one; NaN is missing."""
    n, fields = before.shape
    weights, used = np.zeros((n, len(after))), {}
    for c in range(fields):
        gap = np.abs(before[:, None, c] - after[None, :, c])
        present = ~np.isnan(gap)
        agree = present & (gap <= tolerance[c])
        true = np.arange(n), np.arange(n)
        u = (agree.sum() + 0.5) / (present.sum() + 1)
        own = (agree[true].sum() + 0.5) / (present[true].sum() + 1) if m is None else m[c]
        used[c] = (own, u)
        weight = np.where(agree, np.log(own / u), np.log((1 - own) / (1 - u)))
        weights += np.where(present, weight, 0)
    best = weights >= weights.max(axis=1, keepdims=True) - 1e-9
    return np.diag(best) / best.sum(axis=1), used


@st.composite
def files(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, fields = draw(st.integers(1, 60)), draw(st.integers(1, 5))
    before = rng.integers(0, 4, (n, fields)).astype(float)
    after = np.where(rng.random(before.shape) < 0.3, rng.permuted(before, axis=0), before)
    gaps = draw(st.sampled_from([0.0, 0.2]))
    for side in (before, after):
        side[rng.random(side.shape) < gaps] = np.nan
    return before, after


def measured(before, after, **options):
    names = [f"x{c}" for c in range(before.shape[1])]
    frames = [
        Microdata.of(pl.DataFrame(x, schema=dict.fromkeys(names, pl.Float64)))
        for x in (before, after)
    ]
    measure = risk.ProbabilisticLinkage(attributes=names, **options)
    return measure.measure(frames[0], frames[1].numbered())


@given(files(), st.sampled_from([0.0, 1.0]))
def test_equal_to_the_definition(both, tolerance):
    before, after = both
    names = [f"x{c}" for c in range(before.shape[1])]
    found = measured(before, after, tolerances=dict.fromkeys(names, tolerance))
    expected, used = by_definition(before, after, [tolerance] * len(names))
    for c, name in enumerate(names):
        assert found.details["agreement"][name]["m"] == pytest.approx(used[c][0])
        assert found.details["agreement"][name]["u"] == pytest.approx(used[c][1])
    np.testing.assert_allclose(found.per_unit, expected)


def test_fitted_agreement_is_used_for_the_links():
    rng = np.random.default_rng(1)
    before = rng.integers(0, 5, (300, 4)).astype(float)
    after = np.where(rng.random(before.shape) < 0.2, rng.integers(0, 5, before.shape), before)
    after[:5, 0] = np.nan
    found = measured(before, after, estimation="em", tolerance=0)
    m = [found.details["agreement"][f"x{c}"]["m"] for c in range(4)]
    np.testing.assert_allclose(found.per_unit, by_definition(before, after, [0] * 4, m)[0])
    assert found.details["prevalence"] == pytest.approx(1 / 300)


def test_fixed_prevalence_finds_the_true_pairs():
    """With enough fields the fitted chances are near those counted over the true pairs."""
    rng = np.random.default_rng(2)
    before = rng.integers(0, 12, (1500, 8)).astype(float)
    after = np.where(rng.random(before.shape) < 0.2, rng.integers(0, 12, before.shape), before)
    known, fitted = (measured(before, after, tolerance=0, estimation=e) for e in ("known", "em"))
    for name, numbers in known.details["agreement"].items():
        assert fitted.details["agreement"][name]["m"] == pytest.approx(numbers["m"], abs=0.03)
    assert fitted.value == pytest.approx(known.value, abs=0.01)
    assert known.value > 0.9


def test_identity_links_everybody_and_a_constant_nobody():
    data = tacit.datasets.census(300)
    keys = [*KEYS, "income"]
    distinct = data.take(np.flatnonzero(risk.SampleUniques(keys=keys).measure(data).per_unit))
    measure = risk.ProbabilisticLinkage(attributes=keys, tolerance=0)
    assert measure.measure(distinct).value == 1
    flat = tacit.Plan([mask.Sample(fraction=1.0)]).apply(distinct, seed=1).data
    columns = {c: flat.local[c].gather([0] * len(flat)).alias(c) for c in keys}
    constant = flat.with_local(flat.local.with_columns(**columns))
    found = measure.measure(distinct, constant)
    assert found.value == pytest.approx(1 / len(distinct))


def test_a_file_released_as_it_is_confuses_only_people_who_are_alike():
    rng = np.random.default_rng(8)
    pay = np.round(rng.normal(size=400), 1)
    data = Microdata.of(pl.DataFrame({"pay": pay, "sex": rng.choice(["f", "m"], 400)}))
    found = risk.ProbabilisticLinkage(attributes=["pay", "sex"]).measure(data)
    sizes = data.frame.select(pl.len().over("pay", "sex"))["len"].to_numpy()
    np.testing.assert_allclose(found.per_unit, 1 / sizes)


def test_slight_masking_hardly_helps():
    """A tolerance of 0.1 deviations would confuse neighbours that noise of 0.001 does not."""
    rng = np.random.default_rng(9)
    before = rng.normal(size=(500, 2))
    noise = rng.normal(size=before.shape)
    values = [measured(before, before + level * noise).value for level in (0, 1e-4, 1e-2, 1)]
    assert values[0] == 1
    assert values[1] > 0.9
    assert all(a >= b for a, b in pairwise(values)), values
    fixed = measured(before, before + 1e-4 * noise, tolerance=0.1).value
    assert fixed < values[1]


def test_falls_on_average_as_masking_grows():
    data = tacit.datasets.census(300, seed=3)
    columns = ["region", "education", "marital"]
    measure = risk.ProbabilisticLinkage()
    values = [
        np.mean(
            [
                measure.measure(
                    data, tacit.Plan([mask.Pram(columns=columns, stay=stay)]).apply(data, seed=s)
                ).value
                for s in range(4)
            ]
        )
        for stay in (0.95, 0.7, 0.3)
    ]
    assert all(a > b for a, b in pairwise(values)), values


def test_recoded_and_removed_keys():
    data = tacit.datasets.census(300)
    plan = tacit.Plan([mask.Recode(column="region", level=1), mask.Recode(column="age", width=10)])
    found = risk.ProbabilisticLinkage().measure(data, plan.apply(data, seed=1))
    assert 0 < found.value < risk.ProbabilisticLinkage().measure(data).value
    assert found.details["agreement"]["region"]["m"] > 0.99, "the intruder knows the recoding"
    gone = risk.ProbabilisticLinkage().measure(data, data.drop(["region"]).numbered())
    assert gone.details["attributes"] == [k for k in KEYS if k != "region"]
    assert "region" in gone.warnings[0]


def test_quantile_groups_in_place_of_a_tolerance():
    data = tacit.datasets.census(300)
    release = tacit.Plan([mask.UncorrelatedNoise(columns=["income", "age"], level=0.1)]).apply(
        data, seed=1
    )
    found = risk.ProbabilisticLinkage(attributes=["income", "age", "sex"], bins=8)
    result = found.measure(data, release)
    assert 0 < result.value < 0.5
    assert result.details["agreement"]["age"]["u"] == pytest.approx(1 / 8, abs=0.03)


def test_bad_input():
    data = tacit.datasets.census(30)
    with pytest.raises(ParameterError, match=r"'ages'.*did you mean 'age'"):
        risk.ProbabilisticLinkage(tolerances={"ages": 1}).measure(data)
    with pytest.raises(ParameterError, match="bins"):
        risk.ProbabilisticLinkage(bins=1)
    bare = Microdata.of(data.frame)
    assert risk.ProbabilisticLinkage().objection(bare)
    with pytest.raises(DataError, match="nothing an intruder"):
        risk.ProbabilisticLinkage().measure(bare)
    with pytest.raises(DataError, match="none of the keys"):
        risk.ProbabilisticLinkage().measure(data, data.drop(KEYS).numbered())
    assert risk.ProbabilisticLinkage(largest_file=29).objection(data)


def test_too_many_patterns_are_refused_for_fitting_only():
    rng = np.random.default_rng(0)
    names = [f"x{c}" for c in range(20)]
    frame = pl.DataFrame(rng.integers(0, 3, (50, 20)).astype(float), schema=names)
    with pytest.raises(DataError, match="too many patterns"):
        risk.ProbabilisticLinkage(attributes=names, estimation="em").measure(frame)
    assert risk.ProbabilisticLinkage(attributes=names).measure(frame).value == 1

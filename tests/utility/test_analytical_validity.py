"""Winkler's checklist."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.utility.analytical_validity import _ks_distance


def test_identity_passes_everything():
    data = tacit.datasets.census(400, missing=0.05)
    found = utility.AnalyticalValidity().measure(data, data)
    assert found.value == 1.0
    assert found.details["worst"] == []
    assert len(found.details["valid_attributes"]) >= 6


def test_each_group_of_checks_can_fail_alone():
    n = 400
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=n), np.repeat(["a", "b"], n // 2)
    before = pl.DataFrame({"x": x, "y": rng.normal(size=n), "g": g})
    measure = utility.AnalyticalValidity(columns=["x", "y", "g"], by=["g"])

    def failed(after):
        groups = measure.measure(before, after).details["passed_of"]
        return {name for name, (passed, total) in groups.items() if passed < total} - {"interest"}

    assert failed(before) == set()
    order = np.concatenate([np.arange(n // 2, n), np.arange(n // 2)])
    swapped = before.with_columns(x=pl.Series(np.where(g == "a", x + 0.3, x - 0.3)))
    assert failed(swapped) >= {"means"}
    two_points = np.sign(x - np.median(x)) * x.std() + x.mean()
    assert failed(before.with_columns(x=pl.Series(two_points))) == {"distributions"}
    assert failed(before.with_columns(g=pl.Series(np.where(np.arange(n) < 60, "b", g)))) >= {
        "margins"
    }
    assert failed(before[order]) == set()


def test_ks_distance_is_that_of_scipy():
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=80), rng.normal(0.4, size=60).round(1)
    assert _ks_distance(a, np.ones(80), b, np.ones(60)) == pytest.approx(ks_2samp(a, b).statistic)


def test_six_attributes_must_remain():
    data = tacit.datasets.census(500)
    columns = ["age", "hours", "income", "taxes", "sex", "marital", "education"]
    found = utility.AnalyticalValidity(columns=columns).measure(
        data, data.drop(["sex", "marital", "education"])
    )
    interest = next(c for c in found.details["checks"] if c["group"] == "interest")
    assert not interest["passed"]
    assert len(found.details["valid_attributes"]) == 4
    assert any("sex, not comparable" in c["what"] for c in found.details["checks"])


def test_a_constant_release_fails_nearly_everything():
    data = tacit.datasets.census(500)
    columns = ["age", "hours", "income"]
    flat = data.with_arrays({c: np.full(500, -1e7) for c in columns})
    found = utility.AnalyticalValidity(columns=columns).measure(data, flat)
    assert found.value < 0.2


def test_more_noise_passes_fewer_checks():
    data = tacit.datasets.census(1000)
    values = [
        utility.AnalyticalValidity()
        .measure(
            data,
            tacit.Plan(
                [mask.UncorrelatedNoise(columns=["income", "age", "hours"], level=level)]
            ).apply(data, seed=1),
        )
        .value
        for level in (0.01, 0.5, 5.0)
    ]
    assert values[0] > values[1] > values[2]


def test_tolerances_decide():
    data = tacit.datasets.census(500)
    plan = tacit.Plan([mask.UncorrelatedNoise(columns=["income", "age"], level=0.5)])
    release = plan.apply(data, seed=1)
    strict = utility.AnalyticalValidity(tolerance=0.01, shift=0.01).measure(data, release).value
    loose = utility.AnalyticalValidity(tolerance=10.0, shift=1.0).measure(data, release).value
    assert strict < loose == 1.0


def test_a_recoded_column_fails_once():
    data = tacit.datasets.census(800)
    release = tacit.Plan([mask.Recode(column="region", level=1)]).apply(data, seed=1)
    found = utility.AnalyticalValidity().measure(data, release)
    failed = [c["what"] for c in found.details["checks"] if not c["passed"]]
    assert failed == ["region, not comparable in the release"]

"""Noise sticks to units, is unbiased and bounded."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import ParameterError
from tacit.query import CellKeyNoise

TABLE = {"method": "crosstab", "by": ["region", "sex"], "totals": ["income"]}


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(2)
    n = 30_000
    return pl.DataFrame(
        {"id": np.arange(n), "group": [f"g{g:04}" for g in rng.integers(0, 1000, n)],
         "y": rng.exponential(100, n), "w": 1.0}
    )  # fmt: skip


def test_mean_variance_and_bound(serve, groups):
    request = {"method": "crosstab", "by": ["group"], "totals": ["y"]}
    noisy = serve(groups, CellKeyNoise(max_change=5, variance=3.0)).ask(request).frame
    true = serve(groups).ask(request).frame
    change = (noisy["count"] - true["count"]).to_numpy()
    assert np.abs(change).max() <= 5
    assert abs(change.mean()) < 0.2
    assert change.var() == pytest.approx(3.0, rel=0.15)
    largest = groups.group_by("group").agg(pl.col("y").max()).sort("group")["y"].to_numpy()
    scaled = (noisy["total y"] - true["total y"]).to_numpy() / largest
    assert abs(scaled.mean()) < 0.12
    assert scaled.std() == pytest.approx(1.0, rel=0.12)


def test_the_same_cell_has_the_same_value_in_every_table(serve, people, count):
    server = serve(people, CellKeyNoise())
    one = count(server.ask({"method": "crosstab", "by": ["region", "sex"]}), region="N", sex="f")
    two = count(
        server.ask({"method": "crosstab", "by": ["sex"], "universe": {"region": "N"}}), sex="f"
    )
    assert one == two


def test_counts_of_one_and_two_are_never_released(serve, people):
    frame = people.with_columns(region=pl.Series([f"g{v // 2:03}" for v in range(2000)]))
    counts = (
        serve(frame, CellKeyNoise()).ask({"method": "crosstab", "by": ["region"]}).columns["count"]
    )
    assert not {1, 2} & set(counts)


def test_weighted_counts_are_changed_before_weighting(serve, people):
    request = {"method": "crosstab", "by": ["sex"], "weighted": True}
    noisy, true = (serve(people, *g).ask(request).frame["count"] for g in ((CellKeyNoise(),), ()))
    mean = people["w"].mean()
    assert (noisy - true).abs().max() <= 8.5 * mean
    assert true.sum() == pytest.approx(people["w"].sum(), abs=1)


def test_an_impossible_noise_is_refused_at_once():
    with pytest.raises(ParameterError, match="choose a variance"):
        CellKeyNoise(max_change=3, variance=20.0)

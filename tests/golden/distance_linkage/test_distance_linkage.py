"""Distance-based linkage by hand and on the Census file; see source.md."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk


def test_by_hand():
    before = pl.DataFrame({"x": [0.0, 10.0, 20.0, 30.0, 40.0]})
    after = pl.DataFrame({"x": [4.0, 4.0, 26.0, 33.0, 33.0]})
    found = risk.DistanceLinkage().measure(before, after)
    assert found.per_unit.tolist() == [0.5, 0.5, 1.0, 0.5, 0.5]
    assert found.text == "60 %"


@pytest.mark.parametrize("method", ["rank-swap", "partitioned-mdav"])
def test_census_equals_all_distances(shared_data, method):
    data = tacit.read(shared_data / "casc" / "CASCrefmicrodata.csv")
    columns = data.columns
    step = (
        mask.RankSwap(columns=columns, p=15)
        if method == "rank-swap"
        else mask.PartitionedMdav(columns=columns, k=3, variables_per_group=3)
    )
    release = tacit.Plan([step]).apply(data, seed=1)
    found = risk.DistanceLinkage(attributes=columns).measure(data, release)
    before, after = data.numeric(columns), release.data.numeric(columns)
    unit = before.std(axis=0, ddof=1)
    distances = (((before[:, None] - after[None]) / unit) ** 2).sum(axis=2)
    best = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9)
    np.testing.assert_allclose(found.per_unit, np.diag(best) / best.sum(axis=1))

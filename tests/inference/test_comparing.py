"""Original and release side by side."""

import numpy as np
import pytest

import tacit
from tacit import inference, mask


def test_a_release_of_good_models_agrees_and_one_of_none_does_not():
    data = tacit.datasets.census(3000).drop(["household", "weight"])
    model = inference.Regression("income", ["hours", "age"])
    good, bad = (
        inference.compare(tacit.Plan([mask.Synthesise(method=m)]).apply(data, seed=1), model)
        for m in ("cart", "sample")
    )
    assert good.overlap > bad.overlap
    assert np.abs(good.standardised[1]) < np.abs(bad.standardised[1])
    assert good.frame["difference"].to_list() == pytest.approx(
        (good.release.estimates - good.original.values).tolist()
    )

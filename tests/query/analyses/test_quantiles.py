"""Quantiles are near the true ones and never reach an extreme."""

import numpy as np
import pytest


def test_near_the_truth(serve, people):
    request = {"method": "quantiles", "number": "income", "probabilities": [0.25, 0.5, 0.75]}
    for policy in ("strict", None):
        found = serve(people, policy=policy).ask(request).columns["income"]
        assert found == pytest.approx(np.quantile(people["income"], [0.25, 0.5, 0.75]), rel=0.05)


def test_outer_bins_are_withheld(serve, people):
    request = {"method": "quantiles", "number": "income", "probabilities": [0.05, 0.95]}
    found = serve(people).ask(request).columns["income"]
    assert found == [None, None]


@pytest.mark.parametrize("p", [0, 1, 0.01, 0.999, -1, 2])
def test_extremes_are_refused(serve, people, p):
    request = {"method": "quantiles", "number": "income", "probabilities": [p]}
    assert serve(people).ask(request).rule == "request"

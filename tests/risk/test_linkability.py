"""Linkability: by hand, and against files of other people."""

import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import ParameterError


def test_by_hand():
    original = pl.DataFrame({"a": ["p", "q", "r"], "b": [0.0, 5.0, 10.0]})
    release = pl.DataFrame({"a": ["p", "q", "q"], "b": [0.0, 10.0, 5.0]})
    measure = risk.Linkability(first=["a"], second=["b"])
    # p: record 0 by both. q: records 1 and 2 by a, record 2 by b. r: any by a, record 1 by b.
    assert measure.measure(original, release).value == pytest.approx(1.0)
    apart = pl.DataFrame({"a": ["p", "q"], "b": [10.0, 0.0]})
    # p: record 0 by a, 1 by b. q: 1 by a; 5 lies between both, so 1. r: both by a, 0 by b.
    assert measure.measure(original, apart).value == pytest.approx(2 / 3)


def test_a_masked_file_links_more_than_a_synthetic_one():
    data = tacit.datasets.census(1200).drop(["household"])
    measure = risk.Linkability(attacks=200)
    made = tacit.Plan([mask.Synthesise()]).apply(data, seed=1)
    masked = tacit.Plan([mask.Round(columns=["income"], base=1000)]).apply(data, seed=1)
    assert measure.measure(data, made).value < measure.measure(data, masked).value / 2


def test_sets_that_overlap_are_refused():
    frame = pl.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(ParameterError, match="one set only"):
        risk.Linkability(first=["a"], second=["a"]).measure(frame, frame)
    with pytest.raises(ParameterError, match="both sets"):
        risk.Linkability(first=["a"]).measure(frame, frame)

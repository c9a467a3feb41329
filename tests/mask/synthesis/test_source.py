"""A file as a synthesiser sees it."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.errors import ParameterError
from tacit.mask.synthesis.source import Source


def test_units_are_put_together_and_drawn_records_are_nobodys():
    frame = pl.DataFrame({"h": [2, 1, 2], "x": [1.0, 2.0, 3.0]})
    data = tacit.Microdata.of(frame).with_roles(household="h").numbered()
    source = Source.of(data, by="a test")
    assert source.units.sizes.tolist() == [1, 2]
    made = source.finished(pl.DataFrame({"x": [7.0]}), np.array([0]))
    assert made.rows.tolist() == [-1]
    assert made.frame.columns == ["h", "x"]


def test_order_needs_units():
    with pytest.raises(ParameterError, match="belong together"):
        Source.of(tacit.Microdata.of(pl.DataFrame({"x": [1]})), "x", by="a test")

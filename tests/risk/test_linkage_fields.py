"""Attributes of both files on a common scale."""

import numpy as np
import polars as pl
import pytest

from tacit import Microdata
from tacit.core.errors import DataError
from tacit.core.pairing import Pair, pair
from tacit.risk._linkage_fields import category_codes, linkage_fields


def test_scales_of_kinds():
    frame = pl.DataFrame({"n": [1, 2, None], "o": ["low", "high", "low"], "c": ["x", None, "y"]})
    data = Microdata.of(frame).with_categories(o=["low", "mid", "high"])
    numeric, ordinal, nominal = linkage_fields(pair(data), ["n", "o", "c"])
    assert (numeric.scale, ordinal.scale, nominal.scale) == ("numeric", "ordinal", "nominal")
    np.testing.assert_array_equal(numeric.external, [1, 2, np.nan])
    np.testing.assert_array_equal(ordinal.external, [0, 2, 0])
    assert ordinal.n_categories == 3
    np.testing.assert_array_equal(np.isnan(nominal.released), [False, True, False])


def test_recoded_labels_are_translated_and_foreign_ones_refused():
    before = pl.DataFrame({"c": ["a1", "a2", "b1", "b2"]})
    recoded = pair(before, pl.DataFrame({"c": ["A", "A", "B", "B"]}))
    external, released = category_codes(recoded, "c")
    assert np.array_equal(external, released)
    foreign = pair(before, pl.DataFrame({"c": ["P", "Q", "P", "Q"]}))
    assert np.array_equal(*category_codes(foreign, "c")), "a function of the original labels"
    before = pl.DataFrame({"c": ["a", "a", "b", "b"]})
    with pytest.raises(DataError, match="nothing in common"):
        category_codes(pair(before, pl.DataFrame({"c": ["P", "Q", "P", "Q"]})), "c")


def test_unpaired_labels_are_compared_as_they_are():
    before, after = pl.DataFrame({"c": ["a", "b"]}), pl.DataFrame({"c": ["b", "c", "b"]})
    both = pair(before, after)
    assert both.rows is None
    external, released = category_codes(both, "c")
    assert external[1] == released[0] == released[2]
    with pytest.raises(DataError, match="nothing in common"):
        category_codes(pair(before, pl.DataFrame({"c": ["B", "A", "B"]})), "c")


def test_what_the_intruder_does_not_know_is_missing():
    data = Microdata.of(pl.DataFrame({"n": [1.0, 2.0]})).with_knowledge(some={"n": [True, False]})
    both = pair(data)
    assert isinstance(both, Pair)
    np.testing.assert_array_equal(linkage_fields(both, ["n"])[0].external, [1, np.nan])
    np.testing.assert_array_equal(linkage_fields(both, ["n"])[0].released, [1, 2])

"""The keys of a release, as the counting measures see them."""

import polars as pl
import pytest

from tacit import Microdata
from tacit.core.errors import DataError
from tacit.risk._released_keys import objection_without_keys, released_keys


def test_keys_of_the_original_that_the_release_still_has():
    frame = pl.DataFrame({"a": ["x", "y"], "b": [2, 1], "w": [1.5, 2.5]})
    data = Microdata.of(frame).with_roles(keys=["a", "b"], weight="w")
    alone = released_keys(data, None, None, by="test")
    assert alone.names == ["a", "b"]
    assert alone.codes.tolist() == [[0, 1], [1, 0]]
    assert alone.weights.tolist() == [1.5, 2.5]
    assert alone.n_records == 2
    after = released_keys(data, frame.drop("a", "w"), None, by="test")
    assert (after.names, after.removed, after.weights) == (["b"], ["a"], None)
    assert after.warnings == ("Not in the release, so that nobody can match on them: a.",)


def test_objections():
    plain = Microdata.of(pl.DataFrame({"a": [1]}))
    assert objection_without_keys(plain, None)
    assert objection_without_keys(plain, ["a"]) is None
    with pytest.raises(DataError, match="test: no column has the role of a key"):
        released_keys(plain, None, None, by="test")

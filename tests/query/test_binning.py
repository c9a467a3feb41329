import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import query
from tacit.core.errors import DataError, ParameterError
from tacit.query import Cutpoints

DATA = [1, 1, 2, 2, 4, 4, 5, 6]
METHODS = ["fixed", "minimum", "increasing", "partitioned"]


@pytest.mark.parametrize(
    ("method", "bins"),
    [
        ("fixed", [(1, 2), (3, 4), (5, 6)]),
        ("minimum", [(1, 1), (2, 2), (4, 4), (5, 6)]),
        ("increasing", [(1, 2), (3, 6)]),
        ("partitioned", [(1, 1), (2, 2), (4, 4), (5, 6)]),
    ],
)
def test_bins_are_those_of_table_3(method, bins):
    """Lucero et al. (2011), Table 3: at least two per bin."""
    assert query.cutpoints(DATA, method=method, minimum=2) == bins


def test_nodes_of_the_tree_may_be_used_too():
    """Figure 4: the whole, its halves, and their halves."""
    assert set(Cutpoints.of(DATA, method="partitioned", minimum=2).nodes) == {
        (1, 6), (1, 2), (4, 6),
    }  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.integers(-50, 50), st.floats(-1e3, 1e3)), min_size=1, max_size=80),
    st.sampled_from(METHODS),
    st.integers(1, 9),
)
def test_every_bin_holds_enough_and_ties_stay_together(values, method, minimum):
    values = np.asarray(values, dtype=float)
    if len(values) < minimum:
        with pytest.raises(DataError, match="fewer units"):
            Cutpoints.of(values, method=method, minimum=minimum)
        return
    made = Cutpoints.of(values, method=method, minimum=minimum)
    codes = made.code(values)
    held = np.bincount(codes, minlength=len(made.bins))
    assert held.sum() == len(values)
    assert held.min() >= minimum
    for value in np.unique(values):
        assert len(set(codes[values == value])) == 1
    for (low, high), code in zip(made.bins, range(len(made.bins)), strict=True):
        inside = values[codes == code]
        assert low <= inside.min() + 1e-9
        assert inside.max() <= high + 1e-9


def test_counts_from_an_engine_give_the_same_bins():
    distinct, counts = np.unique(DATA, return_counts=True)
    shuffled = [3, 0, 4, 1, 2]
    for method in METHODS:
        assert Cutpoints.from_counts(
            distinct[shuffled], counts[shuffled], method=method, minimum=2
        ) == Cutpoints.of(DATA, method=method, minimum=2)


def test_missing_values_have_no_bin():
    made = Cutpoints.of([1, 2, np.nan, 3, 4], method="minimum", minimum=2)
    assert made.code([np.nan, 1, 4]).tolist() == [-1, 0, 1]


def test_bins_survive_being_stored():
    made = Cutpoints.of(DATA, method="partitioned", minimum=2)
    assert Cutpoints(**made.as_dict()) == made


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="known: fixed"):
        query.cutpoints(DATA, method="widest")
    with pytest.raises(ParameterError, match="at least one"):
        query.cutpoints(DATA, minimum=0)
    with pytest.raises(DataError, match="finite"):
        query.cutpoints([1, 2, np.inf])
    with pytest.raises(DataError, match="fewer units"):
        query.cutpoints([])
    with pytest.raises(ParameterError, match="without overlap"):
        Cutpoints(method="fixed", bins=((3, 4), (1, 2)))

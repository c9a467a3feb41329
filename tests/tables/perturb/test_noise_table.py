import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import tables
from tacit.core.errors import DataError, ParameterError
from tacit.tables.perturb.noise_table import NoiseTable

MATRIX = tables.transition_matrix(3, 2.002, no_small_cells=True)
NOISE = NoiseTable.of_matrix(MATRIX)


def test_a_table_holds_its_matrix():
    frame = NOISE.frame
    found = np.zeros(MATRIX.shape)
    found[frame["i"].cast(int), frame["j"].cast(int)] = frame["p"]
    np.testing.assert_allclose(found, MATRIX, atol=1e-12)
    assert NOISE.max_change == 3
    assert NOISE.variance == pytest.approx(2.002)


def test_keys_over_the_whole_range_give_the_design(tmp_path):
    """Every key once: the shares are those of the matrix to the last key."""
    modulus = 10_000
    keys = np.arange(modulus)
    for count in (0, 1, 2, 3, 6, 50):
        change = NOISE.changes(np.full(modulus, count), keys, modulus=modulus)
        row = MATRIX[min(count, 6)]
        start = min(count, 6)
        for new in np.flatnonzero(row):
            share = np.mean(change == new - start)
            assert share == pytest.approx(row[new], abs=1.5 / modulus)


@settings(max_examples=50)
@given(st.integers(0, 10**9), st.integers(0, 2**31 - 2))
def test_no_count_becomes_negative_small_or_far(count, key):
    new = count + NOISE.changes(np.array([count]), np.array([key]), modulus=2**31 - 1)[0]
    assert new >= 0
    assert new not in (1, 2)
    assert abs(new - count) <= 3
    assert count > 0 or new == 0


def test_larger_counts_go_through_the_last_rows_in_turn():
    noise = NoiseTable(start=(0, 1, 2, 3), change=(0, 1, 0, -1), upper=(1, 1, 1, 1), period=3)
    counts = np.arange(10)
    assert noise.changes(counts, np.zeros(10, int), modulus=7).tolist() == [0, 1, 0, -1, 1, 0, -1, 1, 0, -1]  # noqa: E501  # fmt: skip
    low, high = noise.reach(np.array([2, 5, 8, 302]))
    assert low.tolist() == high.tolist() or (low <= high).all()
    assert (low[1], high[1]) == (4, 6)
    assert (low[3], high[3]) == (301, 303)


def test_reach_is_what_can_have_become_a_count():
    published = np.array([0, 3, 4, 9, 1000])
    low, high = NOISE.reach(published)
    for y, a, b in zip(published, low, high, strict=True):
        sources = [i for i in range(2000) if _possible(i, y)]
        assert (a, b) == (min(sources), max(sources))


def _possible(count, new):
    row = min(count, len(MATRIX) - 1)
    at = new - count + row
    return 0 <= at < MATRIX.shape[1] and MATRIX[row, at] > 0


@settings(max_examples=50)
@given(st.floats(0, 1e6), st.integers(0, 2**31 - 2))
def test_between_rows_nothing_falls_below_zero(size, key):
    noise = tables.magnitude_noise()
    change = noise.between_rows(np.array([size]), np.array([key]), modulus=2**31 - 1)[0]
    assert min(size, 5.0) + change >= -1e-9
    assert abs(change) <= 5


def test_noise_between_rows_has_mean_zero():
    noise = tables.magnitude_noise(4, 1.0, step=0.25)
    keys = np.arange(0, 10_000)
    for size in (0.3, 1.0, 2.7, 100.0):
        drawn = noise.between_rows(np.full(len(keys), size), keys, modulus=10_000)
        assert drawn.mean() == pytest.approx(0.0, abs=2e-3)
    assert drawn.var() == pytest.approx(1.0, abs=5e-3)


def test_a_table_travels_as_plain_data_and_as_a_file(tmp_path):
    assert NoiseTable(**NOISE.as_dict()) == NOISE
    path = NOISE.write_csv(tmp_path / "noise.csv")
    assert path.read_text().splitlines()[0] == "i;j;p;v;p_int_ub"
    again = tables.read_noise_table(path)
    assert again.start == NOISE.start
    np.testing.assert_allclose(again.upper, NOISE.upper, atol=1e-12)


def test_a_picture_is_a_png(tmp_path):
    path = NOISE.save_png(tmp_path / "noise.png")
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert len(NOISE.chart().to_dict()["layer"]) == 2


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"start": (1,), "change": (-2,), "upper": (1,)}, "negative"),
        ({"start": (0,), "change": (2,), "upper": (1,)}, "zero must stay zero"),
        ({"start": (1, 1), "change": (0, 1), "upper": (0.5, 0.9)}, "rise to 1"),
        ({"start": (1, 1), "change": (0, 1), "upper": (0.9, 0.5)}, "rise to 1"),
        ({"start": (2, 1), "change": (0, 0), "upper": (1, 1)}, "sorted"),
        ({"start": (1,), "change": (0, 0), "upper": (1,)}, "every entry"),
        ({"start": (), "change": (), "upper": ()}, "every entry"),
        ({"start": (0,), "change": (0,), "upper": (1,), "period": 2}, "number of rows"),
    ],
)
def test_tables_that_are_none_are_refused(fields, says):
    with pytest.raises(ParameterError, match=says):
        NoiseTable(**fields)


def test_bad_use_is_refused():
    with pytest.raises(ParameterError, match="below their modulus"):
        NOISE.changes(np.array([1]), np.array([9]), modulus=9)
    gap = NoiseTable(start=(0, 2), change=(0, 0), upper=(1, 1))
    with pytest.raises(DataError, match="no row for a count"):
        gap.changes(np.array([1]), np.array([0]), modulus=9)
    with pytest.raises(ParameterError, match="sum to 1"):
        NoiseTable.of_matrix(np.ones((2, 2)))
    with pytest.raises(ParameterError, match="largest change of at least 1"):
        tables.magnitude_noise(0)

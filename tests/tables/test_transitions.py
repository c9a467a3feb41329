from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import ParameterError
from tacit.tables.transitions import eliminate_small, invariant_matrix, transition_matrix


def _moments(matrix):
    change = np.arange(matrix.shape[1]) - np.arange(matrix.shape[0])[:, None]
    return matrix.sum(axis=1), (matrix * change).sum(axis=1), (matrix * change**2).sum(axis=1)


# Giessing and Höhne (2011), Table 1, D = 3: new counts 0, 3, 4, 5, ... of counts 1 to 6.
TABLE_1_D3 = [
    [0.667, 0.332, 0.001, 0, 0, 0, 0, 0],
    [0.334, 0.666, 0, 0, 0, 0, 0, 0],
    [0.125, 0.687, 0.063, 0.063, 0.063, 0, 0, 0],
    [0, 0.601, 0.099, 0.100, 0.100, 0.100, 0, 0],
    [0, 0.167, 0.167, 0.416, 0.083, 0.083, 0.083, 0],
    [0, 0.072, 0.072, 0.072, 0.571, 0.072, 0.072, 0.072],
]


def test_noise_of_three_is_that_of_the_paper():
    matrix = transition_matrix(3, 2.002, no_small_cells=True)
    published = [0, *range(3, 10)]
    np.testing.assert_allclose(matrix[1:][:, published], TABLE_1_D3, atol=0.0011)


@pytest.mark.parametrize("largest", [4, 5])
def test_wider_noise_keeps_seventy_percent_where_there_is_room(largest):
    matrix = transition_matrix(largest, 2.002, no_small_cells=True)
    assert matrix[-1, largest + 3] == pytest.approx(0.7)
    # Where the equations fix the row, the paper's Table 1 is met: D = 4, counts 5 and 6.
    if largest == 4:
        np.testing.assert_allclose(matrix[5, 3:10], [0.143] * 2 + [0.542] + [0.043] * 4, atol=6e-4)
        np.testing.assert_allclose(matrix[6, 3:7], [0.063] * 3 + [0.662], atol=6e-4)


def test_variance_below_two_cannot_clear_small_cells():
    with pytest.raises(ParameterError, match=r"from 2 to 2\.571"):
        transition_matrix(3, 1.99, no_small_cells=True)
    matrix = transition_matrix(3, 2.0, no_small_cells=True)
    assert matrix[1, 4] == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 8), st.floats(2.0, 2.2), st.booleans(), st.floats(0.2, 1.0))
def test_every_row_meets_every_condition(largest, variance, no_small, centre):
    matrix = transition_matrix(largest, variance, no_small_cells=no_small, centre=centre)
    total, mean, spread = _moments(matrix)
    np.testing.assert_allclose(total, 1.0, atol=1e-9)
    np.testing.assert_allclose(mean, 0.0, atol=1e-8)
    np.testing.assert_allclose(spread[1:], variance, atol=1e-7)
    change = np.arange(matrix.shape[1]) - np.arange(matrix.shape[0])[:, None]
    assert np.all(matrix[np.abs(change) > largest] == 0)
    assert np.all((matrix >= 0) & (matrix <= 1))
    assert matrix[0, 0] == 1
    if no_small:
        assert np.all(matrix[:, [1, 2]] == 0)
    last = matrix[-1, 3:]
    np.testing.assert_allclose(last, last[::-1], atol=1e-8)


@pytest.mark.parametrize(
    ("largest", "variance", "centre"),
    [(0, 1, 0.7), (3, 0, 0.7), (3, -1, 0.7), (3, 2, 0), (3, np.nan, 0.7)],
)
def test_impossible_designs_are_named(largest, variance, centre):
    with pytest.raises(ParameterError):
        transition_matrix(largest, variance, centre=centre)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**31), st.floats(0, 1))
def test_invariant_matrices_keep_the_frequencies(size, seed, mix):
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(size), size=size)
    frequencies = rng.integers(0, 50, size).astype(float)
    result = invariant_matrix(start, frequencies, mix=mix)
    np.testing.assert_allclose(frequencies @ result, frequencies, atol=1e-9)
    np.testing.assert_allclose(result.sum(axis=1), 1.0)
    assert np.all(result >= -1e-15)


def test_a_matrix_that_is_not_one_is_refused():
    with pytest.raises(ParameterError, match="add up to 1"):
        invariant_matrix(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ParameterError, match="square"):
        invariant_matrix(np.eye(3), np.ones(2))
    with pytest.raises(ParameterError, match="mix"):
        invariant_matrix(np.eye(2), np.ones(2), mix=2.0)


def test_small_cells_go_as_in_table_3_of_the_paper():
    # Table 2: what leaves the joint class of counts 1 to 3, of 148 cells.
    frequencies = np.array([96.0, 32.0, 20.0, 16.0, 15.0])
    leaving = np.array([2.9690406, 0.4069246])
    joint = np.zeros((3, 3))
    joint[0] = [1 - leaving.sum() / 148, *leaving / 148]
    joint[1:, 0] = leaving / frequencies[3:]
    joint[1, 1], joint[2, 2] = 1 - joint[1, 0], 1 - joint[2, 0]
    matrix = eliminate_small(joint, frequencies)
    moved = np.r_[0, frequencies][:, None] * matrix
    np.testing.assert_allclose(moved[1, [0, 3]], [60.531974, 35.468026], atol=2e-6)
    np.testing.assert_allclose(moved[2, [0, 3]], [9.510658, 22.489342], atol=2e-6)
    np.testing.assert_allclose(moved[3, [0, 3, 4, 5]], [4.6240348, 12, *leaving], atol=1e-6)
    arrived = moved.sum(axis=0)
    assert arrived[0] + arrived[3] == pytest.approx(148)
    assert np.all(matrix[:, 1:3] == 0)
    assert arrived @ np.arange(6) == pytest.approx(frequencies @ np.arange(1, 6))


def test_too_few_threes_are_refused():
    joint = np.array([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ParameterError, match="too few counts of 3"):
        eliminate_small(joint, np.array([5.0, 5.0, 1.0, 4.0]))
    with pytest.raises(ParameterError, match="make up"):
        eliminate_small(np.eye(2), np.array([1.0, 0.0, 90.0, 4.0]))
    with pytest.raises(ParameterError, match="two rows fewer"):
        eliminate_small(np.eye(2), np.array([1.0, 0.0]))


def test_the_even_design_has_the_largest_entropy():
    """Any other row that meets the equations is less even."""
    matrix = transition_matrix(4, 2.5, no_small_cells=True, design="even", monotone=False)
    rng = np.random.default_rng(1)
    for count in (3, 5, 7):
        allowed = np.flatnonzero(matrix[count])
        row = matrix[count, allowed]
        change = allowed - count
        free = np.vstack([np.ones(len(row)), change, change**2])
        other = np.linalg.svd(free)[2][3:]
        for _ in range(20):
            step = rng.normal(size=len(other)) @ other
            near = row + 1e-3 * step / np.abs(step).max()
            assert _entropy(near) < _entropy(row)


def _entropy(row):
    return -(row * np.log(np.maximum(row, 1e-300))).sum()


@pytest.mark.parametrize("monotone", [True, False])
def test_monotone_rows_fall_away_from_the_count(monotone):
    matrix = transition_matrix(7, 5.0, no_small_cells=True, design="even", monotone=monotone)
    rises = [np.any(np.diff(matrix[count, count:]) > 1e-9) for count in range(3, 10)]
    first = np.diff(matrix[1, 3:9])
    assert np.any(first > 1e-9) != monotone
    assert not any(rises)


def test_an_unknown_design_is_refused():
    with pytest.raises(ParameterError, match="centred or even"):
        transition_matrix(3, 2.0, design="round")


@pytest.mark.parametrize("max_change", [3, 4, 5])
def test_the_docs_print_what_is_computed(max_change):
    """The table "ours / the paper's" of small-cells.md, every figure of ours."""
    page = Path(__file__).parents[2] / "docs" / "explanation" / "small-cells.md"
    after = page.read_text(encoding="utf-8").split(f"D = {max_change}: ", 1)[1]
    lines = [line for line in after.split("\n\n")[1].splitlines() if line.startswith("|")]
    columns = [int(word) for word in lines[0].strip("|").split("|")[1:]]
    matrix = transition_matrix(max_change, 2.002, no_small_cells=True)
    printed = 0
    for line in lines[2:]:
        count, *entries = (word.strip() for word in line.strip("|").split("|"))
        for column, entry in zip(columns, entries, strict=False):
            expected = matrix[int(count), column] if column < matrix.shape[1] else 0.0
            own = float(entry.split("/")[0]) if entry else 0.0
            assert own == pytest.approx(expected, abs=6e-4)
            printed += bool(entry)
    assert printed >= 3 * (max_change + 3)

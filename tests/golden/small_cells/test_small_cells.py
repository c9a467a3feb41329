"""The matrices of the paper, and the noise tables of the R package ptable."""

import csv
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit import tables
from tacit.tables.transitions import NoiseRules, noise_row

COLUMNS = [0, *range(3, 14)]


def printed():
    """Return GH's Table 1: for each D a matrix, counts 1 to 8 by new counts."""
    with (Path(__file__).parent / "table_1.csv").open() as handle:
        rows = list(csv.reader(handle))[1:]
    return {
        d: np.array([[float(p) for p in row[2:]] for row in rows if row[0] == str(d)])
        for d in (3, 4, 5)
    }


def ours(largest):
    matrix = tables.transition_matrix(largest, 2.002, no_small_cells=True)
    full = np.zeros((9, 14))
    for count in range(9):
        row = min(count, len(matrix) - 1)
        for j in np.flatnonzero(matrix[row]):
            full[count, j - row + count] = matrix[row, j]
    return full[1:, COLUMNS]


def test_noise_of_three_is_table_1():
    np.testing.assert_allclose(ours(3), printed()[3], atol=0.0011)


@pytest.mark.parametrize("largest", [4, 5])
def test_noise_of_four_and_five_has_the_same_centre_and_other_tails(largest):
    """The paper fits tails to a normal distribution by hand; ours have the largest entropy."""
    published, found = printed()[largest], ours(largest)
    assert np.abs(found - published).max() < 0.022
    centre = [(i, COLUMNS.index(i + 1)) for i in range(2, 8)]
    for i, j in centre:
        assert found[i, j] == pytest.approx(published[i, j], abs=0.005)
    np.testing.assert_allclose(found[:2], published[:2], atol=0.0015)


@pytest.mark.parametrize("largest", [3, 4, 5])
def test_the_printed_matrices_meet_their_own_conditions(largest):
    """A check of the transcription: rows sum to 1, mean 0, variance 2, within rounding."""
    change = np.array(COLUMNS) - np.arange(1, 9)[:, None]
    table = printed()[largest]
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=0.004)
    np.testing.assert_allclose((table * change).sum(axis=1), 0, atol=0.012)
    np.testing.assert_allclose((table * change**2).sum(axis=1), 2.0, atol=0.04)


def test_noise_tables_of_ptable_are_met_to_eight_digits(shared_data):
    folder = shared_data / "tables" / "tauargus" / "cellkey"
    even = tables.transition_matrix(7, 4.0, no_small_cells=True, design="even")
    _same(even, folder / "Frequency" / "tau_testW_ptable.txt", range(11), 1e-8)
    centred = tables.transition_matrix(5, 3.0, no_small_cells=True, centre=0.5)
    _same(centred, folder / "Magnitude" / "ptab_freq.txt", range(3, 9), 1e-6)


def _same(matrix, path, rows, tolerance):
    frame = tables.read_noise_table(path).frame
    published = np.zeros_like(matrix)
    published[frame["i"].cast(int), frame["j"].cast(int)] = frame["p"]
    np.testing.assert_allclose(matrix[list(rows)], published[list(rows)], atol=tolerance)


@pytest.mark.parametrize("name", ["ptab_savings_all.txt", "ptab_savings_smallcells.txt"])
def test_noise_for_totals_is_that_of_ptable(shared_data, name):
    path = shared_data / "tables" / "tauargus" / "cellkey" / "Magnitude" / name
    frame = tables.read_noise_table(path).frame
    for (start,), part in frame.group_by("i", maintain_order=True):
        if start == 0:
            continue
        new, share = part["j"].to_numpy(), part["p"].to_numpy()
        variance = float(share @ (new - start) ** 2)
        found = noise_row(start, new, NoiseRules(variance, None))
        np.testing.assert_allclose(found, share, atol=2e-7)


def test_record_keys_give_identical_cells_identical_noise():
    """Oracles: logically identical cells, reached by different ways of asking."""
    data = tables.with_record_keys(tacit.datasets.census(800, seed=2), "a long and secret phrase")
    women = data.local.filter(data.local["sex"] == "female")
    part = tacit.tabulate(women, "marital", keys="rk1")
    whole = tacit.tabulate(data.local, ["sex", "marital"], keys="rk1")
    method = tables.CellKey()
    for code in part.dimensions[0].codes:
        one = part.protect(method).published[part.cell(marital=code)]
        other = whole.protect(method).published[whole.cell(sex="female", marital=code)]
        assert one == other

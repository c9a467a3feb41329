"""Noise tables of other tools."""

import gzip

import numpy as np
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError


def test_a_table_of_ons_rounds_to_five_above_ten(shared_data):
    path = shared_data / "tables" / "ons" / "ptable_10_5_rule_pcv1-30.csv.gz"
    noise = tables.read_noise_table(path, period=5)
    counts = np.arange(0, 200)
    keys = np.arange(200) % 256
    new = counts + noise.changes(counts, keys, modulus=256)
    assert new[:10].tolist() == [0] * 10
    assert np.all(new[10:] % 5 == 0)
    assert np.abs(new[10:] - counts[10:]).max() <= 2
    with pytest.raises(ParameterError, match="after how many rows"):
        tables.read_noise_table(path)


def test_keys_from_0_to_255_with_their_modulus(shared_data):
    path = shared_data / "tables" / "ons" / "ptable_10_5_rule_pcv1-30.csv.gz"
    method = tables.CellKey(noise=tables.read_noise_table(path, period=5), modulus=256)
    data = tacit.datasets.census(300).local.with_row_index("k")
    data = data.with_columns(k=data["k"].cast(int) * 37 % 256)
    table = tacit.tabulate(data, ["sex", "marital"], keys="k")
    published = table.protect(method).published
    assert np.all((published == 0) | ((published >= 10) & (published % 5 == 0)))


@pytest.mark.parametrize(
    ("name", "largest", "variance"),
    [("Frequency/tau_testW_ptable.txt", 7, 4), ("Magnitude/ptab_freq.txt", 5, 3)],
)
def test_tables_of_tau_argus(shared_data, name, largest, variance):
    noise = tables.read_noise_table(shared_data / "tables" / "tauargus" / "cellkey" / name)
    assert noise.max_change == largest
    assert noise.variance == pytest.approx(variance, abs=1e-6)


def test_rows_of_one_kind(tmp_path):
    path = tmp_path / "noise.csv"
    lines = ["i;j;p;v;p_int_ub;type", "0;0;1;0;1;even", "1;2;1;1;1;even", "0;0;1;0;1;odd", "1;0;1;-1;1;odd"]  # noqa: E501  # fmt: skip
    path.write_text("\n".join(lines))
    assert tables.read_noise_table(path, kind="even").change == (0, 1)
    assert tables.read_noise_table(path, kind="odd").change == (0, -1)
    with pytest.raises(DataError, match="0 rows"):
        tables.read_noise_table(path)


def test_a_large_table_of_ons_repeats_after_250(tmp_path):
    path = tmp_path / "ons.csv.gz"
    lines = [
        f"{count},{key},{-(count % 5) if key else 0}" for count in range(1, 751) for key in (0, 1)
    ]
    path.write_bytes(gzip.compress("\n".join(["pcv,ckey,pvalue", *lines]).encode()))
    noise = tables.read_noise_table(path)
    assert noise.period == 250
    assert noise.changes(np.array([753, 1003]), np.array([1, 1]), modulus=2).tolist() == [-3, -3]


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.csv"
    with pytest.raises(DataError, match="cannot be read"):
        tables.read_noise_table(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="a noise table has the columns"):
        tables.read_noise_table(path)

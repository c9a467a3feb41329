"""MDAV against the figures of source.md."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.mask._grouped import group_means
from tacit.mask.mdav import mdav_groups

_HERE = Path(__file__).parent
with (_HERE / "losses.csv").open() as handle:
    _LOSSES = [(row["file"], int(row["k"]), float(row["loss"])) for row in csv.DictReader(handle)]


def _columns(table: pl.DataFrame, file: str) -> list[str]:
    if file != "EIA.csv":
        return table.columns
    first = table.columns.index("RESREVENUE")
    return ["UTILITYID", *table.columns[first : first + 10]]


@pytest.mark.parametrize(("file", "k", "loss"), _LOSSES)
def test_information_loss_equals_the_reference_implementation(shared_data, file, k, loss):
    table = pl.read_csv(shared_data / "casc" / file)
    values = table.select(_columns(table, file)).to_numpy().astype(float)
    groups = mdav_groups(values, k)
    standardised = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    residual = standardised - group_means(standardised, groups)
    assert 100 * np.sum(residual**2) / np.sum(standardised**2) == pytest.approx(loss, abs=5e-5)


def test_ages_of_the_ten_patients_by_hand():
    release = tacit.Plan([mask.Mdav(columns=["Age"], k=2)]).apply(tacit.datasets.patients(), seed=1)
    expected = [44.0, 44.0, 55.0, 44.5, 55.0, 50.0, 30.0, 30.0, 50.0, 44.5]
    assert release.frame["Age"].to_list() == expected

"""Local suppression against the figures of source.md."""

import csv
import importlib.util
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import tacit
from tacit import mask

_HERE = Path(__file__).parent
_KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "ageg"]
_FREE1 = ["REGION", "SEX", "AGE", "MARSTAT", "ETNI"]


def _cases():
    with (_HERE / "peers.csv").open() as handle:
        for row in csv.DictReader(handle):
            large = row["file"] == "cat_500000"
            values = (row["file"], *(int(row[c]) for c in list(row)[1:]))
            yield pytest.param(*values, marks=[pytest.mark.slow] if large else [])


@cache
def _recipes():
    path = _HERE.parents[2] / "benchmarks" / "recipes.py"
    spec = importlib.util.spec_from_file_location("recipes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _table(folder: Path, file: str) -> pl.DataFrame:
    if file.startswith("cat_"):
        return _recipes().survey(int(file.removeprefix("cat_"))).frame.select(_KEYS)
    columns = _FREE1 if file == "free1" else _KEYS[:7]
    return pl.read_csv(folder / "casc" / f"{file}.csv", columns=columns)


def _n_violators(table: pl.DataFrame, keys: list[str], k: int) -> int:
    return table.filter(pl.len().over(keys) < k).height


@pytest.mark.parametrize(("file", "n_keys", "k", "peer_cells", "violators"), list(_cases()))
def test_no_more_values_than_sdcmicro(shared_data, file, n_keys, k, peer_cells, violators):
    table = _table(shared_data, file)
    keys = table.columns[:n_keys]
    assert _n_violators(table, keys, k) == violators
    released = tacit.Plan([mask.LocalSuppression(keys=keys, k=k)]).apply(table, seed=1).frame
    cells = released.select(pl.sum_horizontal(pl.all().null_count())).item()
    # Clearly fewer, not just no more: a slip of the search would show.
    assert cells <= 0.8 * peer_cells


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        ("wildcard", {6: (25, None), 7: (None, "MI")}),
        ("strict", {6: (None, None), 7: (None, None)}),
    ],
)
def test_the_ten_patients_by_hand(reading, expected):
    data = tacit.datasets.patients()
    method = mask.LocalSuppression(k=2, missing=reading)
    released = tacit.Plan([method]).apply(data, seed=1).frame.select("Age", "State").rows()
    original = data.frame.select("Age", "State").rows()
    assert released == [expected.get(i, row) for i, row in enumerate(original)]

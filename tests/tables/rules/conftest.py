"""Cells with known contributions, and the sample data of tau-ARGUS with its official results."""

import csv
import gzip
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import tacit


@pytest.fixture(scope="session")
def one_cell():
    """Function that tabulates one cell ``a`` from its contributions (and their weights)."""

    def one_cell(contributions, weights=None, **options):
        n = len(contributions)
        frame = pl.DataFrame(
            {"r": ["a"] * n, "x": np.asarray(contributions, float), "w": weights or [1.0] * n}
        )
        weight = None if weights is None else "w"
        return tacit.tabulate(frame, "r", "x", weights=weight, **options)

    return one_cell


@pytest.fixture(scope="session")
def verdict():
    """Function that says whether a rule finds the cell ``a`` sensitive, and its upper level."""

    def verdict(rule, table):
        found = rule.sensitive(table)
        cell = table.cell(r="a")
        return bool(found.cells[cell]), float(found.above[cell])

    return verdict


def _children(path):
    """Read a tree indented with @ as parents with their children."""
    stack, children = ["Total"], {}
    for line in path.read_text(encoding="latin-1").splitlines():
        depth = len(line) - len(line.lstrip("@"))
        code = line[depth:].rstrip()
        if not code:
            continue
        stack = stack[: depth + 1]
        children.setdefault(stack[-1], []).append(code)
        stack.append(code)
    return children


def _fixed(text, **columns):
    lines = text.splitlines()
    frame = pl.DataFrame(
        {name: [line[at - 1 : at - 1 + n] for line in lines] for name, (at, n) in columns.items()}
    )
    numbers = [name for name in columns if name[0].isupper() and name[-1].isdigit()]
    numbers += [name for name in columns if name in ("turnover", "Wgt")]
    return frame.with_columns(pl.col(numbers).str.strip_chars().cast(pl.Float64))


def _expected(path):
    with path.open(encoding="latin-1") as lines:
        return {tuple(row[:-2]): int(row[-1]) for row in csv.reader(lines)}


@pytest.fixture(scope="session")
def argus_table(shared_data):
    """Size by region of tau_testW, and the statuses tau-ARGUS published (Simple2D)."""
    folder = shared_data / "tables" / "tauargus"
    text = gzip.decompress((folder / "tau_testW.asc.gz").read_bytes()).decode("latin-1")
    frame = _fixed(text, Size=(9, 2), Region=(12, 2), Wgt=(15, 4), Var2=(28, 10))
    regions = _children(folder / "region2.hrc")
    regions["Total"].append("99")
    table = tacit.tabulate(frame, ["Size", "Region"], "Var2", hierarchies={"Region": regions})
    return table, _expected(folder / "expected" / "Simple2D.txt")


@pytest.fixture(scope="session")
def argus_enterprises(shared_data):
    """Function that tabulates the enterprises of tau-ARGUS with holdings, beside its statuses."""
    folder = shared_data / "tables" / "tauargus"
    frame = _fixed(
        (folder / "enterprise" / "example_enterprise.asc").read_text(),
        h_id=(1, 9), act=(10, 2), product=(12, 2), region=(14, 2), turnover=(19, 8),
    )  # fmt: skip
    trees = {
        "act": _children(folder / "enterprise" / "nace_divisions.hrc"),
        "region": _children(folder / "enterprise" / "KohStatReg.hrc"),
    }
    trees["act"]["Total"].append("00")

    def argus_enterprises(by, expected):
        table = tacit.tabulate(
            frame, by, "turnover", holding="h_id",
            hierarchies={name: trees[name] for name in by if name in trees},
        )  # fmt: skip
        return table, _expected(folder / "expected" / expected)

    return argus_enterprises


@pytest.fixture(scope="session")
def business(shared_data, tmp_path_factory):
    """The benchmark's 100 000 enterprises, and their hierarchies."""
    script = shared_data.parent / "bench" / "make_business.py"
    if not script.is_file():
        pytest.skip(f"the recipe is not here: {script}")
    folder = tmp_path_factory.mktemp("business")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=120)
    trees = {name: _children(folder / f"{name}.hrc") for name in ("region", "nace")}
    return pl.read_csv(folder / "micro.csv"), trees

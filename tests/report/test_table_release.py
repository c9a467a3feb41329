"""The folder of a table: whole or not at all, readers' part without secrets."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.tables.publishing import REGIONS, records

from tacit import tables
from tacit.core.errors import ProtectionError, WriteError
from tacit.report import TableRelease
from tacit.tables.table_plan import read_plan


def release(**changes):
    given = {
        "by": [["region", "nace"]], "value": "turnover", "rule": "p(10)|freq(3)",
        "method": tables.SuppressModular(),
        "hierarchies": {"region": tables.Dimension.nested("region", REGIONS)},
    }  # fmt: skip
    plan = tables.TablePlan(**(given | changes))
    made = plan.apply(records())
    return TableRelease(plan, made, made.verify(), source="business.csv")


def test_all_files_are_there(tmp_path):
    made = release()
    made.save(tmp_path / "out")
    names = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")}
    assert names == {
        "public/NOTE.md", "public/table.csv", "public/table.xlsx",
        "dossier/plan.toml", "dossier/report.html", "dossier/cells.parquet",
        "dossier/intervals.csv", "dossier/originals.xlsx", "dossier/table.hst",
        "dossier/summary.json",
    }  # fmt: skip
    assert (tmp_path / "out" / "dossier").stat().st_mode & 0o077 == 0
    summary = json.loads((tmp_path / "out/dossier/summary.json").read_text(encoding="utf-8"))
    assert summary["check"]["passed"] is True
    cells = pl.read_parquet(tmp_path / "out/dossier/cells.parquet")
    assert cells["original"].to_list() == made.protected.original.value.tolist()
    assert set(cells["status"]) >= {"safe", "primary", "secondary"}


def test_a_table_that_did_not_pass_is_not_written(tmp_path):
    made = release()
    table, found = made.protected.original, made.protected.sensitive
    bare = replace(made.protected, published=np.where(found.cells, np.nan, table.value))
    forged = TableRelease(made.plan, bare, bare.verify())
    with pytest.raises(ProtectionError):
        forged.save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_force_replaces_an_earlier_result_and_nothing_else(tmp_path):
    made = release()
    made.save(tmp_path / "out")
    with pytest.raises(WriteError, match="exists already"):
        made.save(tmp_path / "out")
    made.save(tmp_path / "out", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(WriteError, match="other files"):
        made.save(tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.txt").is_file()


def test_linked_tables_have_a_file_each(tmp_path):
    made = release(by=[["region", "nace"], ["region", "size"]])
    made.save(tmp_path / "out")
    assert {p.name for p in (tmp_path / "out/public").iterdir()} == {
        "NOTE.md", "table-1.csv", "table-1.xlsx", "table-2.csv", "table-2.xlsx"
    }  # fmt: skip
    assert (tmp_path / "out/dossier/table-2.hst").is_file()


def test_the_seed_is_in_the_plan_of_the_dossier_only(tmp_path):
    made = release(method=tables.RandomRounding(base=500))
    made.save(tmp_path / "out")
    seed = str(made.protected.notes["seed"])
    holding = {
        p.relative_to(tmp_path / "out").as_posix()
        for p in (tmp_path / "out").rglob("*.*")
        if p.is_file() and seed.encode() in p.read_bytes()
    }
    assert holding == {"dossier/plan.toml"}
    plan, _ = read_plan(tmp_path / "out/dossier/plan.toml")
    again = plan.apply(records())
    assert np.array_equal(again.published, made.protected.published)

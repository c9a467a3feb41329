"""Folders of releases and tables are attacked by their path, and only as they were made."""

import polars as pl
import pytest

import tacit
from tacit import attack, mask, tables
from tacit.attack import MicrodataTarget, TableTarget
from tacit.attack.folder import folder_target
from tacit.core.errors import DataError, ParameterError, ReadError, ReplayError, TacitError
from tacit.report.table_release import TableRelease
from tacit.tables.table_plan import TablePlan

METHOD = tables.SuppressModular()
ROLES = {"identifiers": ["Name"], "keys": ["Age", "State"], "confidential": ["Diagnosis"]}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tacit.datasets.patients().frame.write_csv("patients.csv", separator=";")
    return tacit.read("patients.csv", separator=";").with_roles(**ROLES)


@pytest.fixture
def folder(data, tmp_path):
    return tacit.Plan([mask.Mdav(columns=["Age"], k=2)]).apply(data, seed=1).save(tmp_path / "out")


@pytest.fixture
def table_folder(data, tmp_path):
    tacit.datasets.patients().frame.write_parquet("patients.parquet")
    plan = TablePlan(by=[["State"]], rule="freq(3)", method=tables.SuppressModular())
    made = plan.apply(tacit.read("patients.parquet"))
    release = TableRelease(plan, made, made.verify(), source="patients.parquet")
    return release.save(tmp_path / "tab")


def test_a_release_is_attacked_by_its_path(folder):
    """With the roles, the plan and the way of reading that its dossier remembers."""
    target = folder_target(folder)
    assert isinstance(target, MicrodataTarget)
    assert target.original.schema.keys == ["Age", "State"]
    assert [step.key for step in target.steps] == ["mdav"]
    report = attack.audit(str(folder), attacks=[attack.Linkage()])
    assert report["linkage"].success.n == 10


def test_tables_are_attacked_by_their_path(table_folder):
    assert isinstance(folder_target(table_folder), TableTarget)
    assert attack.audit(table_folder)["table-interval"].success.value == 0


@pytest.mark.parametrize("method", ["modular", "collapse"])
def test_what_was_said_of_cells_beforehand_is_said_again(data, method, monkeypatch):
    """The table of the command line with an a-priori file, and one whose categories were merged."""
    from tacit.cli.main import main

    firms = tacit.datasets.establishments(200).frame
    firms.select("legal_form", "turnover").write_csv("firms.csv")
    with open("before.hst", "w") as file:  # noqa: PTH123
        file.write("partnership,m\n")
    line = ["table", "--by", "legal_form", "--value", "turnover", "--rule", "freq(3)", "--apriori",
            "before.hst", "--method", method, "firms.csv", "out-table"]  # fmt: skip
    monkeypatch.setattr("sys.argv", ["tacit", *line])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    known = {"table-contributor": "freq(3) does not promise more"}
    assert not {found.key for found in attack.audit("out-table").leaks} - set(known)
    with open("out-table/dossier/apriori-1.hst", "a") as file:  # noqa: PTH123
        file.write("cooperative,u\n")
    with pytest.raises(TacitError, match="changed since"):
        attack.audit("out-table")


@pytest.mark.parametrize("name", ["cells.csv", "cells.tab"])
def test_tables_of_ready_cells_are_attacked_without_records(data, name):
    cells = pl.DataFrame({"r": list("NSWE"), "x": [60, 5, 9, 8], "n": [4, 1, 7, 9]})
    table = tables.from_aggregates(cells, "r", "x", count="n")
    if name.endswith(".tab"):
        tacit.io.write_table(table, name)
        table = tacit.io.read_table(name)
        plan = TablePlan(by=[["r"]], value="x", rule="freq(3)", method=METHOD, ready={})
    else:
        cells.write_csv(name)
        plan = TablePlan(by=[["r"]], value="x", rule="freq(3)", method=METHOD, ready={"count": "n"})
    made = plan.protect(table)
    TableRelease(plan, made, made.verify(), source=name).save("ready")
    target = folder_target("ready")
    assert target.data is None
    assert target.tables[0].suppressed.sum() == 2
    assert attack.audit("ready")["table-interval"].success.value == 0


def test_two_folders_of_the_same_data_are_attacked_together(folder, data, tmp_path):
    other = tacit.Plan([mask.Mdav(columns=["Age"], k=5)]).apply(data, seed=1)
    other.save(tmp_path / "second")
    report = attack.audit([folder, tmp_path / "second"])
    assert report["composition"].details["releases"] == 2


def test_folders_of_other_data_or_of_another_kind_are_refused(folder, table_folder, tmp_path):
    tacit.Plan([]).apply(tacit.datasets.census(20), seed=1).save(tmp_path / "census")
    with pytest.raises(DataError, match="records and some tables"):
        attack.audit([folder, table_folder])
    with pytest.raises(ReplayError, match="does not say where"):
        attack.audit([folder, tmp_path / "census"])


def test_an_original_in_another_order_is_refused(folder):
    """Records are paired by their place: other people would be linked, and nobody found."""
    frame = pl.read_csv("patients.csv", separator=";")
    frame.reverse().write_csv("patients.csv", separator=";")
    with pytest.raises(ReplayError, match="not the data that were protected"):
        attack.audit(folder)


def test_a_release_that_was_changed_is_refused(folder):
    path = folder / "public" / "data.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("AIDS", "Flu"), encoding="utf-8")
    with pytest.raises(ReplayError, match="changed after the release"):
        attack.audit(folder)


def test_a_table_that_was_changed_is_refused(table_folder):
    (path,) = (table_folder / "public").glob("*.csv")
    path.write_text(path.read_text(encoding="utf-8") + "XX,1,safe\n", encoding="utf-8")
    with pytest.raises(DataError, match="changed after it was protected"):
        attack.audit(table_folder)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere", "no such folder"),
        ("patients.csv", "not the folder of a release"),
        (".", "not the folder of a release"),
        ("x\0y", "no such folder"),
        ("https://tacit.example.org", "ServerTarget"),
    ],
)
def test_what_is_no_folder_of_ours_is_refused(data, path, words):
    with pytest.raises((ReadError, ParameterError), match=words):
        attack.audit(path)


@pytest.mark.parametrize("name", ["manifest.json", "plan.toml", "schema.toml"])
@pytest.mark.parametrize("content", ["{", "[a]\nb = 1\n", "\x00\xff"])
def test_a_damaged_dossier_is_refused_in_words(folder, name, content):
    (folder / "dossier" / name).write_text(content, encoding="latin-1")
    with pytest.raises(TacitError):
        attack.audit(folder)

"""What the data bring with them, and ready tables of tau-ARGUS as the command line reads them."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tacit.tables.table_plan import read_plan

METADATA = """\
<SEPARATOR> ";"
r
  <RECODEABLE>
w
  <WEIGHT>
firm
  <HOLDING>
asks
  <REQUEST> "1" "2"
x
  <NUMERIC>
"""
ROWS = """\
A;2;f;1;10
A;2;f;;20
A;1;g;;30
A;1;h;;31
B;1;i;;12
B;3;j;;13
B;3;k;;14
B;3;l;;15
C;1;m;;50
C;1;n;;1
"""
LINE = ["--by", "r", "--value", "x", "--rule", "p(10)|request(20)"]


@pytest.fixture
def survey(folder):
    (folder / "survey.rda").write_text(METADATA, encoding="utf-8")
    (folder / "survey.asc").write_text(ROWS, encoding="utf-8")
    return "survey.asc"


def total(out="out"):
    return pl.read_parquet(f"{out}/dossier/cells.parquet")["original"][0]


def test_what_metadata_name_is_used_and_said(run, survey):
    result = run("table", *LINE, survey, "out", "--json")
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)["remarks"]
    for role, column in (("weight", "w"), ("holding", "firm"), ("request", "asks")):
        assert any(f"{column!r}" in line and f"--{role} none" in line for line in said)
    plan, _ = read_plan("out/dossier/plan.toml")
    assert (plan.weights, plan.holding, plan.request) == ("w", "firm", "asks")
    assert total() == 310
    page = Path("out/dossier/report.html").read_text(encoding="utf-8")
    assert "--weight none" in page
    assert "--weight none" in run("table", *LINE, survey, "two").stdout


def test_what_metadata_name_can_be_left_out(run, survey):
    line = [*LINE, "--weight", "none", "--holding", "none", survey]
    result = run("table", *line, "out")
    assert result.exit_code == 0, result.stderr
    assert total() == 196
    plan, _ = read_plan("out/dossier/plan.toml")
    assert (plan.weighted, plan.holding, plan.request) == (False, None, "asks")
    again = run("table", "--plan", "out/dossier/plan.toml", survey, "two")
    assert again.exit_code == 0
    assert again.stderr == ""
    assert total("two") == 196


def test_other_codes_of_requests_are_refused(run, folder, survey, refusal):
    text = METADATA.replace('"1" "2"', '"J"')
    (folder / "survey.rda").write_text(text, encoding="utf-8")
    assert "not 1 and 2 (got J of 'asks')" in refusal(run("table", *LINE, survey, "out"))


@pytest.mark.parametrize("text", ["r,x\n", "r,x\n\n"])
@pytest.mark.parametrize("words", [[], ["--value", "x"], ["--ready", "--value", "x"]])
def test_data_without_records_are_an_error(run, folder, refusal, text, words):
    (folder / "empty.csv").write_text(text, encoding="utf-8")
    line = refusal(run("table", "--by", "r", "--rule", "freq(3)", *words, "empty.csv", "out"))
    assert "the data hold no records" in line


# -- ready tables of tau-ARGUS ---------------------------------------------------------------------


@pytest.fixture
def pp(shared_data, folder):
    """A sample of tau-ARGUS whose totals do not add up to the cent."""
    for path in (shared_data / "tables/tauargus/tableinput").iterdir():
        shutil.copy(path, folder)
    return "pp.tab"


def test_totals_can_be_added_up_anew(run, pp, refusal):
    line = ["table", "--ready", "--rule", "p(10)", pp, "out"]
    assert "additive" in refusal(run(*line))
    result = run(*line, "--read-option", "totals=add up")
    assert result.exit_code == 0, result.stderr
    plan, _ = read_plan("out/dossier/plan.toml")
    assert plan.by == (("Size", "Region"),)
    assert plan.value == "Var2"


def test_metadata_of_another_name(run, folder, shared_data, refusal):
    source = shared_data / "tables/tauargus/batch_ex1"
    data, metadata = source / "tabdata_ex1.tab", source / "metadata_ex1.rda"
    line = ["table", "--ready", data, "out", "--read-option"]
    result = run(*line, f"metadata={metadata}")
    assert result.exit_code == 0, result.stderr
    assert "no such metadata file" in refusal(run(*line, "metadata=none.rda", "--force"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--read-option", "total=add up"], "did you mean 'totals'"),
        (["--read-option", "totals=anew"], "totals='add up'"),
        (["--separator", ";"], "without --separator"),
        (["--count", "FreqVar"], "the metadata of a ready table"),
        (["--total", "T"], "the metadata of a ready table"),
        (["--hierarchy", "Regoin=region2.hrc"], "did you mean 'Region'"),
        (["--by", "Size", "--by", "Region"], "ready cells are one table"),
    ],
)
def test_what_a_ready_table_does_not_take_is_refused(run, pp, refusal, words, said):
    line = ["table", "--ready", "--rule", "p(10)", pp, "out"]
    add_up = [] if "--read-option" in words else ["--read-option", "totals=add up"]
    assert said in refusal(run(*line, *words, *add_up))

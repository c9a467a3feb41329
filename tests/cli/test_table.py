"""tacit table: records in, a table and its dossier out, or a refusal and nothing."""

import json
import re

import numpy as np
import polars as pl
import pytest
from tests.tables.publishing import records

import tacit
from tacit.core.method import methods
from tacit.tables.table_plan import read_plan

COMMON = ["--by", "region,nace", "--value", "turnover", "--hierarchy", "region=region.hrc"]
RULE = ["--rule", "p(10)|freq(3)"]


@pytest.fixture
def business(folder):
    records().write_csv("business.csv")
    (folder / "region.hrc").write_text("N\n@N1\n@N2\nS\n@S1\n@S2\n@S3\n", encoding="utf-8")
    (folder / "secret").write_text("a long and secret phrase", encoding="utf-8")
    return "business.csv"


def test_the_promised_line_works_end_to_end(run, folder, business):
    result = run(
        "table", "--by", "region,nace", "--value", "turnover", "--rule", "dominance(2,75)|p(10)",
        "--method", "modular", business, "out/",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "Passed: an attack on every sensitive cell" in result.stdout
    assert "out/public/table.xlsx" in result.stdout
    assert (folder / "out/dossier/report.html").is_file()
    cells = pl.read_csv("out/public/table.csv")
    assert cells.columns == ["region", "nace", "turnover", "flag"]
    assert cells["flag"].drop_nulls().unique().to_list() == ["c"]


def test_json(run, business):
    result = run("table", *COMMON, *RULE, business, "out", "--json")
    document = json.loads(result.stdout)
    assert document["check"]["passed"] is True
    assert document["rule"] == "p(10)|freq(3)"
    assert {line["status"] for line in document["cells"]} >= {"Safe", "Unsafe", "Secondary"}
    assert document["report"] == "out/dossier/report.html"


KEYED = ("cell-key", "cell-key-magnitude")


@pytest.mark.parametrize("key", [m.key for m in methods("protection")])
def test_every_protection_of_the_registry(run, folder, business, key):
    """A protection works, or is refused with one line and nothing written."""
    counts = key in ("cell-key", "round-small-counts")
    by = ["--by", "region,nace"] if counts else COMMON
    secret = ["--secret", "secret", "--unit", "id"] if key in KEYED else []
    rule = ["--rule", "freq(3)"] if counts else RULE
    result = run("table", *by, *rule, "--method", key, *secret, business, "out")
    assert result.exit_code == 0, result.stderr
    assert "Passed" in result.stdout
    cells = pl.read_csv("out/public/table.csv")
    original = pl.read_parquet("out/dossier/cells.parquet")
    assert cells.height == original.height
    if key.startswith("suppress"):
        assert cells["flag"].null_count() < cells.height
        shown = cells["flag"].is_null().to_numpy()
        assert np.allclose(
            cells["turnover"].to_numpy()[shown], original["original"].to_numpy()[shown]
        )
    assert (folder / "out/dossier/table.hst").is_file() == key.startswith("suppress")


def test_options_reach_the_method(run, business):
    result = run("table", *COMMON, *RULE, "--method", "modular", "--option", "cost=unity",
                 "--option", "sweeps=1", business, "out")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    plan, _ = read_plan("out/dossier/plan.toml")
    assert plan.method == tacit.tables.SuppressModular(cost="unity", sweeps=1)


def test_singletons_are_protected_where_they_attack(run, folder):
    """Only to attack would refuse what the method could have protected, and not say how."""
    (folder / "firms.csv").write_text("r,x\nA,10\nB,20\nC,30\nC,31\nC,32\n", encoding="utf-8")
    line = ["table", "--by", "r", "--value", "x", "--rule", "p(10)", "firms.csv", "--singletons"]
    made = run(*line, "out")
    assert made.exit_code == 0, made.stderr
    assert "2 respondents attacked with what they know; 0 breaches" in made.stdout
    assert pl.read_csv("out/public/table.csv")["flag"].count() == 3
    asked = run(*line, "other", "--option", "singletons=false")
    assert "worked out too closely: (A), (B)" in asked.stderr
    assert not (folder / "other").exists()


def test_a_plan_gives_the_same_table_again(run, folder, business):
    run("table", *COMMON, *RULE, "--method", "random", business, "one")
    result = run("table", "--plan", "one/dossier/plan.toml", business, "two")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    one, two = ((folder / f"{name}/public/table.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    records(seed=5).write_csv("other.csv")
    other = run("table", "--plan", "one/dossier/plan.toml", "other.csv", "three")
    assert "not the one the plan was last used on" in other.stderr


def test_linked_tables(run, folder, business):
    result = run("table", *COMMON, "--by", "region,size", *RULE, business, "out")
    assert result.exit_code == 0, result.stderr
    one, two = (pl.read_csv(folder / f"out/public/table-{k}.csv") for k in (1, 2))
    margin = one.filter(pl.col("nace") == "Total").select("region", "turnover")
    other = two.filter(pl.col("size") == "Total").select("region", "turnover")
    assert margin.sort("region").equals(other.sort("region"))


def test_ready_cells(run, folder, business):
    counted = records().group_by("region", "nace").agg(
        pl.col("turnover").sum(), n=pl.len(), top=pl.col("turnover").max()
    )  # fmt: skip
    counted.sort("region", "nace").write_csv("cells.csv")
    result = run("table", "--ready", "--by", "region,nace", "--value", "turnover", "--count", "n",
                 "--rule", "freq(3)", "cells.csv", "out")  # fmt: skip
    assert result.exit_code == 0, result.stderr


def test_an_apriori_file_binds(run, folder, business):
    (folder / "before.hst").write_text("N,Total,p\nN1,B,m\n", encoding="utf-8")
    result = run("table", *COMMON, *RULE, "--apriori", "before.hst", business, "out")
    assert result.exit_code == 0, result.stderr
    cells = pl.read_csv("out/public/table.csv")
    assert cells.filter(region="N1", nace="B")["flag"].to_list() == ["c"]
    assert cells.filter(region="N", nace="Total")["flag"].to_list() == [None]


def test_the_public_folder_keeps_parameters_and_originals_inside(run, folder, business):
    run("table", *COMMON, "--rule", "p(37)", business, "out")
    original = pl.read_parquet("out/dossier/cells.parquet")
    hidden = original.filter(pl.col("published").is_null())["original"].to_list()
    shown = set(original["published"].drop_nulls().to_list())
    text = "".join(p.read_text(encoding="utf-8") for p in (folder / "out/public").glob("*.*")
                   if p.suffix in (".csv", ".md"))  # fmt: skip
    assert "37" not in re.sub(r"\d+\.\d+", "", (folder / "out/public/NOTE.md").read_text())
    written = {float(n) for n in re.findall(r"\d+\.\d+", text)}
    assert not written & (set(hidden) - shown)


# -- refusals --------------------------------------------------------------------------------------


def test_a_table_that_fails_its_attack_is_not_written(run, folder, business, refusal, monkeypatch):
    """A protection that lies: it calls the table safe and suppresses the sensitive cells only."""
    from tacit.tables import ProtectedTable, SuppressModular

    def lying(self, table, sensitive):
        return ProtectedTable.suppressing(table, sensitive, sensitive.cells, "lying")

    monkeypatch.setattr(SuppressModular, "protect", lying)
    line = refusal(run("table", *COMMON, *RULE, business, "out"))
    assert "did not pass its check" in line
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*COMMON], "nothing says which cells are sensitive"),
        ([*COMMON, "--rule", "p(10"], "not understood at character"),
        ([*COMMON, "--rule", "q(10)"], "no rule 'q'"),
        ([*COMMON, *RULE, "--method", "controlled"], "may be several protections"),
        ([*COMMON, *RULE, "--method", "modlar"], "did you mean"),
        ([*COMMON, *RULE, "--option", "sweeps"], "name=value"),
        ([*COMMON, *RULE, "--option", "sweeps=-1"], "'sweeps'"),
        ([*COMMON, *RULE, "--hierarchy", "region"], "COLUMN=FILE"),
        ([*COMMON, *RULE, "--hierarchy", "regoin=region.hrc"], "does not span the table"),
        (["--by", "regoin", *RULE], "did you mean 'region'"),
        ([*RULE], "nothing spans the table"),
        (["--by", "region,nace", "--value", "nace", *RULE], "nace"),
        ([*COMMON, "--plan", "x.toml"], "the plan says all of the table"),
        (["--plan", "x.toml"], "there is no plan file"),
        ([*COMMON, *RULE, "--secret", "none"], "could not read the secret"),
    ],
)
def test_refusals_are_one_line_and_leave_nothing(run, folder, business, refusal, words, said):
    before = set(folder.iterdir())
    assert said in refusal(run("table", *words, business, "out"))
    assert set(folder.iterdir()) == before


def test_an_existing_folder_is_kept(run, folder, business, refusal):
    (folder / "out").mkdir()
    assert "exists already" in refusal(run("table", *COMMON, *RULE, business, "out"))


def test_progress_goes_to_stderr_and_help_names_the_options(run):
    text = run("table", "--help").stdout
    for option in ("--by", "--value", "--rule", "--method", "--hierarchy", "--holding", "--option"):
        assert option in text

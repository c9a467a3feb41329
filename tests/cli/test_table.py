"""tacit table: records in, a table and its dossier out, or a refusal and nothing."""

import html
import json
import re
import shlex

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
    keeps = key.startswith("suppress") or key == "collapse"
    assert (folder / "out/dossier/table.hst").is_file() == keeps


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


# -- the same again --------------------------------------------------------------------------------


def reproduction(page):
    """Return the words of the command that the report gives."""
    found = re.search(r'id="again".*?<pre><code>(.*?)</code>', page.read_text("utf-8"), re.DOTALL)
    program, *words = shlex.split(html.unescape(found[1]))
    assert program == "tacit"
    assert words[-1] == "OUT"
    return words


def public(folder):
    """Return the texts of a public folder; workbooks hold the time of writing."""
    return {p.name: p.read_bytes() for p in folder.glob("public/*") if p.suffix != ".xlsx"}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--apriori", "before.hst", "--apriori", "more.hst"],
        ["--method", "random"],
        ["--method", "cell-key-magnitude", "--secret", "secret", "--unit", "id"],
        ["--singletons", "--option", "cost=unity"],
        ["--by", "region,size", "--holding", "id"],
    ],
)
def test_the_command_of_the_report_makes_the_release_again(run, folder, business, words):
    (folder / "before.hst").write_text("S1,A,u\nN1,B,m\n", encoding="utf-8")
    (folder / "more.hst").write_text("S1,A,pl,50,50\n", encoding="utf-8")
    text = (folder / business).read_text(encoding="utf-8")
    (folder / "other.csv").write_text(text.replace(",", ";"), encoding="utf-8")
    made = run("table", *COMMON, *RULE, *words, "--separator", ";", "other.csv", "one place/out")
    assert made.exit_code == 0, made.stderr
    first = run(*reproduction(folder / "one place/out/dossier/report.html"))
    assert first.exit_code == 0, first.stderr
    assert "is not the one" not in first.stderr
    assert public(folder / "OUT") == public(folder / "one place/out")
    second = run(*reproduction(folder / "OUT/dossier/report.html"), "--force")
    assert second.exit_code == 0, second.stderr
    assert public(folder / "OUT") == public(folder / "one place/out")


def test_ready_cells_are_made_again_as_they_were_read(run, folder, refusal):
    """Without the status the cell that the producer calls unsafe would be published."""
    text = "r,s,x,n,top,st\n" + "".join(
        f"{r},{s},{50 + k},9,10,{'u' if k == 0 else 's'}\n"
        for k, (r, s) in enumerate((r, s) for r in "NSW" for s in "AB")
    )
    (folder / "cells.csv").write_text(text, encoding="utf-8")
    result = run("table", "--ready", "--by", "r,s", "--value", "x", "--count", "n", "--largest",
                 "top", "--status", "st", "--rule", "freq(3)", "cells.csv", "out")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    again = run(*reproduction(folder / "out/dossier/report.html"))
    assert again.exit_code == 0, again.stderr
    assert public(folder / "OUT") == public(folder / "out")
    hidden = pl.read_csv("OUT/public/table.csv").filter(r="N", s="A")
    assert hidden["flag"].to_list() == ["c"]


def test_a_ready_table_of_tau_argus_is_made_again(run, shared_data, folder):
    source = shared_data / "tables/tauargus/tableinput/pp.tab"
    result = run("table", "--ready", "--rule", "p(10)", "--read-option", "totals=add up", source,
                 "out")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    again = run(*reproduction(folder / "out/dossier/report.html"))
    assert again.exit_code == 0, again.stderr
    assert again.stderr == result.stderr
    assert public(folder / "OUT") == public(folder / "out")


@pytest.mark.parametrize("change", ["missing", "changed"])
def test_a_plan_without_its_apriori_file_is_refused(run, folder, business, refusal, change):
    (folder / "before.hst").write_text("S1,A,u\n", encoding="utf-8")
    assert run("table", *COMMON, *RULE, "--apriori", "before.hst", business, "one").exit_code == 0
    kept = folder / "one/dossier/apriori-1.hst"
    if change == "missing":
        kept.unlink()
    else:
        kept.write_text("S1,B,u\n", encoding="utf-8")
    line = refusal(run("table", "--plan", "one/dossier/plan.toml", business, "two"))
    assert "apriori-1.hst" in line
    assert "missing" in line or "changed" in line
    assert not (folder / "two").exists()


def test_further_apriori_files_add_to_those_of_the_plan(run, folder, business):
    (folder / "before.hst").write_text("S1,A,u\n", encoding="utf-8")
    (folder / "more.hst").write_text("N1,B,u\n", encoding="utf-8")
    run("table", *COMMON, *RULE, "--apriori", "before.hst", business, "one")
    result = run(
        "table", "--plan", "one/dossier/plan.toml", "--apriori", "more.hst", business, "two"
    )
    assert result.exit_code == 0, result.stderr
    cells = pl.read_csv("two/public/table.csv")
    for region, nace in (("S1", "A"), ("N1", "B")):
        assert cells.filter(region=region, nace=nace)["flag"].to_list() == ["c"]
    again = run(*reproduction(folder / "two/dossier/report.html"))
    assert public(folder / "OUT") == public(folder / "two"), again.stderr


# -- little was asked ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rule", "freq(1)"], "No cell is sensitive by the rule freq(1)."),
        (["--method", "random"], "No rule was given: no cell counts as sensitive."),
        (["--apriori", "before.hst"], "No rule was given: only cells that were declared unsafe"),
        (["--rule", "freq(1)", "--apriori", "total.hst"], "1 of 1 cells that must be suppressed"),
    ],
)
def test_a_check_that_says_little_says_so(run, folder, business, words, said):
    (folder / "before.hst").write_text("S1,A,u\n", encoding="utf-8")
    (folder / "total.hst").write_text("Total,Total,m\n", encoding="utf-8")
    result = run("table", *COMMON, *words, business, "out")
    assert result.exit_code == 0, result.stderr
    assert f"warning: {said}" in result.stderr
    assert "every sensitive cell" not in result.stdout or "unsafe" in said or "must be" in said
    assert said in (folder / "out/dossier/report.html").read_text(encoding="utf-8")
    summary = json.loads((folder / "out/dossier/summary.json").read_text(encoding="utf-8"))
    assert any(line.startswith(said) for line in summary["remarks"])


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
        (
            ["--by", "region", "--method", "cell-key", "--secret", "none"],
            "could not read the secret",
        ),
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

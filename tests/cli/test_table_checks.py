"""An option that nothing would look at is refused at once, with what would mend it."""

import polars as pl
import pytest

from tacit import tables
from tacit.cli.table_checks import check_attacked
from tacit.cli.table_options import Protecting
from tacit.core.errors import ParameterError

READY = ["--ready", "--by", "r", "--value", "x", "--rule", "freq(3)"]
RECORDS = ["--by", "r", "--value", "x", "--rule", "freq(3)"]


@pytest.fixture
def cells(folder):
    rows = {"r": ["N", "S", "W"], "x": [9, 8, 7], "n": [4, 1, 2], "w": [1, 1, 1]}
    pl.DataFrame(rows).write_csv("cells.csv")
    (folder / "secret").write_text("a long and secret phrase", encoding="utf-8")
    return "cells.csv"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *(([*RECORDS, f"--{name}", "n"], "add --ready") for name in ("count", "largest", "status")),
        *(
            ([*READY, "--count", "n", f"--{name}", "w"], "is about records")
            for name in ("weight", "unit", "holding", "request", "shadow", "record-keys", "secret")
        ),
        ([*READY, "--count", "n", "--missing", "drop"], "is about records"),
        ([*READY, "--count", "n", "--missing-value", "drop"], "is about records"),
        ([*RECORDS, "--secret", "secret"], "--method cell-key"),
        ([*RECORDS, "--record-keys", "n"], "--method cell-key"),
        ([*RECORDS, "--cost", "n"], "add --option cost=user"),
        ([*RECORDS, "--cost", "n", "--option", "cost=unity"], "add --option cost=user"),
        ([*RECORDS, "--cost", "n", "--method", "adjust-controlled"], "add --option weights=user"),
        ([*RECORDS, "--cost", "n", "--method", "random"], "knows no costs"),
        ([*RECORDS, "--request", "n"], "--rule 'request(70)'"),
        (["--by", "r", "--value", "x", "--method", "random", "--shadow", "n"], "no rule looks at"),
        ([*RECORDS, "--singletons", "--option", "singletons=false"], "give one of the two"),
        ([*RECORDS, "--singletons", "--method", "adjust-controlled"], "there was none"),
    ],
)
def test_what_would_be_ignored_is_refused(run, folder, cells, refusal, words, said):
    assert said in refusal(run("table", *words, cells, "out"))
    assert not (folder / "out").exists()


def test_a_cost_that_is_looked_at_is_taken(run, cells):
    result = run("table", *RECORDS, "--cost", "n", "--option", "cost=user", cells, "out")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("word", ["ready", "count", "weight", "cost", "rule"])
def test_beside_a_plan_only_what_it_does_not_say(run, cells, refusal, word):
    assert run("table", *RECORDS, cells, "out").exit_code == 0
    words = ["--ready"] if word == "ready" else [f"--{word}", "n"]
    line = refusal(run("table", "--plan", "out/dossier/plan.toml", *words, cells, "two"))
    assert f"so --{word} is too much" in line
    line = refusal(
        run("table", "--plan", "out/dossier/plan.toml", "--secret", "secret", cells, "two")
    )
    assert "makes no record keys" in line


def test_an_attack_that_was_not_made_has_no_singletons():
    checked = tables.Verification(passed=True, how="nothing")
    check_attacked(checked, Protecting())
    with pytest.raises(ParameterError, match="there was none"):
        check_attacked(checked, Protecting(singletons=True))

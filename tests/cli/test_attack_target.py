"""Opening what is attacked."""

from pathlib import Path

import polars as pl
import pytest

import tacit
from tacit.attack import MicrodataTarget, QueryTarget, TableTarget
from tacit.cli.attack_target import opened_target
from tacit.cli.options import Reading, Roles
from tacit.core.errors import DataError, ParameterError, PlanError, ReplayError


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tacit.datasets.patients().frame.write_csv("patients.csv")
    roles = {"identifiers": ["Name"], "keys": ["Age"], "confidential": ["Diagnosis"]}
    return tacit.read("patients.csv").with_roles(**roles)


def opened(target, released=None, original=None, policy=None, file=None):
    secret = None if file is None else Path(file)
    return opened_target(target, released, original, policy, Reading(), Roles(), secret)


def test_a_release_knows_its_original_and_its_plan(data):
    step = tacit.mask.Mdav(columns=["Age"], k=2)
    tacit.Plan([step]).apply(data, seed=1).save("out")
    target = opened("out")
    assert isinstance(target, MicrodataTarget)
    assert target.steps == (step,)
    assert target.original.schema.keys == ["Age"]
    assert target.matched[0].tolist() == list(range(10))


def test_a_lost_original_is_asked_for(data, tmp_path):
    tacit.Plan([]).apply(data.in_memory(), seed=1).save("out")
    (tmp_path / "patients.csv").rename(tmp_path / "moved.csv")
    with pytest.raises(ReplayError, match=r"no such file.*give the data where they are now"):
        opened("out")
    assert isinstance(opened("out", original="moved.csv"), MicrodataTarget)


def test_a_policy_makes_a_server(data):
    assert isinstance(opened("patients.csv", policy="mas"), QueryTarget)


@pytest.mark.parametrize("method", ["suppress-modular", "round-random"])
def test_a_table_folder_is_made_again_to_the_last_cell(data, method):
    from typer.testing import CliRunner

    from tacit.cli.main import app

    arguments = ["table", "patients.csv", "--by", "State", "--method", method, "--rule", "freq(3)"]
    done = CliRunner().invoke(app, [*arguments, "tab"])
    assert done.exit_code == 0, done.output
    target = opened("tab")
    assert isinstance(target, TableTarget)
    assert target.tables[0].original.n_cells > 1
    lines = Path("patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("patients.csv").write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match="not those of the folder"):
        opened("tab")


# -- the folder of tables --------------------------------------------------------------------------


def made(*words):
    from typer.testing import CliRunner

    from tacit.cli.main import app

    done = CliRunner().invoke(app, ["table", *words, "tab"])
    assert done.exit_code == 0, done.output


def test_tables_are_read_again_as_they_were(data):
    lines = Path("patients.csv").read_text(encoding="utf-8").replace(",", ";")
    Path("patients.csv").write_text(lines.replace("AIDS", "Ä"), encoding="latin-1")
    how = ["--separator", ";", "--encoding", "latin-1"]
    made(*how, "--by", "State,Diagnosis", "--rule", "freq(2)", "patients.csv")
    assert isinstance(opened("tab"), TableTarget)


def test_a_ready_table_of_tau_argus_is_read_again_as_it_was(data):
    rows = ["Total,9,12", "N,6,4", "S,2,8"]  # the total is off by one
    Path("cells.tab").write_text("\n".join(rows) + "\n", encoding="utf-8")
    described = (
        '<SEPARATOR> ","\nr\n<RECODEABLE>\n<TOTCODE> "Total"\nx\n<NUMERIC>\nn\n<FREQUENCY>\n'
    )
    Path("described.rda").write_text(described, encoding="utf-8")
    how = ["--read-option", "metadata=described.rda", "--read-option", "totals=add up"]
    made("--ready", *how, "--rule", "freq(5)", "cells.tab")
    target = opened("tab")
    assert target.data is None
    assert target.tables[0].original.value.tolist() == [8, 6, 2]


def test_calibrated_weights_add_up_to_other_bits_each_time(data, monkeypatch):
    from tacit.attack import folder

    weighted = data.frame.with_columns(w=(pl.col("Age") + 1) / 7.3)
    weighted.write_parquet("patients.parquet")
    made("--by", "State", "--value", "Income", "--weight", "w", "--method", "random", "--rule",
         "freq(3)", "patients.parquet")  # fmt: skip
    before = folder._tabulated

    def other_bits(*given):
        table, records = before(*given)
        return table.replace(value=table.value * (1 + 2e-15)), records

    monkeypatch.setattr(folder, "_tabulated", other_bits)
    assert isinstance(opened("tab"), TableTarget)


def test_record_keys_are_made_again_from_the_secret(data):
    Path("secret").write_text("a long and secret phrase", encoding="utf-8")
    made(
        "--by", "State,Diagnosis,Age", "--method", "cell-key", "--secret", "secret", "patients.csv"
    )
    with pytest.raises(DataError, match="give the secret"):
        opened("tab")
    assert isinstance(opened("tab", file="secret"), TableTarget)
    Path("secret").write_text("another long and secret phrase", encoding="utf-8")
    with pytest.raises(DataError, match="not those of the folder"):
        opened("tab", file="secret")


def test_a_secret_that_nothing_needs_is_refused(data):
    Path("secret").write_text("a long and secret phrase", encoding="utf-8")
    made("--by", "State", "--rule", "freq(3)", "patients.csv")
    with pytest.raises(ParameterError, match="no record keys"):
        opened("tab", file="secret")
    with pytest.raises(ParameterError, match="folder of tables"):
        opened("patients.csv", policy="mas", file="secret")


@pytest.mark.parametrize("name", ["reading", "public_digests"])
def test_a_damaged_plan_is_refused_in_words(data, name):
    made("--separator", ",", "--by", "State", "--rule", "freq(3)", "patients.csv")
    path = Path("tab/dossier/plan.toml")
    lines = path.read_text(encoding="utf-8").replace(f"[{name}]", "[other]")
    path.write_text(f"{name} = 7\n{lines}", encoding="utf-8")
    with pytest.raises(PlanError, match="must be a table"):
        opened("tab")


@pytest.mark.parametrize("name", ["table.csv", "table.xlsx", "NOTE.md"])
def test_no_public_file_may_be_another(data, name):
    made("--by", "State", "--rule", "freq(3)", "patients.csv")
    with Path("tab/public", name).open("ab") as file:
        file.write(b"x")
    with pytest.raises(DataError, match=f"changed after it was protected .*{name}"):
        opened("tab")

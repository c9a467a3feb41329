"""Opening what is attacked."""

from pathlib import Path

import pytest

import tacit
from tacit.attack import MicrodataTarget, QueryTarget, TableTarget
from tacit.cli.attack_target import opened_target
from tacit.cli.options import Reading, Roles
from tacit.core.errors import DataError, ReplayError


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tacit.datasets.patients().frame.write_csv("patients.csv")
    roles = {"identifiers": ["Name"], "keys": ["Age"], "confidential": ["Diagnosis"]}
    return tacit.read("patients.csv").with_roles(**roles)


def opened(target, released=None, original=None, policy=None):
    return opened_target(target, released, original, policy, Reading(), Roles())


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

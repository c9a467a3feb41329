"""Scripts that do the same as the forms: they are run, in a folder that holds the file."""

import pytest

import tacit
from tacit.app import scripts


@pytest.fixture
def about(tmp_path, monkeypatch):
    """A project whose file has a name that a script must quote."""
    monkeypatch.chdir(tmp_path)
    name = 'the "people".csv'
    data = tacit.datasets.census(60, seed=4)
    data.local.write_csv(tmp_path / name)
    columns = [
        {"name": v.name, "kind": str(v.kind), "roles": sorted(map(str, v.roles))}
        for v in data.schema.variables
    ]
    return {"data": {"name": name}, "columns": columns}


def _run(script):
    made = {}
    exec(compile(script, "script", "exec"), made)  # noqa: S102 - it is what is tested
    return made


def test_reading_gives_the_roles(about):
    schema = _run(scripts.reading_script(about))["data"].schema
    for column in about["columns"]:
        assert sorted(map(str, schema[column["name"]].roles)) == column["roles"]


def test_a_file_without_roles_is_read_as_it_is(about):
    bare = {**about, "columns": [{**c, "roles": []} for c in about["columns"]]}
    assert "with_roles" not in scripts.reading_script(bare)
    assert len(_run(scripts.reading_script(bare))["data"]) == 60


def test_a_plan_is_applied_and_saved(about, tmp_path):
    steps = [
        {"method": "mdav", "columns": ["income"], "k": 3},
        {"method": "recode", "column": "age", "width": 10},
    ]
    made = _run(scripts.plan_script(about, steps))
    assert [step.as_step()["method"] for step in made["plan"]] == ["mdav", "recode"]
    assert (tmp_path / "out" / "public").is_dir()


def test_a_table_is_protected_and_attacked(about, capsys):
    plan = {
        "by": [["sex", "employed"]], "value": None, "rule": "freq(3)", "hierarchies": {},
        "method": {"method": "suppress-modular"}, "missing_value": "drop",
    }  # fmt: skip
    assert _run(scripts.table_script(about, plan))["plan"] == tacit.tables.TablePlan(**plan)


def test_the_wizard_and_the_servers_are_written_out(about):
    written = scripts.wizard_script(about, 'k >= 3; "x"', 6, 20, blur=True)
    assert "evaluations=6, seconds=20" in written
    assert "blur=True" in written
    compile(written, "wizard", "exec")
    policy = scripts.server_script(about)
    assert "policy.toml" in policy
    compile(policy, "server", "exec")
    asked = scripts.asking_script("https://a.example", "0" * 32, {"by": ["sex"], "a": None})
    assert '"by": ["sex"], "a": None' in asked
    compile(asked, "asking", "exec")

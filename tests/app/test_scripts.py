"""Scripts that do the same as the forms: they are run, in a folder that holds the file."""

import polars as pl
import pytest

import tacit
from tacit.app import scripts
from tacit.app.games import EXAMPLE
from tacit.app.projects import _columns as _described
from tacit.app.store.records import Project


@pytest.fixture
def about(tmp_path, monkeypatch):
    """A project whose file has a name that a script must quote."""
    monkeypatch.chdir(tmp_path)
    name = 'the "people".csv'
    data = tacit.datasets.census(60, seed=4)
    data.local.write_csv(tmp_path / name)
    return {"data": {"name": name}, "columns": _columns(data.schema)}


def _columns(schema):
    return _described(Project(roles=schema.to_toml()))


def _run(script):
    made = {}
    exec(compile(script, "script", "exec"), made)  # noqa: S102 - it is what is tested
    return made


def test_reading_gives_the_roles(about):
    schema = _run(scripts.reading_script(about))["data"].schema
    for column in about["columns"]:
        assert sorted(map(str, schema[column["name"]].roles)) == column["roles"]


def test_reading_gives_what_a_person_decided_about_kinds_and_orders(about, tmp_path):
    """A code kept as a number is nominal because somebody said so, not because of its values."""
    table = pl.DataFrame({"zip code": [1, 2, 3], "level": ["low", "high", "low"], "n": [1, 2, 3]})
    table.write_csv(tmp_path / "places.csv")
    schema = tacit.read("places.csv").with_kinds(**{"zip code": "nominal"}).schema
    schema = schema.with_categories({"level": ["low", "high"]})
    shown = {"data": {"name": "places.csv"}, "columns": _columns(schema)}
    assert _run(scripts.reading_script(shown))["data"].schema == schema


def test_a_table_of_a_database_is_read_from_there_without_its_password(about):
    taken = {"name": "patients", "database": "postgresql://warehouse/db"}
    written = scripts.reading_script({**about, "data": taken})
    assert 'tacit.read("postgresql://warehouse/db", table="patients")' in written


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


def test_the_same_plan_is_attacked(about, capsys):
    _run(scripts.attack_script(about, [{"method": "mdav", "columns": ["income"], "k": 3}]))
    assert "Outlier hunting: leaked" in capsys.readouterr().out


def test_a_query_log_is_protected(about, tmp_path):
    tacit.datasets.query_log(30).local.write_csv(tmp_path / "searches.csv")
    asked = {"columns": {"user": "user", "query": "query"}, "taxonomy": "demonstration",
             "k": 3, "levels": 2}  # fmt: skip
    _run(scripts.log_script({"data": {"name": "searches.csv"}}, asked))
    assert (tmp_path / "out" / "public" / "log.txt").is_file()


def test_a_game_is_solved(capsys):
    written = _run(scripts.game_script(EXAMPLE + '# a \\ and """ in a remark\n', 0.5))
    assert written["game"].players == ("Ana", "Bea")
    assert "relay" in capsys.readouterr().out


def test_a_table_is_protected_and_attacked(about, capsys):
    plan = {
        "by": [["sex", "employed"]], "value": None, "rule": "freq(3)", "hierarchies": {},
        "method": {"method": "suppress-modular"}, "missing_value": "drop",
    }  # fmt: skip
    assert _run(scripts.table_script(about, plan))["plan"] == tacit.tables.TablePlan(**plan)


def test_the_wizard_and_the_servers_are_written_out(about):
    asked = {"target": 'k >= 3; "x"', "plans": 6, "seconds": 20.0, "blur": True}
    written = scripts.wizard_script(about, asked)
    assert "evaluations=6, seconds=20" in written
    assert "blur=True" in written
    assert 'attacks=["linkage"]' in scripts.wizard_script(about, {**asked, "attacks": ["linkage"]})
    compile(written, "wizard", "exec")
    policy = scripts.server_script(about)
    assert "policy.toml" in policy
    compile(policy, "server", "exec")
    question = scripts.asking_script("https://a.example", "0" * 32, {"by": ["sex"], "a": None})
    assert '"by": ["sex"], "a": None' in question
    compile(question, "asking", "exec")

"""Reading what was uploaded."""

import polars as pl
import pytest

from tacit.app.store.records import Project


@pytest.fixture
def importing(parts, people, project, worker):
    """Upload a file of the given bytes and return how the job ended."""

    def run(name: str, content: bytes) -> dict:
        folder = parts.projects.folder(project) / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        asked = {"name": name, "file": name}
        job = parts.jobs.submit(people["custodian"], project, "import", asked)
        worker.step()
        return parts.jobs.show(people["custodian"], job)

    return run


def test_data_get_proposed_roles_and_the_plan_starts_anew(parts, people, project, importing):
    csv = "name,age,city,income\n" + "".join(
        f"Person {i},{20 + i % 50},Town {i % 3},{1000 + 17 * i}\n" for i in range(60)
    )
    assert importing("people.csv", csv.encode())["state"] == "done"
    about = parts.projects.show(people["custodian"], project)
    assert about["data"]["records"] == 60
    assert about["plan"] == []
    roles = {c["name"]: c["roles"] for c in about["columns"]}
    assert roles["name"] == ["identifier"]
    stored = list((parts.projects.folder(project) / "data").iterdir())
    assert [p.stem for p in stored] == [about["data"]["digest"]]
    assert list((parts.projects.folder(project) / "incoming").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wrong.parquet", b"this is no Parquet file"),
        ("wrong.xlsx", b"PK\x03\x04 broken"),
        ("empty.csv", b"a,b\n"),
        ("latin.csv", "größe\n1\n".encode("utf-16")),
    ],
)
def test_a_file_that_cannot_be_read_leaves_the_data_as_they_were(
    parts, people, project, importing, name, content
):
    before = parts.projects.show(people["custodian"], project)
    ended = importing(name, content)
    if ended["state"] == "done":
        pytest.fail(f"{name} was read")
    assert "bug" not in ended["message"]
    assert parts.projects.show(people["custodian"], project) == before
    with parts.store.read() as connection:
        found = connection.get(Project, project)
        assert pl.read_parquet(parts.projects.data_path(found)).height == 80


def test_formulas_in_cells_stay_text(parts, people, project, importing):
    rows = "".join(f"=cmd|' /C calc'!A{i},{i}\n" for i in range(30))
    assert importing("f.csv", f"note,x\n{rows}".encode())["state"] == "done"
    page = parts.projects.page(people["custodian"], project, count=1)
    assert page["rows"][0][0].startswith("=cmd")

"""Making masked versions."""

import polars as pl

import tacit
from tacit.app.projects import Projects
from tacit.app.store.records import Project


def test_the_version_is_what_the_library_gives_with_the_same_seed(parts, people, project, masked):
    with parts.store.read() as connection:
        found = connection.get(Project, project)
    data = Projects(parts.store, parts.settings).microdata(found)
    plan = tacit.Plan(found.plan)
    here = plan.apply(data, seed=1).data.local
    public = parts.versions.folder(project, masked) / "public" / "data.parquet"
    assert pl.read_parquet(public).equals(here.select(pl.read_parquet(public).columns))


def test_columns_that_leave_as_they_came_are_named(parts, people, project, masked):
    folder = parts.versions.folder(project, masked)
    public = pl.read_parquet(folder / "public" / "data.parquet")
    with parts.store.read() as connection:
        data = Projects(parts.store, parts.settings).microdata(connection.get(Project, project))
    same = {c for c in public.columns if public[c].to_list() == data.local[c].to_list()}
    shown = parts.versions.show(people["custodian"], masked)
    assert set(shown["measurements"]["unchanged"]) == same
    assert 0 < len(same) < len(public.columns)


def test_the_report_has_the_name_of_the_data_and_the_note_those_of_changed_variables(
    parts, project, masked
):
    folder = parts.versions.folder(project, masked)
    report = (folder / "dossier" / "report.html").read_text(encoding="utf-8")
    assert "<title>Release report: people.csv</title>" in report
    assert str(folder) not in report
    note = (folder / "public" / "NOTE.md").read_text(encoding="utf-8")
    assert "(changed: income, taxes)" in note


def test_a_name_taken_meanwhile_is_refused_and_leaves_no_folder(
    parts, people, project, masked, worker
):
    job = parts.jobs.submit(
        people["custodian"], project, "generate", {"name": "VERSION 1", "plan": []}
    )
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "choose another" in shown["message"]
    versions = parts.projects.folder(project) / "versions"
    assert [p.name for p in versions.iterdir()] == [masked]


def test_five_synthetic_data_sets_can_all_be_taken(parts, people, project, masked, worker, client):
    """Generated in a project with m = 5; the downloads hold five files that inference combines."""
    plan = [{"method": "synthesise", "m": 5}]
    request = {"name": "five", "plan": plan, "seed": 2}
    job = parts.jobs.submit(people["custodian"], project, "generate", request)
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "done", shown["message"]
    version = shown["result"]["version"]
    browser = client("The custodian")
    files = browser.get(f"/api/v1/versions/{version}/files").json()["public"]
    wanted = ["data.csv", *(f"data-{i}.csv" for i in range(2, 6))]
    assert set(wanted) <= set(files)
    where = f"/api/v1/versions/{version}/files/public"
    taken = [tacit.Microdata.of(pl.read_csv(browser.get(f"{where}/{n}").content)) for n in wanted]
    assert len({tuple(data.frame["income"]) for data in taken}) == 5
    mean = tacit.inference.analyse_sets(taken, tacit.inference.Mean(["income"]), rule="simple")
    assert mean.low[0] < mean.estimates[0] < mean.high[0]
    assert "rule 'simple'" in browser.get(f"{where}/NOTE.md").text

"""Attacks on versions, as jobs."""

import json

import polars as pl


def _attacked(parts, actor, project, version, worker):
    job = parts.jobs.submit(actor, project, "attack", {"version": version})
    worker.step()
    return parts.jobs.show(actor, job)


def test_the_findings_are_kept_and_the_reviewer_sees_them_without_records(
    parts, people, project, masked, worker
):
    shown = _attacked(parts, people["custodian"], project, masked, worker)
    assert shown["state"] == "done", shown["message"]
    dossier = parts.versions.folder(project, masked) / "dossier"
    full = json.loads((dossier / "attack.json").read_text(encoding="utf-8"))
    (seen,) = parts.versions.of_project(people["reviewer"], project)
    told = seen["measurements"]["attack"]
    assert [f["attack"] for f in told["findings"]] == [f["attack"] for f in full["findings"]]
    # Linkage on keys that nobody masked must succeed; otherwise the attack attacks nothing.
    linkage = next(f for f in told["findings"] if f["attack"] == "linkage")
    assert linkage["verdict"] == "leaked"
    assert not {"first_broken", "worst", "details"} & set(linkage)
    identifiers = pl.read_parquet(
        next((parts.projects.folder(project) / "data").glob("*.parquet"))
    )["person_id"]  # fmt: skip
    assert not any(value in json.dumps(told) for value in identifiers.cast(str))
    events = parts.projects.history(people["custodian"], project)
    assert events[0]["what"] == "version attacked"


def test_a_version_of_another_project_is_not_attacked(parts, people, masked, worker):
    stranger = people["stranger"]
    own = parts.projects.create(stranger, "Mine")
    shown = _attacked(parts, stranger, own, masked, worker)
    assert shown["state"] == "failed"
    assert "deleted" in shown["message"]
    (seen,) = parts.versions.of_project(
        people["custodian"], parts.projects.visible(people["custodian"])[0]["id"]
    )
    assert "attack" not in seen["measurements"]


def test_data_that_were_replaced_are_noticed(parts, people, project, masked, worker):
    incoming = parts.projects.folder(project) / "incoming"
    incoming.mkdir(exist_ok=True)
    (incoming / "other.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    asked = {"name": "other.csv", "file": "other.csv"}
    parts.jobs.submit(people["custodian"], project, "import", asked)
    worker.step()
    shown = _attacked(parts, people["custodian"], project, masked, worker)
    assert shown["state"] == "failed"
    assert "bug" not in shown["message"]

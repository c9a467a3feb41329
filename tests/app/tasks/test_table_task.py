"""Protecting tables as a job."""

import polars as pl


def _plan(**more):
    return {
        "by": [["sex", "education"]], "value": "income", "rule": "p(10)|freq(3)",
        "method": {"method": "suppress-modular"}, "missing_value": "drop", **more,
    }  # fmt: skip


def test_the_published_table_holds_no_sensitive_cell(parts, people, project, worker):
    job = parts.jobs.submit(people["custodian"], project, "table", {"name": "t", "plan": _plan()})
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "done", shown["message"]
    folder = parts.versions.folder(project, shown["result"]["version"])
    inside = pl.read_parquet(folder / "dossier" / "cells.parquet")
    assert "primary" in set(inside["status"])
    public = {p.name for p in (folder / "public").iterdir()}
    assert public == {"NOTE.md", "table.csv", "table.xlsx"}
    published = pl.read_csv(folder / "public" / "table.csv", infer_schema=False)
    hidden = inside.filter(pl.col("status").is_in(["primary", "secondary"])).height
    assert hidden >= 2
    values = published.columns[-2] if "status" in published.columns[-1] else published.columns[-1]
    shown_numbers = published[values].cast(pl.Float64, strict=False).drop_nulls().len()
    assert shown_numbers <= inside.height - hidden
    (version,) = parts.versions.of_project(people["reviewer"], project)
    assert version["measurements"]["check"]["passed"]


def test_a_table_that_cannot_be_built_says_why(parts, people, project, worker):
    job = parts.jobs.submit(
        people["custodian"], project, "table", {"name": "t", "plan": _plan(by=[["nowhere"]])}
    )
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "nowhere" in shown["message"]

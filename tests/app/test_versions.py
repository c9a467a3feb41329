"""Versions: who sees and decides what."""

import polars as pl
import pytest

from tacit.app.permissions import ConflictError, NotAllowedError, NotFoundError
from tacit.app.versions import as_csv


def test_a_reviewer_sees_measurements_and_neither_plan_nor_records(parts, people, project, masked):
    (seen,) = parts.versions.of_project(people["reviewer"], project)
    assert seen["measurements"]["risk"]
    assert "plan" not in seen
    for attempt in (
        lambda: parts.versions.page(people["reviewer"], masked),
        lambda: parts.versions.files(people["reviewer"], masked),
        lambda: parts.versions.file(people["reviewer"], masked, "public", "data.parquet"),
        lambda: parts.versions.delete(people["reviewer"], masked),
    ):
        with pytest.raises(NotAllowedError):
            attempt()


def test_others_find_nothing(parts, people, project, masked):
    for who in ("stranger", "analyst", "administrator"):
        for attempt in (
            lambda who=who: parts.versions.show(people[who], masked),
            lambda who=who: parts.versions.page(people[who], masked),
            lambda who=who: parts.versions.file(people[who], masked, "dossier", "plan.toml"),
            lambda who=who: parts.versions.decide(people[who], masked, approve=True),
        ):
            with pytest.raises(NotFoundError, match="no such version"):
                attempt()


def test_nobody_decides_on_their_own_version_and_nobody_twice(parts, people, masked):
    with pytest.raises(NotAllowedError, match="made themselves"):
        parts.versions.decide(people["custodian"], masked, approve=True)
    assert parts.versions.show(people["custodian"], masked)["why_not_decide"]
    assert not parts.versions.show(people["reviewer"], masked)["why_not_decide"]
    parts.versions.decide(people["reviewer"], masked, approve=True, remark="fine")
    shown = parts.versions.show(people["custodian"], masked)
    assert (shown["state"], shown["remark"]) == ("approved", "fine")
    with pytest.raises(ConflictError, match="decided already"):
        parts.versions.decide(people["reviewer"], masked, approve=False)
    with pytest.raises(ConflictError, match="stays"):
        parts.versions.delete(people["custodian"], masked)


@pytest.mark.parametrize("name", ["../../store.sqlite", "/etc/hostname", "..", "", "nope"])
@pytest.mark.parametrize("part", ["public", "dossier", "..", "../.."])
def test_only_files_of_the_bundle_are_given_out(parts, people, masked, part, name):
    with pytest.raises(NotFoundError):
        parts.versions.file(people["custodian"], masked, part, name)


def test_masked_names_are_unique_in_their_project(parts, people, project, masked):
    with pytest.raises(ConflictError, match="such as 'Version 1 2'"):
        parts.versions.free_name(project, "masked", "Version 1")
    assert parts.versions.free_name(project, "table", "Version 1") == "Version 1"


def test_the_masked_records_are_masked(parts, people, project, masked):
    original = parts.projects.page(people["custodian"], project)
    page = parts.versions.page(people["custodian"], masked)
    assert "person_id" in original["columns"]
    assert "person_id" not in page["columns"]
    at = [t["columns"].index("income") for t in (original, page)]
    assert [r[at[0]] for r in original["rows"]] != [r[at[1]] for r in page["rows"]]


def test_masked_data_are_there_as_csv_that_no_spreadsheet_calculates(
    parts, people, project, masked
):
    public = parts.versions.folder(project, masked) / "public"
    frame = pl.read_parquet(public / "data.parquet")
    risky = frame.with_columns(
        note=pl.Series(["=1+1", "@SUM(A1)", "-x", "plain", None] * (len(frame) // 5)),
        debt=pl.lit(-5),
    )
    risky.write_parquet(public / "data.parquet")
    assert "data.csv" in parts.versions.files(people["custodian"], masked)["public"]
    path = parts.versions.file(people["custodian"], masked, "public", "data.csv")
    written = pl.read_csv(path)
    assert written["note"].to_list()[:5] == ["'=1+1", "'@SUM(A1)", "'-x", "plain", None]
    assert written["debt"].unique().to_list() == [-5]
    assert written["income"].to_list() == pytest.approx(risky["income"].to_list())
    with pytest.raises(NotAllowedError):
        parts.versions.file(people["reviewer"], masked, "public", "data.csv")
    with pytest.raises(NotFoundError):
        parts.versions.file(people["custodian"], masked, "dossier", "data.csv")


def test_every_data_set_of_a_synthetic_version_is_there(parts, people, project, masked):
    """As CSV too, page by page, and no other number."""
    public = parts.versions.folder(project, masked) / "public"
    first = pl.read_parquet(public / "data.parquet")
    first.reverse().write_parquet(public / "data-2.parquet")
    owner = people["custodian"]
    assert parts.versions.n_data_sets(owner, masked) == 2
    assert {"data.csv", "data-2.csv"} <= set(parts.versions.files(owner, masked)["public"])
    second = pl.read_csv(parts.versions.file(owner, masked, "public", "data-2.csv"))
    assert second["income"].to_list() == first["income"].reverse().to_list()
    pages = [parts.versions.page(owner, masked, count=80, data_set=n)["rows"] for n in (1, 2)]
    assert pages[0] == pages[1][::-1]
    for number in (0, 3):
        with pytest.raises(NotFoundError):
            parts.versions.page(owner, masked, data_set=number)


def test_whole_numbers_are_written_without_decimals(tmp_path):
    frame = pl.DataFrame({"age": [34.0, None], "x": [1.5, 2.0], "none": [None, None]})
    frame = frame.cast({"none": pl.Float64})
    frame.write_parquet(tmp_path / "data.parquet")
    written = as_csv(tmp_path / "data.parquet", tmp_path / "data.csv").read_text().splitlines()
    assert written == ["age,x,none", "34,1.5,", ",2.0,"]

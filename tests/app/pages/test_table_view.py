"""What the page says of a protected table, beside its cells."""

import polars as pl
import pytest

from tacit.tables import TablePlan
from tacit.tables.protected import Status

table_view = pytest.importorskip("tacit.app.pages.tabs.table_view")


def test_every_status_has_words_of_its_own():
    words = [words for _, words in table_view._LOOKS.values()]
    assert set(table_view._LOOKS) == set(Status)
    assert len(set(words)) == len(words)


def test_a_check_that_was_asked_nothing_says_so():
    check = {"passed": True, "how": "no cell is sensitive, so there was none to attack"}
    said = table_view._outcome({"check": check, "remarks": ["No cell is sensitive by freq(3)."]})
    assert said == [f"Check: passed ({check['how']})", "No cell is sensitive by freq(3)."]


def test_linked_tables_are_drawn_one_by_one_as_they_are_published(parts, people, project, worker):
    """Respondents are households, so that a cell of one household is sensitive by freq(2)."""
    plan = {
        "by": [["sex", "education"], ["sex", "marital"]], "unit": "household", "weighted": False,
        "rule": "freq(2)", "method": {"method": "suppress-modular"},
    }  # fmt: skip
    job = parts.jobs.submit(people["custodian"], project, "table", {"name": "t", "plan": plan})
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "done", shown["message"]
    (version,) = parts.versions.of_project(people["custodian"], project)
    files = parts.versions.files(people["custodian"], version["id"])
    names = [f"table-{k}.{kind}" for k in (1, 2) for kind in ("csv", "xlsx")]
    assert files["public"] == ["NOTE.md", *names]

    folder = parts.versions.folder(project, version["id"])
    cells = pl.read_parquet(folder / "dossier" / "cells.parquet")
    drawn = list(table_view._tables(cells, ["sex", "education", "marital"], version["plan"]))
    titles = ["table-1: sex by education", "table-2: sex by marital"]
    assert [title for title, _, _ in drawn] == titles
    for number, (_, part, by) in enumerate(drawn, 1):
        published = pl.read_csv(folder / "public" / f"table-{number}.csv")
        assert published.columns[:2] == by
        assert part.height == published.height
        hidden = part.filter(pl.col("published").is_null()).select(by).rows()
        assert hidden
        assert sorted(hidden) == sorted(published.filter(flag="c").select(by).rows())


def test_a_table_alone_is_drawn_whole():
    cells = pl.DataFrame({"a": ["Total", "x"], "original": [1, 1]})
    plan = TablePlan(by=[["a"]], method={"method": "suppress-modular"}).to_toml()
    ((title, part, by),) = table_view._tables(cells, ["a"], plan)
    assert (title, part.height, by) == ("", 2, ["a"])

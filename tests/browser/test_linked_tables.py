"""Linked tables of respondents in a real browser, of records some of which lack a value."""

import polars as pl
import pytest
from playwright.sync_api import expect

import tacit

from .conftest import choose, download, log_in, open_tab, picture, unfold

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("served", ["sqlite"], indirect=True, scope="package"),
]


@pytest.fixture
def business(tmp_path):
    """A file of establishments, some of which belong together and some of which say nothing."""
    records = tacit.datasets.establishments(300, seed=5).local.drop("establishment_id")
    silent = pl.int_range(pl.len()) % 50 == 7
    records = records.with_columns(pl.when(~silent).then("turnover").alias("turnover"))
    records.write_csv(tmp_path / "business.csv")
    return tmp_path / "business.csv"


def test_linked_tables_of_respondents_are_protected_and_downloaded(house, watched, business):
    page = watched.page
    log_in(page, house, "Carl")
    page.get_by_label("Name", exact=True).fill("Business")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")
    page.set_input_files("input[type=file]", business)
    page.wait_for_selector("text=What the columns mean")

    open_tab(page, "Tables")
    choose(page, "Spanned by", "legal_form", "exporter")
    choose(page, "Cells", "add up turnover")
    unfold(page, "Further tables, linked to this one")
    page.get_by_label("Columns of further tables").fill("size_class, exporters")
    unfold(page, "Respondents, holdings and what else the records say")
    choose(page, "Respondent", "holding")
    choose(page, "Protection", "Cell suppression, hypercube")
    protect = page.get_by_role("button", name="Protect the table")
    protect.press("Enter")
    page.wait_for_selector("text=no column 'exporters' can span a further table")
    page.get_by_label("Columns of further tables").fill("size_class, exporter")
    unfold(page, "Hierarchies: codes that add up to others")
    expect(page.get_by_label("Groups of size_class")).to_be_visible()

    protect.press("Enter")  # records without a value are refused until somebody chooses
    page.wait_for_selector("text='turnover' is missing on some records (got 6 of 300)")
    choose(page, "Records without a value", "leave them out")
    protect.press("Enter")
    page.wait_for_selector("text=Check: passed")
    for title in ("table-1: legal_form by exporter", "table-2: size_class by exporter"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    picture(page, "app-linked-tables.png")

    published = pl.read_csv(download(page, "table-2.csv"))
    assert published.columns == ["size_class", "exporter", "turnover", "flag"]
    assert "c" in published["flag"].to_list()
    assert download(page, "table-1.xlsx").read_bytes()[:2] == b"PK"
    assert page.get_by_role("link", name="table.csv", exact=True).count() == 0
    plan = tacit.tables.TablePlan.from_toml(download(page, "plan.toml").read_text())
    assert (plan.unit, plan.missing_value) == ("holding", "drop")
    assert plan.by == (("legal_form", "exporter"), ("size_class", "exporter"))

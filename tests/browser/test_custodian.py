"""A custodian's work in a real browser, from log-in to a masked file and a protected table."""

import polars as pl
import pytest

import tacit

from .conftest import log_in

pytestmark = pytest.mark.browser


def test_from_log_in_to_a_masked_version_and_a_protected_table(house, watched, tmp_path):
    page = watched.page
    tacit.datasets.census(400, seed=9).local.write_csv(tmp_path / "people.csv")
    log_in(page, house, "Carl")
    page.get_by_label("Name", exact=True).fill("Survey")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")

    page.set_input_files("input[type=file]", tmp_path / "people.csv")
    page.wait_for_selector("text=What the columns mean", timeout=60_000)
    assert page.get_by_label("role of income").is_visible()
    page.get_by_role("button", name="Save what the columns mean").click()
    page.wait_for_selector("text=Saved")

    page.get_by_role("tab", name="Plan").click()
    page.get_by_role("button", name="Add a method").click()
    page.get_by_label("Method", exact=True).click()
    page.get_by_role("option", name="Microaggregation (MDAV)").first.click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("columns *").click()
    page.get_by_role("option", name="income").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save the step").click()
    page.wait_for_selector("text=replaced by the means of groups of at least 3")
    page.get_by_role("button", name="Generate").click()
    page.wait_for_selector("text=Making a masked version: done", timeout=120_000)

    page.get_by_role("tab", name="Versions").click()
    page.wait_for_selector("text=Side by side")
    page.get_by_text("Masked data").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="data.parquet").click()
    masked = pl.read_parquet(download.value.path())
    assert masked.height == 400
    assert masked["income"].value_counts()["count"].min() >= 3

    page.get_by_role("tab", name="Tables").click()
    page.get_by_label("Spanned by").click()
    for name in ("region", "sex"):
        page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Protect the table").click()
    page.wait_for_selector("text=Check: passed", timeout=120_000)
    watched.check_clean()

"""A custodian's work in a real browser, from log-in to a masked file and a protected table."""

import subprocess
import sys

import polars as pl
import pytest
from playwright.sync_api import expect

import tacit

from .conftest import choose, download, log_in, open_tab, picture, unfold

pytestmark = pytest.mark.browser


def test_from_log_in_to_a_masked_version_and_a_protected_table(house, watched, tmp_path):
    page = watched.page
    people = tacit.datasets.census(400, seed=9).local
    people.write_csv(tmp_path / "people.csv")
    log_in(page, house, "Carl")
    page.get_by_label("Name", exact=True).fill("Survey")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")

    page.set_input_files("input[type=file]", tmp_path / "people.csv")
    page.wait_for_selector("text=What the columns mean")
    expect(page.get_by_label("role of income")).to_be_visible()
    page.get_by_role("button", name="Save what the columns mean").click()
    page.wait_for_selector("text=Saved")

    open_tab(page, "Plan")
    page.get_by_role("button", name="Add a method").click()
    page.get_by_label("Method", exact=True).click()
    page.get_by_role("option", name="Microaggregation (MDAV)").first.click()
    page.get_by_role("button", name="Go on").click()
    choose(page, "columns *", "income")
    page.get_by_role("button", name="Save the step").click()
    page.wait_for_selector("text=replaced by the means of groups of at least 3")
    page.get_by_role("button", name="Generate").click()
    page.wait_for_selector("text=Making a masked version: done")
    _run_what_is_shown(page, tmp_path)

    open_tab(page, "Versions")
    page.wait_for_selector("text=Side by side")
    unfold(page, "Masked data")
    masked = pl.read_parquet(download(page, "data.parquet"))
    assert masked.height == 400
    assert masked["income"].value_counts()["count"].min() >= 3

    open_tab(page, "Tables")
    choose(page, "Spanned by", "region", "sex")
    unfold(page, "Hierarchies: codes that add up to others")
    coast = f"coast = {', '.join(people['region'].unique().sort()[:2])}"
    expect(page.get_by_label("Groups of sex")).to_be_visible()
    # By the keyboard: a field that grows with its text moves the button away from the mouse.
    page.get_by_label("Groups of region").fill(f"{coast}, nowhere")
    page.get_by_role("button", name="Protect the table").press("Enter")
    page.wait_for_selector("text=has no code 'nowhere'")
    page.get_by_label("Groups of region").fill(coast)
    page.get_by_role("button", name="Protect the table").press("Enter")
    page.wait_for_selector("text=Check: passed")
    expect(page.get_by_role("rowheader", name="coast")).to_be_visible()
    expect(page.get_by_label("Groups of region")).to_have_value(coast)
    expect(page.get_by_label("Name of the table")).to_have_value("table 2")
    picture(page, "app-table.png")


def _run_what_is_shown(page, folder):
    """The script under the plan, run where the file is, gives a release by the same plan."""
    unfold(page, "The same in Python")
    script, plan = (page.locator("pre").nth(n).inner_text() for n in (0, 1))
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    made = tacit.Plan.load(folder / "out" / "dossier" / "plan.toml")
    assert made == tacit.Plan.from_toml(plan)
    assert pl.read_csv(folder / "out" / "public" / "data.csv").height == 400


@pytest.mark.parametrize("served", ["postgres"], indirect=True, scope="package")
def test_a_table_of_a_database_is_chosen_and_its_password_shown_to_nobody(house, watched):
    page = watched.page
    for name, records in (("patients", 60), ("other patients", 1)):
        tacit.write(tacit.datasets.patients(records), house.warehouse, table=name)
    log_in(page, house, "Carl")
    page.get_by_label("Name", exact=True).fill("From the warehouse")
    page.get_by_role("button", name="Create project").click()
    unfold(page, "Or take a table of a database")
    shown = page.get_by_label("Address of the database")
    expect(shown).to_have_value(f"postgresql://{house.warehouse.rpartition('@')[2]}")
    page.get_by_role("button", name="Take the table").click()
    page.wait_for_selector("text=no table is chosen")
    page.get_by_role("button", name="Show its tables").click()
    expect(page.get_by_label("Table", exact=True)).to_be_enabled()
    choose(page, "Table", "patients")
    page.get_by_role("button", name="Take the table").click()
    page.wait_for_selector("text=What the columns mean")
    expect(page.get_by_label("role of Diagnosis")).to_be_visible()
    assert house.warehouse.split(":")[2].partition("@")[0] not in page.content()

"""An analyst's questions in a real browser: answered, refused, and never a record."""

import polars as pl
import pytest
from playwright.sync_api import expect

from .conftest import choose, log_in, open_tab, picture, visit

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def invited(house, context):
    """The demo project with an open query server, to which the analyst is invited."""
    with visit(context) as seen:
        page = seen.page
        log_in(page, house, "Ann")
        page.get_by_role("link", name="Demo: a made-up census").click()
        open_tab(page, "Query")
        page.get_by_text("The query server is open").click()
        page.get_by_role("button", name="Save").click()
        page.wait_for_selector("text=Saved")
        open_tab(page, "People")
        page.get_by_label("Name of the account").fill("Alan")
        choose(page, "Takes part as", "analyst: asks the query server")
        page.get_by_role("button", name="Invite").click()
        page.wait_for_selector("text=Alan, analyst")
    return house


def test_a_table_a_model_and_a_refusal(invited, watched):
    page = watched.page
    log_in(page, invited, "Alan")
    page.get_by_role("link", name="Demo: a made-up census").click()
    page.wait_for_selector("text=Whom the question is about")

    chip = page.locator(".q-chip[draggable=true]", has_text="sex").locator("visible=true")
    chip.drag_to(page.locator(".q-select", has_text="Spanned by"))
    page.locator(".q-select .q-chip", has_text="sex").wait_for()
    page.get_by_role("button", name="Ask for the table").click()
    page.wait_for_selector("text=Policy strict")
    expect(page.get_by_role("cell", name="female")).to_be_visible()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download as CSV").click()
    assert pl.read_csv(taken.value.path())["sex"].to_list() == ["female", "male"]

    _equation(page)
    page.get_by_role("button", name="Fit the model").click()
    page.wait_for_selector("text=standard error")
    page.get_by_role("button", name="Does the model fit?").click()
    page.get_by_role("img", name="Synthetic residuals against age").wait_for()
    picture(page, "app-query.png")

    page.get_by_label("Formula").fill("income ~ age ** 7")
    page.get_by_role("button", name="Fit the model").click()
    page.wait_for_selector("text=Not answered, by the rule")


def test_every_analysis_has_its_form(invited, watched):
    page = watched.page
    log_in(page, invited, "Alan")
    page.get_by_role("link", name="Demo: a made-up census").click()
    page.wait_for_selector("text=Whom the question is about")
    page.get_by_role("tab", name="Other analyses").press("Enter")
    page.wait_for_function("document.querySelectorAll('.q-tab-panel').length == 1")
    choose(page, "Analysis", "Summary statistics")
    page.get_by_role("button", name="Ask", exact=True).press("Enter")
    page.wait_for_selector("text=Not answered, by the rule")
    choose(page, "numbers *", "income")
    page.get_by_role("button", name="Ask", exact=True).press("Enter")
    expect(page.get_by_role("cell", name="income", exact=True)).to_be_visible()


def _equation(page):
    """Put a regression together: one variable by dragging, one by the keyboard, one by a press."""
    page.get_by_role("tab", name="Regression").click()
    page.get_by_label("Formula").wait_for()
    page.wait_for_function("document.querySelectorAll('.q-tab-panel').length == 1")
    chips = page.locator(".q-chip[draggable=true]").locator("visible=true")
    chips.filter(has_text="income").drag_to(page.locator(".q-select", has_text="Explain"))
    expect(page.get_by_label("Explain")).to_have_value("income")
    chips.filter(has_text="age").focus()
    page.keyboard.press("Enter")
    page.locator(".q-select .q-chip", has_text="age").wait_for()
    chips.filter(has_text="sex").click()
    expect(page.get_by_label("Formula")).to_have_value("income ~ age + sex")


def test_an_analyst_finds_no_project_page_and_no_records(invited, watched):
    page = watched.page
    log_in(page, invited, "Alan")
    address = page.get_by_role("link", name="Demo: a made-up census").get_attribute("href")
    project = address.rsplit("/", 1)[1]
    watched.expected = "status of 40"
    inside = f"/api/v1/projects/{project}"
    for path in (f"/project/{project}", f"{inside}/data", f"{inside}/versions", "/people"):
        answer = page.goto(f"{invited.address}{path}")
        assert answer.status in (403, 404), path
        assert "P0000" not in page.content()

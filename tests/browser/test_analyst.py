"""An analyst's questions in a real browser: answered, refused, and never a record."""

import pytest

from .conftest import log_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def invited(house, browser):
    """The demo project with an open query server, to which the analyst is invited."""
    context = browser.new_context()
    page = context.new_page()
    log_in(page, house, "Ann")
    page.get_by_role("link", name="Demo: a made-up census").click()
    page.get_by_role("tab", name="Query").click()
    page.get_by_text("The query server is open").click()
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("text=Saved")
    page.get_by_role("tab", name="People").click()
    page.get_by_label("Name of the account").fill("Alan")
    page.get_by_label("Takes part as").click()
    page.get_by_role("option", name="analyst: asks the query server").click()
    page.get_by_role("button", name="Invite").click()
    page.wait_for_selector("text=Alan, analyst")
    context.close()
    return house


def test_a_table_a_model_and_a_refusal(invited, watched):
    page = watched.page
    log_in(page, invited, "Alan")
    page.get_by_role("link", name="Demo: a made-up census").click()
    page.wait_for_selector("text=Whom the question is about", timeout=60_000)

    page.get_by_label("Spanned by").click()
    page.get_by_role("option", name="sex", exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Ask for the table").click()
    page.wait_for_selector("text=Policy strict", timeout=60_000)
    assert page.get_by_role("cell", name="female").is_visible()

    page.get_by_role("tab", name="Regression").click()
    page.get_by_label("Formula").fill("income ~ age + sex")
    page.get_by_role("button", name="Fit the model").click()
    page.wait_for_selector("text=standard_error", timeout=60_000)

    page.get_by_label("Formula").fill("income ~ age ** 7")
    page.get_by_role("button", name="Fit the model").click()
    page.wait_for_selector("text=Not answered, by the rule")
    watched.check_clean()


def test_an_analyst_finds_no_project_page_and_no_records(invited, watched):
    page = watched.page
    log_in(page, invited, "Alan")
    address = page.get_by_role("link", name="Demo: a made-up census").get_attribute("href")
    project = address.rsplit("/", 1)[1]
    inside = f"/api/v1/projects/{project}"
    for path in (f"/project/{project}", f"{inside}/data", f"{inside}/versions", "/people"):
        answer = page.goto(f"{invited.address}{path}")
        assert answer.status in (403, 404), path
        assert "P0000" not in page.content()

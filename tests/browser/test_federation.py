"""Agencies in a real browser: the house is asked, says yes, and the pooled answer is shown."""

import pytest

from .conftest import choose, log_in, open_tab, picture, unfold

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("served", ["sqlite"], indirect=True, scope="package")
def test_a_house_asks_agencies_and_is_one_itself(house, watched):
    page = watched.page
    log_in(page, house, "Ann")
    page.get_by_role("link", name="Demo: a made-up census").click()
    open_tab(page, "Partners")
    page.get_by_text("Closed: nobody can ask about these data.").wait_for()
    page.get_by_role("button", name="Open with these rules").click()
    page.get_by_text("Open: ours listens on port").wait_for()

    choose(page, "variables *", "age", "income")
    page.get_by_label("What the result is for (told to the agencies)").fill("three towns compared")
    page.get_by_role("button", name="Ask the agencies").click()
    page.get_by_text("coordinator asks to compute").wait_for()
    page.get_by_text("for: three towns compared").wait_for()
    picture(page, "app-partners.png")
    page.get_by_role("button", name="Take part").click()
    page.get_by_text("Agencies in it: north, ours, south").wait_for()
    page.get_by_text("Result of mean").wait_for()
    unfold(page, "The agency's own log")
    page.get_by_role("cell", name="released").wait_for()

    open_tab(page, "History")
    page.get_by_text("computation joined").wait_for()
    log_in(page, house, "Alan")
    assert "Partners" not in page.content()

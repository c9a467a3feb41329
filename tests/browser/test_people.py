"""Accounts in a real browser: the administrator's page, one's own password and keys."""

import httpx
import pytest

from .conftest import PASSWORD, choose, log_in

pytestmark = pytest.mark.browser


def test_an_administrator_makes_and_closes_an_account(house, watched):
    page = watched.page
    log_in(page, house, "Ann")
    page.get_by_role("link", name="People").click()
    page.get_by_label("Name", exact=True).fill("Carl")
    page.get_by_label("First password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.wait_for_selector("text=there is an account of this name")
    page.get_by_label("Name", exact=True).fill("Zoe")
    choose(page, "Role", "analyst")
    page.get_by_role("button", name="Create account").click()
    page.wait_for_selector("text=Zoe, analyst")
    page.get_by_role("button", name="Close Zoe").click()
    page.wait_for_selector("text=Zoe, analyst, closed")
    page.get_by_role("button", name="Open Zoe").click()
    page.get_by_role("button", name="Close Zoe").wait_for()
    page.get_by_role("button", name="New role Zoe").click()
    choose(page, "New role", "custodian")
    page.get_by_role("button", name="Change the role").click()
    page.wait_for_selector("text=Zoe, custodian")
    page.get_by_role("button", name="New password Zoe").click()
    page.get_by_label("New password", exact=True).fill("another long sentence")
    page.get_by_role("button", name="Set the password").click()
    page.wait_for_selector("text=The password is set")
    told = {"name": "Zoe", "password": "another long sentence"}
    begun = httpx.post(f"{house.address}/api/v1/session", json=told)
    assert begun.json()["role"] == "custodian"


def test_keys_work_until_they_are_revoked_and_passwords_change(house, watched):
    page = watched.page
    log_in(page, house, "Alan")
    page.get_by_role("link", name="Alan (analyst)").click()
    page.get_by_label("What is the key for?").fill("a script")
    page.get_by_role("button", name="Create a key").click()
    page.wait_for_selector("text=Copy it now")
    key = page.locator("pre").inner_text().strip()
    assert _projects(house, key) == 200
    page.get_by_role("button", name="Revoke a script").click()
    page.get_by_role("button", name="Revoke a script").wait_for(state="hidden")
    assert _projects(house, key) == 401

    page.get_by_label("Present password").fill("not this one at all")
    page.get_by_label("Next password").fill(PASSWORD + "!")
    page.get_by_role("button", name="Change it").click()
    page.wait_for_selector(".q-notification")
    assert page.url.endswith("/account")


def _projects(house, key):
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(f"{house.address}/api/v1/projects", headers=headers).status_code

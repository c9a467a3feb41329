"""Every page: names for all that can be used, no picture without words, no sideways scrolling."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest

import tacit
from tacit.app import pages

from .conftest import PASSWORD, choose, download, log_in, open_tab, unfold, visit

pytestmark = [
    pytest.mark.browser,
    # How pages look does not depend on the store; what they do is walked through on both.
    pytest.mark.parametrize("served", ["sqlite"], indirect=True, scope="package"),
]
TABS = ("Data", "Plan", "Wizard", "Versions", "Tables", "Query", "Partners", "People", "History")
ASKING = {"Table": "Ask for the table", "Regression": "Fit the model", "Other analyses": "Ask"}
_FAULTS = """() => {
    const seen = e => e.getClientRects().length && getComputedStyle(e).visibility != 'hidden';
    const text = id => document.getElementById(id)?.innerText.trim();
    const name = e => e.getAttribute('aria-label') || e.title || e.innerText?.trim()
        || (e.getAttribute('aria-labelledby') || '').split(' ').map(text).join('')
        || [...(e.labels || [])].map(l => l.innerText.trim()).join('')
        || e.closest('label')?.innerText.trim() || e.alt;
    const used = 'input:not([type=hidden]), textarea, select, button, a[href], [role=switch], '
        + '[role=combobox], [role=checkbox], [role=tab], [contenteditable=true]';
    const told = e => e.outerHTML.slice(0, 200);
    const faults = [...document.querySelectorAll(used)]
        .filter(e => seen(e) && !name(e)).map(e => 'no name: ' + told(e));
    for (const e of document.querySelectorAll('img, [role=img], canvas'))
        if (seen(e) && !e.closest('[aria-hidden=true]') && !e.closest('[aria-label]') && !e.alt)
            faults.push('no words: ' + told(e));
    if (!document.documentElement.lang) faults.push('no language');
    if (document.querySelectorAll('h1, [aria-level="1"]').length != 1) faults.push('no heading');
    return faults;
}"""
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_PALE = """() => {
    const light = c => c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const colour = text => (text.match(/[\\d.]+/g) || []).map(Number);
    const under = e => { for (; e; e = e.parentElement) {
        const c = colour(getComputedStyle(e).backgroundColor);
        if (c.length == 3 || c[3] > .5) return c.slice(0, 3); } return [255, 255, 255]; };
    const found = [];
    for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
        const exempt = e.closest('.disabled, .q-icon, script, style, pre, .cm-editor');
        if (!own || !e.getClientRects().length || exempt) continue;
        const [a, b] = [light(colour(getComputedStyle(e).color).slice(0, 3)), light(under(e))];
        const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (contrast < 4.5) found.push(contrast.toFixed(1) + ' ' + e.outerHTML.slice(0, 160));
    }
    return found;
}"""


def _faults(page):
    """Return what is wrong with the page that is shown."""
    found = page.evaluate(_FAULTS) + page.evaluate(_PALE)
    page.set_viewport_size({"width": 390, "height": 800})
    for _ in range(100):  # scripts answer the new size, on a busy machine a little later
        page.wait_for_timeout(150)
        if (extra := page.evaluate(_TOO_WIDE)) <= 0:
            break
    if extra > 0:
        found.append(f"scrolls sideways by {extra} px")
    page.set_viewport_size({"width": 1200, "height": 900})
    return found


@pytest.fixture(scope="module")
def protected(house, context):
    """The demo project with a masked version and a protected table."""
    with visit(context) as seen:
        page = seen.page
        log_in(page, house, "Ann")
        page.get_by_role("link", name="Demo: a made-up census").click()
        open_tab(page, "Plan")
        page.get_by_role("button", name="Generate").click()
        page.wait_for_selector("text=Making a masked version: done")
        open_tab(page, "Tables")
        choose(page, "Spanned by", "region", "sex")
        page.get_by_role("button", name="Protect the table").click()
        page.wait_for_selector("text=Check: passed")
    return house


def test_pages_can_be_read_and_used_by_everybody(protected, watched):
    page = watched.page
    page.goto(f"{protected.address}/login")
    faults = {"login": _faults(page)}
    log_in(page, protected, "Ann")
    for path in ("/people", "/account", "/coprivacy", "/"):
        page.goto(f"{protected.address}{path}")
        page.wait_for_selector("[role=main]")
        faults[path] = _faults(page)
    page.get_by_role("link", name="Demo: a made-up census").click()
    for tab in TABS:
        open_tab(page, tab)
        if tab == "Versions":
            unfold(page, "Masked data “version 1”")
            unfold(page, "Records beside the original")
            page.wait_for_selector("text=/1 to \\d+ of/ >> visible=true")
        if tab == "Tables":
            unfold(page, "Further tables, linked to this one")
            unfold(page, "Respondents, holdings and what else the records say")
        faults[tab] = _faults(page)
    with _open_server(page, protected):
        page.goto(page.url.replace("/project/", "/ask/"))
        page.wait_for_selector("text=Whom the question is about")
        for tab, button in ASKING.items():
            page.get_by_role("tab", name=tab, exact=True).press("Enter")
            page.get_by_role("button", name=button, exact=True).wait_for()
            page.wait_for_function("document.querySelectorAll('.q-tab-panel').length == 1")
            faults[f"ask: {tab}"] = _faults(page)
    assert {where: found for where, found in faults.items() if found} == {}


@contextmanager
def _open_server(page, house):
    """Open the query server of the project that is shown, for a while."""
    project = page.url.split("/project/")[1].partition("?")[0]
    address = f"{house.address}/api/v1/projects/{project}/service"
    headers = {"X-CSRF-Token": _csrf_of(page, house)}
    policy = page.request.get(address).json()["policy"]
    told = {"policy": policy, "active": True}
    assert page.request.put(address, data=told, headers=headers).ok
    try:
        yield
    finally:
        page.request.put(address, data=told | {"active": False}, headers=headers)


def _csrf_of(page, house):
    return page.request.get(f"{house.address}/api/v1/session").json()["csrf"]


def test_cells_of_a_table_tell_what_became_of_them(protected, watched):
    """Sensitive cells are coloured, withheld, and say what an intruder could work out."""
    page = watched.page
    log_in(page, protected, "Ann")
    page.get_by_role("link", name="Demo: a made-up census").click()
    open_tab(page, "Tables")
    hidden = page.locator("table.cells td", has_text="×")
    hidden.first.hover()
    told = hidden.first.get_attribute("title")
    assert "sensitive by a rule (freq(3))" in told or "withheld to protect others" in told
    told = [cell.get_attribute("title") for cell in hidden.all()]
    assert any("an intruder can tell: 0 to" in words for words in told)
    assert "rgb(246, 198, 194)" in {
        cell.evaluate("e => getComputedStyle(e).backgroundColor") for cell in hidden.all()[:50]
    }
    hidden.first.focus()
    below = page.evaluate("getComputedStyle(document.activeElement, '::after').content")
    assert hidden.first.get_attribute("title") in below  # for those who have no mouse to point with


def test_a_synthetic_method_has_its_form_and_the_dialog_works_by_keyboard(house, watched):
    page = watched.page
    log_in(page, house, "Ann")
    page.get_by_role("link", name="Demo: a made-up census").click()
    open_tab(page, "Plan")
    page.get_by_role("button", name="Add a method").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Method", exact=True)
    field.focus()
    page.keyboard.type("Synthetic data (sequential)")
    page.get_by_role("option", name="Synthetic data (sequential)").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Go on").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Save the step").wait_for()
    assert page.evaluate(_FAULTS) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save the step").wait_for(state="hidden")


def test_what_is_not_there_is_said(house, watched):
    page = watched.page
    log_in(page, house, "Carl")
    watched.expected = "status of 404"
    answer = page.goto(f"{house.address}/project/{'0' * 32}")
    assert answer.status == 404
    page.wait_for_selector("text=There is no such project")
    page.get_by_role("link", name="Back to your projects").click()
    page.get_by_label("Name", exact=True).fill("Nothing yet")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")
    for tab in ("Plan", "Wizard", "Tables", "Query"):
        open_tab(page, tab)
        page.wait_for_selector("text=The project has no data yet")
    open_tab(page, "Versions")
    page.wait_for_selector("text=No version yet")


def test_a_file_that_is_refused_is_refused_in_the_servers_words(house, watched, tmp_path):
    (tmp_path / "people.exe").write_bytes(b"MZ")
    page = watched.page
    watched.expected = "status of 422"
    _new_project(page, house, "Refused")
    page.set_input_files("input[type=file]", tmp_path / "people.exe")
    page.wait_for_selector("text=this kind of file cannot be read (got 'people.exe')")


def test_a_project_is_renamed_and_deleted_by_its_name(house, watched):
    page = watched.page
    _new_project(page, house, "Short-lived")
    open_tab(page, "People")
    page.get_by_label("Name of the project").fill("Demo: a made-up census")
    page.get_by_role("button", name="Save name and purpose").click()
    page.wait_for_selector("text=a project of this name is there already")
    page.get_by_label("Name of the project").fill("Longer-lived")
    page.get_by_role("button", name="Save name and purpose").click()
    page.get_by_role("heading", name="Longer-lived").wait_for()
    page.get_by_role("button", name="Delete the project").click()
    page.get_by_label("Type its name to go on").fill("Short-lived")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_selector("text=this is not the name of the project")
    page.get_by_label("Type its name to go on").fill("Longer-lived")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url(f"{house.address}/")
    assert not page.get_by_role("link", name="Longer-lived").count()


def _new_project(page, house, name):
    log_in(page, house, "Carl")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")


PAGES = {
    # For nobody, an analyst, a reviewer, another custodian, the administrator and the owner.
    "/": "303 200 200 200 200 200",
    "/account": "303 200 200 200 200 200",
    "/coprivacy": "303 200 200 200 200 200",
    "/people": "303 404 404 404 200 404",
    "/project/{project}": "303 404 404 404 404 200",
    "/ask/{project}": "303 404 404 404 404 404",  # its query server is not open
}


def _pages_of_the_app():
    return [
        page
        for path in Path(pages.__file__).parent.rglob("*.py")
        for page in re.findall(r'ui\.page\("([^"]+)"', path.read_text(encoding="utf-8"))
    ]


def test_every_page_is_asked_by_everybody(house, watched):
    assert sorted(_pages_of_the_app()) == sorted(PAGES)
    page = watched.page
    _new_project(page, house, "Seen by Carl alone")
    made = page.url.rpartition("/")[2]
    log_in(page, house, "Ann")
    page.request.post(
        f"{house.address}/api/v1/accounts",
        data={"name": "Otto", "role": "custodian", "password": PASSWORD},
        headers={"X-CSRF-Token": _csrf_of(page, house)},
    )
    for place, name in enumerate((None, "Alan", "Rita", "Otto", "Ann", "Carl")):
        log_in(page, house, name) if name else page.context.clear_cookies()
        for path, statuses in PAGES.items():
            address = f"{house.address}{path.format(project=made)}"
            answer = page.request.get(address, max_redirects=0)
            assert str(answer.status) == statuses.split()[place], (path, name)
            if name != "Carl":
                assert "Seen by Carl alone" not in answer.text()


def test_a_game_is_solved(house, watched):
    page = watched.page
    log_in(page, house, "Alan")
    page.get_by_role("link", name="Coprivacy").click()
    page.get_by_role("button", name="Find the equilibria").click()
    page.wait_for_selector("text=correlated coprivacy: yes")


def test_a_query_log_is_protected(house, watched, tmp_path):
    page = watched.page
    tacit.datasets.query_log(60).local.write_csv(tmp_path / "searches.csv")
    log_in(page, house, "Carl")
    page.get_by_label("Name", exact=True).fill("Searches")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")
    page.set_input_files("input[type=file]", tmp_path / "searches.csv")
    page.get_by_role("link", name="Or protect it as a query log").click()
    page.get_by_role("button", name="Protect the log").click()
    page.get_by_role("link", name="Next: look at the protected log").click()
    unfold(page, "Query log “log 1”")
    page.wait_for_selector("text=User k-anonymity")
    assert download(page, "log.txt").read_text().startswith("AnonID")

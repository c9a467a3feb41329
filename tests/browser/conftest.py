"""A real app, a real browser."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60_000
"""Milliseconds after which what does not come is taken to never come: machines are shared."""
PASSWORD = "correct horse battery"  # noqa: S105 - of people who live as long as a test
RECORDS = "3000"
"""People of the demo project: enough for a few models under the default policy."""
_QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before xdist, which reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Run the tests of one store in one process and in a row: its app and browser start once."""
    own = {item: _store(item) for item in items if item.path.parent == Path(__file__).parent}
    for item, store in own.items():
        item.add_marker(pytest.mark.xdist_group(f"browser {store}"))
    yield
    places = [place for place, item in enumerate(items) if item in own]
    ordered = sorted((items[place] for place in places), key=own.__getitem__, reverse=True)
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


def _store(item: pytest.Item) -> str:
    return str(item.callspec.params.get("served")) if hasattr(item, "callspec") else ""


@dataclass
class Served:
    """A running app."""

    address: str
    setup: str
    folder: Path
    warehouse: str = ""
    """A database of which people may take tables."""
    cookies: dict[str, Any] = field(default_factory=dict)
    """Of people who have logged in before; the app counts log-ins."""


@dataclass
class Watched:
    """A page, and what went wrong or outside while it was looked at."""

    page: Any
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    expected: str = ""
    """Words of console errors that the test provokes, such as the status of a page not found."""

    def check_clean(self) -> None:
        """Check that nothing went wrong and nothing left this machine."""
        assert [e for e in self.errors if not self.expected or self.expected not in e] == []
        assert self.outside == []


@contextmanager
def visit(context: Any) -> Iterator[Watched]:
    """Open a page that is watched for errors and requests to the outside, to its very end."""
    seen = Watched(context.new_page())
    seen.page.on("console", lambda m: seen.errors.append(m.text) if m.type == "error" else None)
    seen.page.on("pageerror", lambda e: seen.errors.append(str(e)))
    seen.page.on("request", lambda r: seen.outside.append(r.url) if _is_outside(r.url) else None)
    yield seen
    seen.page.close()
    seen.check_clean()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Start Chromium; stop it with the folder, for its event loop is in the way of others."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if program is None:
        reason = "Chromium is not installed (apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(_QUIET))
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def agencies(
    tmp_path_factory: pytest.TempPathFactory, free_port: Callable[[], int]
) -> Iterator[dict[str, str]]:
    """Two agencies that answer whoever asks, and the settings of a house that is the third."""
    from tacit.datasets import census
    from tacit.federated import Agency, AgencyServer, make_certificates

    keys = make_certificates(
        tmp_path_factory.mktemp("federation") / "keys", ["ours", "north", "south"]
    )
    servers = []
    for seed, name in enumerate(("north", "south")):
        member = Agency(keys[name].identity(), census(90, seed=seed), keys[name].roster())
        servers.append(AgencyServer(member, keys[name], ("127.0.0.1", 0)))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
    own = f"127.0.0.1:{free_port()}"
    where = [f"north=127.0.0.1:{servers[0].port}", f"south=127.0.0.1:{servers[1].port}"]
    yield {
        "TACIT_AGENCY_KEYS": str(keys["ours"].folder), "TACIT_AGENCY_LISTEN": own,
        "TACIT_COORDINATOR_KEYS": str(keys["coordinator"].folder),
        "TACIT_AGENCIES": ",".join([f"ours={own}", *where]),
    }  # fmt: skip
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="package", params=["sqlite", "postgres"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Serve the app with the demo project, on each kind of store."""
    folder = tmp_path_factory.mktemp("house")
    options, given, warehouse = [], {"TACIT_DEMO_RECORDS": RECORDS}, ""
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        for name in ("house", "warehouse"):
            server.run(f"DROP DATABASE IF EXISTS {name}")
            server.run(f"CREATE DATABASE {name}")
        options = ["--database", server.url_with(server.password, "house")]
        given["TACIT_DATABASES"] = warehouse = server.url_with(server.password, "warehouse")
    else:
        given |= request.getfixturevalue("agencies")
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit.cli", "serve", "--demo", "--port", "0",
         "--folder", str(folder), *options],
        stdout=subprocess.PIPE, text=True, env={**os.environ, **given},
    )  # fmt: skip
    line = process.stdout.readline()
    found = re.search(r"(http://[^/\s]+)(/\S*)", line)
    assert found, f"the app did not start: {line}"
    yield Served(found[1], found[0], folder, warehouse)
    process.terminate()
    process.wait(60)
    process.stdout.close()


def new_context(browser: Any) -> Any:
    """Open the browser of somebody else, with patience for a busy machine.

    Nothing moves: what slides away while the mouse is pressed on it is not clicked.
    """
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture(scope="package")
def context(served: Served, browser: Any) -> Iterator[Any]:
    """Open a browser that keeps the scripts it has fetched, not who was logged in."""
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def watched(context: Any) -> Iterator[Watched]:
    """Open a page of nobody yet; every test ends with the check that nothing went wrong."""
    context.clear_cookies()
    with visit(context) as seen:
        yield seen


def _is_outside(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))


@pytest.fixture(scope="package")
def house(served: Served, context: Any) -> Served:
    """The served app after its first person has come in and made the others' accounts."""
    with visit(context) as seen:
        page = seen.page
        page.goto(served.setup)
        for place in ("#name", "#password", "#again"):
            page.fill(place, "Ann" if place == "#name" else PASSWORD)
        page.click("button")
        page.wait_for_selector("text=Demo: a made-up census")
        session = page.request.get(f"{served.address}/api/v1/session").json()
        for name, role in (("Rita", "reviewer"), ("Alan", "analyst"), ("Carl", "custodian")):
            made = page.request.post(
                f"{served.address}/api/v1/accounts",
                data={"name": name, "role": role, "password": PASSWORD},
                headers={"X-CSRF-Token": session["csrf"]},
            )
            assert made.status == 201, made.text()
        served.cookies["Ann"] = page.context.cookies()
    return served


def log_in(page: Any, house: Served, name: str) -> None:
    """Log in by the form, or go on as somebody who did so before."""
    page.context.clear_cookies()
    if name in house.cookies:
        page.context.add_cookies(house.cookies[name])
        page.goto(f"{house.address}/")
        return
    page.goto(f"{house.address}/login")
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("button")
    page.wait_for_url(f"{house.address}/")
    house.cookies[name] = page.context.cookies()


def choose(page: Any, label: str, *options: str) -> None:
    """Choose in a field that offers a list."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=options[0], exact=True).wait_for()
    several = page.locator("[role=listbox][aria-multiselectable=true]").count() > 0
    for option in options:
        found = page.get_by_role("option", name=option, exact=True)
        found.click()
        if several:  # the server hears of one before the next, or the next would replace it
            page.locator("[role=option][aria-selected=true]", has_text=option).first.wait_for()
    if several:
        page.keyboard.press("Escape")
    # A list that is still fading away would offer its options to the next field.
    page.wait_for_function("!document.querySelector('[role=listbox]')")


def until(act: Callable[[float], object]) -> None:
    """Do something until it shows; like a person, again if the page moved under the mouse."""
    from playwright.sync_api import TimeoutError as Late

    for patience in (PATIENCE / 6, PATIENCE / 3):
        with suppress(Late):
            act(patience)
            return
    act(PATIENCE)


def open_tab(page: Any, name: str) -> None:
    """Open a tab of a project, by the keyboard: a tab that is being moved escapes the mouse."""

    def choose_it(patience: float) -> None:
        page.get_by_role("tab", name=name, exact=True).press("Enter")
        page.get_by_role("tabpanel", name=name, exact=True).wait_for(timeout=patience)

    until(choose_it)


def unfold(page: Any, title: str) -> None:
    """Open a box, unless it is open."""
    head = ".q-expansion-item__container > .q-item"
    opened = page.locator(f".q-expansion-item--expanded > {head}", has_text=title)
    box = page.locator(head, has_text=title).locator("visible=true").first
    box.wait_for()
    if not opened.count():
        box.click()
    opened.first.wait_for()


def picture(page: Any, name: str) -> None:
    """Keep what is seen, where the variable PICTURES names a folder: for the documentation."""
    if folder := os.environ.get("PICTURES"):
        page.add_style_tag(content=".q-notification {display: none}")
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=Path(folder) / name, full_page=True)


def download(page: Any, name: str) -> Path:
    """Fetch a file by its link."""
    link = page.get_by_role("link", name=name).locator("visible=true").first
    found: list[Path] = []

    def click(patience: float) -> None:
        with page.expect_download(timeout=patience) as download:
            link.click()
        found.append(Path(download.value.path()))

    until(click)
    return found[0]

"""The walk of TFB's Appendix A (A.1 to A.6) in a real browser, and what came since.

The data are those of Table A.1: ten patients, of whom sampling keeps eight.
"""

import re

import polars as pl
import pytest
from playwright.sync_api import expect

from .conftest import (
    PATIENCE,
    choose,
    download,
    log_in,
    new_context,
    open_tab,
    picture,
    unfold,
    visit,
)

pytestmark = pytest.mark.browser

PATIENTS = """Name,SSN,Age,State,Diagnosis,Income,Billing
John Wayne,123456789,44,MI,AIDS,45500,1200
Mary Gore,323232323,44,MI,Asthma,37900,2500
John Banks,232345656,55,MI,AIDS,67000,3000
Jesse Casey,333333333,44,MI,Asthma,21000,1000
Jack Stone,444444444,55,MI,Asthma,90000,900
Mike Kopi,666666666,45,MI,Diabetes,48000,750
Angela Simms,777777777,25,IN,Diabetes,49000,1200
Nike Wood,888888888,35,MI,AIDS,66000,2200
Mikhail Aaron,999999999,55,MI,AIDS,69000,4200
Sam Pall,100000000,45,MI,Tuberculosis,34000,3100
"""
IDENTIFIES, KEY = "identifies directly (removed)", "an intruder may know it"
CONFIDENTIAL = "nobody should learn it"
ROLES = {
    "Name": IDENTIFIES, "SSN": IDENTIFIES, "Age": KEY, "State": KEY,
    "Diagnosis": CONFIDENTIAL, "Income": CONFIDENTIAL, "Billing": CONFIDENTIAL,
}  # fmt: skip


def test_from_log_in_to_an_approved_release(house, watched, browser, tmp_path):
    page = watched.page
    (tmp_path / "patient.csv").write_text(PATIENTS, encoding="utf-8")
    log_in(page, house, "Ann")  # A.1
    _project(page)  # A.2 and A.3
    _data(page, tmp_path / "patient.csv")
    _roles(page)  # A.4
    _methods(page)  # A.5
    _masked(page)  # A.6
    _second_version(page)
    _best_version(page)
    _attacked(page)
    _wizard(page)
    _nobody_decides_on_their_own(page)
    _change_the_plan(page)
    _invite(page, "Rita")
    _review(browser, house)
    _after_approval(page)


def _project(page):
    """A taken name is refused with one that is free."""
    page.get_by_label("Name", exact=True).fill("DEMO: a made-up census")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=such as 'DEMO: a made-up census 2'")
    page.get_by_label("Name", exact=True).fill("Patients")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("text=Choose or drop a file")


def _data(page, path):
    page.set_input_files("input[type=file]", path)
    page.wait_for_selector("text=What the columns mean")
    expect(page.get_by_role("cell", name="Mary Gore")).to_be_visible()


def _roles(page):
    for name, role in ROLES.items():
        choose(page, f"role of {name}", role)
    page.get_by_role("button", name="Save what the columns mean").click()
    page.wait_for_selector("text=Saved")
    picture(page, "app-data.png")


def _add(page, method):
    page.get_by_role("button", name="Add a method").click()
    page.get_by_label("Method", exact=True).fill(method)
    page.get_by_role("option", name=re.compile(f"^{re.escape(method)} — ")).click()
    page.get_by_role("button", name="Go on").click()


def _save_step(page):
    page.get_by_role("button", name="Save the step").click()
    page.get_by_role("button", name="Save the step").wait_for(state="hidden")


def _methods(page):
    """Sampling is put first, then moved behind microaggregation, as in the paper."""
    page.get_by_role("link", name="Next: choose methods").click()
    page.wait_for_selector("text=No step yet")
    _add(page, "Sampling")
    page.get_by_label("fraction", exact=True).fill("0.5")
    _save_step(page)
    _add(page, "Microaggregation (MDAV)")
    assert not page.get_by_role("option", name="SSN").count()
    choose(page, "columns *", "Age")
    page.get_by_label("k", exact=True).fill("2")
    _save_step(page)
    _add(page, "Rank swapping")
    choose(page, "columns *", "Income")
    _save_step(page)
    page.get_by_role("button", name="Delete step 3").click()
    page.get_by_role("button", name="Delete step 3").wait_for(state="hidden")
    page.get_by_role("button", name="Move down step 1").click()
    page.wait_for_function("/groups of at least 2.*ampl/s.test(document.body.innerText)")
    page.get_by_role("button", name="Edit step 2").click()
    expect(page.get_by_label("fraction", exact=True)).to_have_value("0.5")
    page.get_by_label("fraction", exact=True).fill("0.8")
    _save_step(page)
    picture(page, "app-plan.png")


def _generate(page, name):
    expect(page.get_by_label("Name of the masked version")).to_have_value(name)
    page.get_by_role("button", name="Generate").click()
    # The tab is drawn again when the job is done, and proposes the next name.
    following = f"version {int(name.split()[-1]) + 1}"
    expect(page.get_by_label("Name of the masked version")).to_have_value(following)


def _masked(page):
    """Eight records, no identifiers, beside the original."""
    _generate(page, "version 1")
    page.get_by_role("link", name="Next: look at the versions").click()
    unfold(page, "Masked data “version 1”")
    unfold(page, "Records beside the original")
    expect(page.get_by_text("1 to 8 of 8")).to_be_visible()
    expect(page.get_by_text("1 to 10 of 10")).to_be_visible()
    masked = page.locator(".q-table__container", has_text="Masked").filter(has_text="Age")
    expect(masked.last).not_to_contain_text("SSN")


def _second_version(page):
    """The same with larger groups; both scorecards are side by side."""
    open_tab(page, "Plan")
    page.get_by_role("button", name="Edit step 1").click()
    page.get_by_label("k", exact=True).fill("5")
    _save_step(page)
    _generate(page, "version 2")
    open_tab(page, "Versions")
    page.wait_for_selector("text=Side by side")
    for name in ("version 1", "version 2"):
        expect(page.get_by_role("columnheader", name=name)).to_be_visible()


def _best_version(page):
    """Without limits nothing is picked; the lower the limit the fewer versions are left."""
    canvas = page.locator(".nicegui-echart canvas")
    canvas.wait_for()
    assert canvas.bounding_box()["width"] > 300
    choose(page, "Risk", "k-anonymity")
    limit = page.get_by_label("Risk: at least")
    limit.fill("1000")
    page.wait_for_selector("text=No version is within the limits")
    limit.fill("1")
    page.wait_for_selector("text=Best within the limits: version")
    page.get_by_role("button", name="Open it").click()
    page.wait_for_selector("text=Plan file >> visible=true")
    _click_a_point(page, canvas)


_ONE_IS_OPEN = """before => {
    const heads = document.querySelectorAll('.q-expansion-item--expanded > * > .q-item');
    const open = [...heads].map(e => e.innerText).filter(t => t.includes('Masked data'));
    return open.length == 1 && open[0] != before;
}"""
"""Whether one version is open, and not the one that was."""


def _click_a_point(page, canvas):
    """Find a point by its colour, click it, and see its version open and the others closed.

    The best version is green and open already; a blue one, if it is not hidden, is another.
    """
    opened = page.locator(".q-expansion-item--expanded > * > .q-item", has_text="Masked data")
    expect(opened).to_have_count(1)
    before = opened.inner_text()
    x, y, is_other = page.wait_for_function("""() => {
        const canvas = document.querySelector('.nicegui-echart canvas');
        const scale = canvas.width / canvas.clientWidth;
        const seen = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const place = wanted => {
            for (let i = 0; i < seen.data.length; i += 4)
                if (seen.data.slice(i, i + 3).join() == wanted) return [
                    i / 4 % canvas.width / scale, Math.floor(i / 4 / canvas.width) / scale + 4];
        };
        const other = place('23,87,126'), best = place('27,110,46');
        return other ? [...other, true] : best && [...best, false];
    }""").json_value()
    canvas.click(position={"x": x, "y": y})
    page.wait_for_function(_ONE_IS_OPEN, arg=before if is_other else "")


def _attacked(page):
    attack = page.get_by_role("button", name="Attack this version")
    expect(attack).to_have_count(1)  # the version that was open before is closed by now
    attack.click()
    page.wait_for_selector("text=/attacks? learnt more than guessing would/ >> visible=true")


def _wizard(page):
    open_tab(page, "Wizard")
    page.get_by_label("Target").fill("k >= 2")
    page.get_by_label("Plans to try").fill("4")
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("text=What the wizard did", timeout=4 * PATIENCE)
    expect(page.get_by_role("link", name="Next: compare the versions it kept")).to_be_visible()


def _nobody_decides_on_their_own(page):
    open_tab(page, "Versions")
    unfold(page, "Masked data “version 1”")
    expect(page.get_by_role("button", name="Approve version 1", exact=True)).to_be_disabled()
    page.wait_for_selector("text=nobody decides on what they made themselves")
    page.wait_for_selector("text=/“version 1”: (Safe|Not safe) enough/")
    picture(page, "app-versions.png")


def _change_the_plan(page):
    """The plan of a version becomes that of the project, to be changed there."""
    unfold(page, "Plan file")
    page.get_by_role("button", name="Change this plan").locator("visible=true").click()
    page.wait_for_selector("text=Steps, applied in this order")
    expect(page.get_by_role("button", name="Edit step 1")).to_be_visible()


def _invite(page, name):
    open_tab(page, "People")
    page.get_by_label("Name of the account").fill(name)
    page.get_by_role("button", name="Invite").click()
    page.wait_for_selector(f"text={name}, reviewer")


def _review(browser, house):
    """The reviewer sees measurements, no record, no plan, and decides."""
    context = new_context(browser)
    with visit(context) as seen:
        _reviewed(seen.page, house)
    context.close()


def _reviewed(page, house):
    log_in(page, house, "Rita")
    page.get_by_role("link", name="Patients").click()
    page.wait_for_selector("text=Side by side")
    expect(page.get_by_role("tab")).to_have_text(["Versions", "History"], ignore_case=True)
    unfold(page, "Masked data “version 1”")
    page.get_by_label("Remark").locator("visible=true").fill("small enough")
    page.get_by_role("button", name="Approve version 1", exact=True).click()
    page.wait_for_selector("text=Masked data “version 1”: approved")
    shown = page.content()
    for secret in ("Mary Gore", "data.parquet", "Plan file", "37900", "mdav"):
        assert secret not in shown
    open_tab(page, "History")
    page.wait_for_selector("text=version approved")


def _after_approval(page):
    """The public file is what was promised, and the history names everybody."""
    open_tab(page, "Versions")
    unfold(page, "Masked data “version 1”: approved")
    page.wait_for_selector("text=Remark: small enough")
    masked = pl.read_parquet(download(page, "data.parquet"))
    assert masked.height == 8
    assert not {"Name", "SSN"} & set(masked.columns)
    open_tab(page, "History")
    for words in ("project created", "roles set", "version attacked", "version approved"):
        page.wait_for_selector(f"text={words}")
    expect(page.get_by_role("cell", name="Rita", exact=True).first).to_be_visible()

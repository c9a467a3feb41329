"""The page as a whole: complete, closed to the outside, and silent about single people."""

import re
import time

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.data import Microdata
from tacit.core.scorecard import Scorecard
from tacit.report.html_report import HtmlReport, source_name

from .page import Page

EMPTY = Scorecard((), (), {}, {})


@pytest.fixture(scope="module")
def html(release, scorecard):
    return HtmlReport().render(release, scorecard)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_it_is_one_well_formed_page(html, page):
    assert html.startswith("<!doctype html>")
    assert page.faults == []
    assert len(page.ids) == len(set(page.ids))
    assert {"title", "main", "h1", "svg", "details"} <= set(page.tags)


def test_it_asks_nothing_from_outside(html, page):
    assert all(address.startswith("#") for address in page.addresses)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    css = " ".join(page.styles)
    assert "url(" not in css
    assert "@import" not in css
    assert "http" not in re.sub(r'http-equiv="Content-Security-Policy"', "", html)
    assert "default-src 'none'" in html


def test_links_within_the_page_lead_somewhere(page):
    assert {address.removeprefix("#") for address in page.addresses} <= set(page.ids)


def test_it_tells_the_whole_story(release, scorecard, page):
    for name in release.data.columns:
        assert name in page.text
    for step in release.steps:
        assert step.description.partition(":")[0] in page.text
    for measurement in scorecard:
        assert measurement.title in page.text
        assert measurement.text in page.text
    assert "400 → , now 360" in page.text
    assert "1 in the original, 3 now" in page.text
    assert "there are <no> keys" in page.text
    assert "Every record shares its keys with 2 <others>." in page.text
    assert "1 % to 4 %" in page.text
    assert "Mean square error" in page.text
    assert "12.5" in page.text
    assert "tacit replay dossier/" in page.text
    assert 'method = "mdav"' in page.text


def test_hostile_names_and_values_stay_text(html, page):
    assert "region <b>" in page.text
    assert "<i>South</i>" in page.text
    assert "b" not in page.tags
    assert "i" not in page.tags
    assert page.handlers == []
    assert "<b>" not in html


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "</svg><script>x",
        '"><img src=x onerror=y>',
        "{{ 7 * 7 }}",
        "]]>",
    ],
)
def test_injections_are_shown_not_run(attack):
    frame = pl.DataFrame({attack: [attack, "b"] * 5, "x": range(10)})
    data = Microdata.of(frame, source=f"{attack}.csv").with_roles(keys=[attack])
    release = tacit.Plan([tacit.mask.Sample(fraction=0.8)]).apply(data, seed=1)
    page = Page(HtmlReport().render(release, EMPTY))
    assert page.faults == []
    assert attack in page.text
    assert not {"script", "img"} & set(page.tags)
    assert page.handlers == []


def test_identifiers_single_values_and_secrets_stay_out(html, release):
    assert not re.search(r"Ada Q\. Person\d", html)
    assert "Stoneman" not in html  # one original record has it
    assert str(release.seed) not in html
    assert "hunter2" not in html
    assert "anna" not in html
    income = release.original.local["income"]
    for value in (income.max(), income.min()):
        assert f"{value}" not in html
        assert f"{value:,.2f}" not in html
        assert f"{value:,.0f}" not in html


def test_nobodys_exact_amount_is_printed():
    data = tacit.datasets.census(300, missing=0.02)
    plan = tacit.Plan([tacit.mask.Round(columns=["taxes"], base=10)])
    page = Page(HtmlReport().render(plan.apply(data, seed=1), EMPTY))
    printed = set(re.findall(r"\d[\d,]*\.\d+", page.text))
    for amount in data.local["income"].drop_nulls().filter(data.local["income"].drop_nulls() > 0):
        assert not {f"{amount}", f"{amount:.2f}", f"{amount:,.2f}"} & printed
    assert not any(name in page.text for name in data.local["person_id"])


def test_a_suspicious_column_is_warned_about_and_not_shown():
    addresses = [f"someone{i}@example.org" for i in range(60)]
    data = Microdata.of(pl.DataFrame({"contact": addresses, "x": [i % 4 for i in range(60)]}))
    release = tacit.Plan([tacit.mask.Round(columns=["x"], base=2)]).apply(data, seed=1)
    page = Page(HtmlReport().render(release, EMPTY))
    assert "“contact” looks like a direct identifier" in page.text
    assert "No variable was declared as a key" in page.text
    assert "@example.org" not in page.text


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_or_no_records(n, awkward):
    release = tacit.Plan([]).apply(awkward.take(np.arange(n)), seed=1)
    page = Page(HtmlReport().render(release, EMPTY))
    assert page.faults == []
    assert "No protection method was applied." in page.text
    assert "Nothing was measured." in page.text


def test_many_variables_show_the_changed_ones_first():
    columns = {f"same{i:02}": [i, i + 1, i + 2, i + 3] * 10 for i in range(70)}
    data = Microdata.of(pl.DataFrame({**columns, "moved": [1, 2, 3, 4] * 10}))
    release = tacit.Plan([tacit.mask.Round(columns=["moved"], base=2)]).apply(data, seed=1)
    html = HtmlReport().render(release, EMPTY)
    assert html.index("<h4>moved</h4>") < html.index("<h4>same00</h4>")
    assert "Changed variables (1)" in html
    assert "Unchanged variables (70)" in html
    assert len(html) < 2_000_000
    assert Page(html).faults == []


def test_a_large_file_is_counted_not_copied():
    rng = np.random.default_rng(1)
    n = 1_000_000
    frame = pl.DataFrame(
        {"x": rng.lognormal(size=n), "age": rng.integers(0, 99, n), "g": rng.integers(0, 50, n)}
    ).with_columns(pl.col("g").cast(pl.String))
    release = tacit.Plan([tacit.mask.Sample(fraction=0.5)]).apply(Microdata.of(frame), seed=1)
    started = time.perf_counter()
    html = HtmlReport().render(release, EMPTY)
    assert time.perf_counter() - started < 60  # seconds on a quiet machine; CI may be busy
    assert len(html) < 200_000


def test_source_name_hides_folders_and_passwords():
    assert source_name(None) == ""
    assert source_name(r"C:\secret\people.csv") == "people.csv"
    assert source_name("mysql://u:p@host/db") == "db"
    assert source_name("postgresql://u:p@host/db#people") == "people"


def test_the_registry_knows_it():
    found = tacit.find("html-report", "document")
    assert found is HtmlReport
    assert found.filename == "report.html"

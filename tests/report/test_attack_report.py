"""The report of an audit answers what, how likely, who, what to change; and stands alone."""

import re

import numpy as np
import pytest

import tacit
from tacit import attack
from tacit.attack import AttackReport, Finding, Knowledge, Rate
from tacit.report.attack_report import attack_report


@pytest.fixture(scope="module")
def page():
    release = tacit.Plan([]).apply(tacit.datasets.census(300), seed=1)
    found = attack.audit(release, attacks=[attack.Linkage(), attack.PramPosterior()])
    return attack_report(found, source="out")


@pytest.mark.parametrize("question", ["What", "How likely", "Who is affected", "What to change"])
def test_answers_the_four_questions(page, question):
    assert f"<th>{question}</th>" in page


def test_stands_alone(page):
    assert not re.search(r"(src|href)=|@import|url\(|<script", page)
    assert "Not run" in page
    assert "pram-posterior" in page


def test_hostile_text_stays_text():
    bad = "<script>alert(1)</script>"
    rates = Rate.of(np.ones(9)), Rate.known(0.0, 9)
    finding = Finding("k", bad, bad, *rates, "cell", np.arange(9), bad, bad,
                      details={"affected": [{"column": bad, "category": bad, "people": 30,
                                             "share": 1.0}]}, warnings=(bad,))  # fmt: skip
    found = AttackReport((finding,), {bad: bad}, bad, Knowledge(columns=(bad,)))
    assert "<script>" not in attack_report(found, source=bad)


def test_no_leak_and_no_attack_are_told_apart():
    assert "says nothing about safety" in attack_report(AttackReport((), {}, "x"))
    finding = Finding(
        "k", "T", "Q", Rate.known(0, 5), Rate.known(0, 5), "cell", np.arange(0), "w", "r"
    )
    assert "none learnt more" in attack_report(AttackReport((finding,), {}, "x"))


def test_what_a_failed_attack_does_not_show_is_said_in_the_table():
    silent = "The server refused every request of this attack."
    finding = Finding(
        "k", "T", "Q", Rate.known(0, 5), Rate.known(0, 5), "cell", np.arange(0), "w", "r",
        warnings=(silent,),
    )  # fmt: skip
    assert silent in attack_report(AttackReport((finding,), {}, "x"))


def test_the_intruder_is_described_where_unusual():
    known = Knowledge(
        some={"age": np.ones(3, bool)}, membership=0.5, known_within=5, excluded=2, coverage=0.4,
        method=False, respondent=False, queries=9,
    )  # fmt: skip
    page = attack_report(AttackReport((), {}, "x", known))
    for words in ("age of some people", "50 % certain", "within 5 %", "rule out 2", "about 40 %",
                  "Does not know the method", "at most 9 times"):  # fmt: skip
        assert words in page
    assert "Pools the answers" not in page

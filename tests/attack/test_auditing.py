"""The audit as a whole: what it runs, in what time, and what it says."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack
from tacit.core.errors import ParameterError, TacitError


@pytest.fixture(scope="module")
def weak():
    return tacit.Plan([]).apply(tacit.datasets.census(400), seed=1)


def test_an_open_release_leaks_and_the_report_is_plain_data(weak):
    report = attack.audit(weak)
    assert not report.passed
    assert report.gain > 0.9
    assert report.leaks[0].gain == report.gain
    assert json.loads(json.dumps(report.as_dict(), allow_nan=False))["passed"] is False
    assert "leaked" in report.summary()
    assert {f.key for f in report} | set(report.left_out) == {
        m.key for m in tacit.methods("attack") if m.kind is attack.MicrodataTarget
    }
    with pytest.raises(ParameterError, match="no finding"):
        report["unheard-of"]


def test_shuffled_synthetic_records_pass():
    """Values drawn column by column tell nothing about anybody."""
    data = tacit.datasets.census(1200)
    inside, outside = data.take(range(600)), data.take(range(600, 1200))
    rng = np.random.default_rng(1)
    numbered = inside.numbered()
    table = numbered.local
    columns = [table[c].gather(rng.permutation(600)).alias(c) for c in inside.columns]
    released = numbered.with_local(table.with_columns(columns)).drop(["person_id"])
    target = attack.MicrodataTarget(inside, released)
    report = attack.audit(target, attack.Knowledge(holdout=outside))
    assert len(report) >= 6
    assert report.passed, report.summary()


def test_no_attack_starts_after_the_time(weak):
    report = attack.audit(weak, seconds=0.0)
    assert len(report) <= 1
    assert "the time was over" in report.left_out.values()


class Endless(attack.Attack):
    """An attack that would never end by itself; without a key, so in no catalogue."""

    title = "Endless"
    remedy = "Nothing."

    def attacked(self, target, knowledge):
        import time

        while True:
            time.sleep(0.001)


class Interrupted(Endless):
    """An attack during which somebody presses Ctrl-C."""

    def attacked(self, target, knowledge):
        raise KeyboardInterrupt


def test_an_attack_that_overruns_is_stopped(weak):
    import threading

    report = attack.audit(weak, each=0.2, attacks=[Endless()])
    assert report.left_out[""].startswith("it was stopped after 0.2 s")
    assert report.unfinished == ("",)
    for thread in threading.enumerate():
        if thread.name == "tacit attack":
            thread.join(60)  # a busy machine may let it end a little later
            assert not thread.is_alive()


def test_after_an_attack_that_overruns_the_others_go_on(weak, monkeypatch):
    from tacit.attack import auditing

    shares, stopped_after = [], auditing.within

    def within(share, work):
        """Stop the first attack early, and let the second take what time it needs."""
        shares.append(share)
        return stopped_after(0.2 if len(shares) == 1 else None, work)

    monkeypatch.setattr(auditing, "within", within)
    report = attack.audit(weak, seconds=600.0, attacks=[Endless(), attack.Homogeneity()])
    # Half of what is left is the share of one attack, so that the next one has its turn.
    assert 0 < shares[1] < shares[0] <= 300
    assert not report.complete
    assert report.as_dict()["unfinished"] == [""]
    assert report["homogeneity"].leaked
    assert "1 did not finish" in report.summary()


def test_an_interrupt_keeps_what_was_found(weak):
    chosen = [attack.Homogeneity(), Interrupted(), attack.Linkage()]
    report = attack.audit(weak, attacks=chosen)
    assert [f.key for f in report] == ["homogeneity"]
    assert report.unfinished == ("", "linkage")
    assert set(report.left_out.values()) == {"the audit was interrupted"}


def test_a_bug_of_an_attack_is_not_hidden(weak):
    class Broken(Endless):
        def attacked(self, target, knowledge):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        attack.audit(weak, attacks=[Broken()])


def test_progress_is_reported(weak):
    from contextlib import contextmanager

    from tacit.core.progress import listening

    done = []

    class Listener:
        @contextmanager
        def task(self, title, total):
            yield lambda units: done.append((title, units))

    with listening(Listener()):
        attack.audit(weak, attacks=[attack.Linkage()])
    assert ("attacking", 1) in done


def test_an_attack_that_fails_is_left_out_with_its_reason():
    data = tacit.datasets.census(100).with_roles(keys=["sex"])
    report = attack.audit((data, data), attacks=[attack.Linkage(way="rank")])
    assert "ranks need a number" in report.left_out["linkage (by rank)"]


def test_an_audit_tries_every_way_of_an_attack(weak):
    """Which way of linking finds most depends on the masking; a tracker that is refused has others.

    By keys that are categories the usual way is by weight already, and said once.
    """
    ways = ["Record linkage", "Record linkage, by weight", "Record linkage, by rank"]
    assert sorted(f.title for f in attack.audit(weak) if f.key == "linkage") == sorted(ways)
    few = tacit.Plan([]).apply(weak.original.with_roles(keys=["sex", "education"]), seed=1)
    assert [f.title for f in attack.audit(few) if f.key == "linkage"] == ways[:1]
    assert [t.variant for t in attack.Tracker.in_audit()] == ["individual", "general"]
    made = [m.variant for m in attack.MadeVariables.in_audit()]
    assert made == ["dummy", "jitter", "outlier"]


def test_ways_that_do_not_apply_for_one_reason_are_said_once():
    synthetic = tacit.Plan([tacit.mask.Synthesise()]).apply(tacit.datasets.census(60), seed=1)
    out = attack.audit(synthetic, seconds=None, attacks=attack.Linkage.in_audit()).left_out
    assert list(out) == ["linkage"]


def test_an_audit_in_which_nothing_was_attacked_does_not_pass(weak):
    report = attack.audit(weak, attacks=[])
    assert not report.passed
    assert "says nothing about safety" in report.summary()


def test_attacks_may_be_named_by_their_keys(weak):
    report = attack.audit(weak, attacks=["homogeneity", attack.SpecialUniques()])
    assert {f.key for f in report} == {"homogeneity", "special-uniques"}


@pytest.mark.parametrize(
    "wrong",
    [{"attacks": ["none-such"]}, {"attacks": [3]}, {"seconds": float("nan")}, {"each": -1.0}],
)
def test_what_makes_no_sense_is_refused(weak, wrong):
    with pytest.raises(TacitError):
        attack.audit(weak, **wrong)


def test_numbers_without_limit_are_attacked_like_others():
    """Values beyond what models take must not stop the audit, nor hide behind an error."""
    data = tacit.datasets.census(60)
    income = data.local["income"].cast(float).to_list()
    income[:3] = [float("inf"), -1e300, float("nan")]
    odd = data.with_local(data.local.with_columns(income=pl.Series(income))).with_roles(
        keys=["age", "income"], confidential=["employed", "income"]
    )
    report = attack.audit((odd, odd), attacks=["attribute-inference"])
    assert report["attribute-inference"].success.value == 1.0


def test_every_method_and_policy_is_in_the_tables_of_the_page():
    """`make bench` writes them; a method that was never attacked must not go unnoticed."""
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "explanation" / "attacks.md").read_text(encoding="utf-8")
    first = {line.split("|")[1].strip().split(" (")[0] for line in page.splitlines() if "|" in line}
    policies = {p.stem for p in (root / "src" / "tacit" / "query" / "policies").glob("*.toml")}
    known = {m.key for family in ("mask", "protection") for m in tacit.methods(family)}
    assert known | policies <= first

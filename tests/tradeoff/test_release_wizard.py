"""The wizard: proposals with reasons, releases that keep their word, honest refusals."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError, ProtectionError, SchemaError, WriteError
from tacit.tradeoff import Effort, Target, wizard
from tacit.tradeoff.release_wizard import proposals

FEW = Effort(evaluations=10, replicates=1, workers=1)


@pytest.fixture(scope="module")
def outcome():
    return wizard(tacit.datasets.patients(300), "k >= 4; at most 30 % linkable", effort=FEW, seed=1)


def test_every_release_meets_the_target(outcome):
    """An attack on the promise: count classes of the released frame from outside."""
    assert outcome.is_met
    for choice in outcome.choices:
        frame = choice.release.frame
        keys = ["Age", "Sex", "State", "Zip"]
        assert frame.group_by(keys).len()["len"].min() >= 4
        linked = risk.IdentificationRisk().measure(choice.release.original, choice.release)
        assert linked.value <= 0.30
        assert not {"Name", "SSN"} & set(frame.columns)


def test_the_three_are_ordered(outcome):
    names = [c.name for c in outcome.choices]
    assert names == [n for n in ("safest", "balanced", "most-useful") if n in names]
    risks = [c.point.risk for c in outcome.choices]
    utilities = [c.point.utility for c in outcome.choices]
    assert risks == sorted(risks)
    assert utilities == sorted(utilities)
    assert outcome["safest"] is outcome.choices[0]
    with pytest.raises(KeyError):
        outcome["fastest"]


def test_it_explains_itself(outcome):
    said = str(outcome)
    assert "Every record shares its keys with at least 3 others" in said
    for proposal in outcome.proposals:
        assert proposal.title in said
        assert "at least 4 records share" in proposal.reason
    assert "Direct identifiers removed" in said
    assert "k-anonymity" in outcome.choices[0].scorecard


def test_saving_writes_everything_and_replays(outcome, tmp_path):
    folder = outcome.save(tmp_path / "out")
    for choice in outcome.choices:
        assert (folder / choice.name / "public" / "data.csv").is_file()
        assert tacit.Plan.load(folder / "plans" / f"{choice.name}.toml") == choice.point.plan
    assert (folder / "wizard.md").read_text(encoding="utf-8") == outcome.words + "\n"
    assert "<script" in (folder / "map.html").read_text(encoding="utf-8")
    with pytest.raises(WriteError, match="exists already"):
        outcome.save(folder)
    (folder / "mine.txt").write_text("keep me")
    with pytest.raises(WriteError, match="will not be replaced"):
        outcome.save(folder, force=True)
    assert (folder / "mine.txt").read_text() == "keep me"


def test_same_seed_same_releases(outcome):
    again = wizard(
        tacit.datasets.patients(300), "k >= 4; at most 30 % linkable", effort=FEW, seed=1
    )
    assert again.choices[0].release.frame.equals(outcome.choices[0].release.frame)


def test_proposals_keep_the_promise_on_the_keys():
    """Whatever method is proposed for k, it makes groups of k: tried, not believed."""
    data = tacit.datasets.census(300)
    found = proposals(data, Target.of("k >= 3"))
    assert len({p.title for p in found}) >= 3
    for proposal in found:
        options = [(0, (0.0,) * _n_open(place[0])) for place in proposal.candidate.places]
        release = proposal.candidate.plan(options).apply(data, seed=1)
        assert risk.KAnonymity().measure(data, release).value >= 3
        assert release.newly_broken == {}
        assert not np.array_equal(release.frame["household"], data.frame["household"])


def _n_open(option):
    return len(getattr(option, "spaces", ()))


def test_coarser_keys_come_before_blanks():
    found = proposals(tacit.datasets.patients(300), Target.of("k >= 3"))
    both = next(p for p in found if p.title.startswith("Coarser keys"))
    assert "less is blanked" in both.reason
    assert both.candidate.places[0][0] is None


def test_a_target_out_of_reach_says_what_is_closest():
    data = tacit.datasets.patients(300)
    target = Target.of("k >= 3; at most 0.01 % linkable; keep Income ~ Age")
    found = wizard(data, target, effort=Effort(evaluations=6, replicates=1, workers=1), seed=1)
    assert not found.is_met
    assert found.choices == ()
    assert found.closest.shortfall > 0
    assert "No plan that was tried meets the target" in found.words
    assert "missed: it reaches" in found.words
    with pytest.raises(ProtectionError, match="nothing is released"):
        found.save("never")


def test_only_linkage_asked_perturbs():
    found = proposals(tacit.datasets.patients(200), Target.of("at most 90 % linkable"))
    assert {p.title for p in found} >= {mask.RankSwap.title, mask.Pram.title}


def test_seconds_end_the_search_among_the_first_plans_too():
    """Groups of two are fewer than some methods make; these are left out."""
    short = Effort(evaluations=40, seconds=1e-6, replicates=1, workers=1)
    found = wizard(tacit.datasets.patients(60), "k >= 2", effort=short, seed=1)
    assert 1 <= len(found.frontier.tried) <= 8
    assert mask.HybridMicroaggregation.title not in {p.title for p in found.proposals}


def test_data_without_roles_are_refused():
    with pytest.raises(SchemaError, match="no column has a role"):
        wizard(pl.DataFrame({"x": [1, 2]}))
    with pytest.raises(SchemaError, match="no column is one"):
        wizard(tacit.Microdata.of(pl.DataFrame({"x": [1, 2]})).with_roles(confidential=["x"]))


def test_three_releases_within_the_target_also_where_an_analysis_must_survive():
    """Most plans lose the regression; those that keep it differ in how large groups are."""
    target = "k >= 5; at most 5 % linkable; keep the regression of Income on Age"
    effort = Effort(evaluations=30, replicates=1, workers=1)
    found = wizard(tacit.datasets.patients(1200), target, effort=effort, seed=1)
    assert [c.name for c in found.choices] == ["safest", "balanced", "most-useful"]
    assert len({c.point.plan.to_toml() for c in found.choices}) == 3
    for choice in found.choices:
        keys = choice.release.frame.group_by("Age", "Sex", "State", "Zip").len()["len"]
        assert keys.min() >= 5


def test_no_plan_can_make_groups_larger_than_the_file():
    with pytest.raises(ProtectionError, match="groups of 5 need as many records"):
        wizard(tacit.datasets.patients(100).take(np.arange(1)), "k >= 5", effort=FEW, seed=1)
    with pytest.raises(DataError, match="no record"):
        wizard(tacit.datasets.patients(100).take(np.arange(0)), "k >= 5", effort=FEW, seed=1)


def test_a_release_that_holds_on_a_sample_only_is_not_offered():
    """An interrupted search has seen a sample; what is offered is measured on all records."""
    from tacit.tradeoff import Condition, Frontier, Point
    from tacit.tradeoff.release_wizard import _choices

    data = tacit.datasets.patients(200)
    plans = {k: tacit.Plan([mask.LocalSuppression(k=k, missing="strict")]) for k in (2, 3, 9)}
    points = [Point(f"k = {k}", 1 / k, -k, plan, shortfalls={"": 0.0}) for k, plan in plans.items()]
    front = Frontier.of(points, original=data, seed=1)
    offered, missed = _choices(front, (Condition(risk.KAnonymity(missing="strict"), at_least=3),))
    assert {c.point.label for c in offered} == {"k = 3", "k = 9"}
    assert missed.label == "k = 2"
    assert not missed.is_met

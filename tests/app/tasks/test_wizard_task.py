"""The wizard as a job."""

from tacit.core.errors import DataError


def test_versions_that_meet_the_target_are_kept_and_explained(parts, people, project, worker):
    asked = {"name": "w", "target": "k >= 2", "plans": 3, "seconds": 600.0, "seed": 1, "blur": True}
    job = parts.jobs.submit(people["custodian"], project, "wizard", asked)
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "done", shown["message"]
    assert "k" in shown["result"]["words"]
    kept = parts.versions.of_project(people["custodian"], project)
    assert {v["id"] for v in kept} == set(shown["result"]["versions"].values())
    for version in kept:
        taken = {m["measure"]: m["value"] for m in version["measurements"]["risk"]}
        assert taken["k-anonymity"] >= 2
        # The target speaks of keys; exact amounts do not leave either.
        assert version["measurements"]["exposed"] == []
        assert "individual-ranking" in version["plan"]


def test_a_target_nobody_can_meet_releases_nothing(parts, people, project, worker):
    asked = {"name": "w", "target": "k >= 81", "plans": 2, "seconds": 600.0, "seed": 1}
    job = parts.jobs.submit(people["custodian"], project, "wizard", asked)
    worker.step()
    shown = parts.jobs.show(people["custodian"], job)
    assert shown["state"] == "failed"
    assert "bug" not in shown["message"]
    assert parts.versions.of_project(people["custodian"], project) == []


def _asked_with(attack, parts, owner, project, worker):
    asked = {"name": "w", "target": "k >= 2", "plans": 2, "seconds": 600.0, "attacks": [attack]}
    job = parts.jobs.submit(owner, project, "wizard", asked)
    worker.step()
    return parts.jobs.show(owner, job)


def test_an_attack_that_is_none_on_records_is_named(parts, people, project, worker):
    shown = _asked_with("tracker", parts, people["custodian"], project, worker)
    assert shown["state"] == "failed"
    assert "takes attacks on records (got tracker)" in shown["message"]


def test_attacks_are_conditions_of_the_search(parts, people, project, worker, monkeypatch):
    told = {}

    def search(_data, target, **given):
        told.update(given, target=target)
        raise DataError("looked at")

    monkeypatch.setattr("tacit.tradeoff.wizard", search)
    shown = _asked_with("linkage", parts, people["custodian"], project, worker)
    assert (shown["message"], told["attacks"], told["target"]) == (
        "looked at",
        ["linkage"],
        "k >= 2",
    )

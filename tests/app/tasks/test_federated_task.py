"""Asking agencies as a job; that it gives the pooled result is shown in test_federation."""

from tacit.app.worker import Worker


def test_agencies_that_were_taken_away_are_not_asked(settings, parts, people, project):
    asked = {"analysis": {"analysis": "count"}, "agencies": ["gone"], "purpose": "", "seconds": 1}
    job = parts.jobs.submit(people["custodian"], project, "federated", asked)
    worker = Worker(settings)
    worker.step()
    worker.store.close()
    ended = parts.jobs.show(people["custodian"], job)
    assert ended["state"] == "failed"
    assert "gone" in ended["message"]

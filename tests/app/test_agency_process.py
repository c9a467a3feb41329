"""The process that listens for coordinators; that it answers is shown in test_federation."""

import json

from tacit.app.agency_process import AgencyProcess, desk_of, marker, opened, told
from tacit.core.atomic import write_text


def test_nothing_is_open_until_somebody_opens_it(settings, parts):
    process = AgencyProcess(settings)
    process.step()
    assert opened(settings) is None
    assert "port" not in told(settings)
    process.store.close()


def test_a_project_that_is_gone_is_not_served(settings, parts):
    write_text(marker(settings), json.dumps({"project": "0" * 32}))
    process = AgencyProcess(settings)
    process.step()
    assert told(settings).keys() == {"at"}
    process.store.close()


def test_keys_that_are_not_there_are_told_and_nothing_listens(settings, parts, people, project):
    write_text(marker(settings), json.dumps({"project": project}))
    process = AgencyProcess(settings.replace(agency_keys=str(settings.folder / "none")))
    process.step()
    assert "certificate.pem" in told(settings)["problem"]
    assert process._server is None
    assert desk_of(settings, project).waiting() == []
    process.store.close()


def test_a_silent_process_says_nothing(settings, parts):
    write_text(settings.folder / "agency-state.json", json.dumps({"port": 1, "at": 0}))
    assert told(settings) == {}

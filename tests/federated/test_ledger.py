"""The log: survives, and shows when it was changed."""

import json

import pytest

from tacit.core.errors import ReadError, WriteError
from tacit.federated.ledger import Ledger


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "agency.log"
    ledger = Ledger(path)
    for k in range(4):
        ledger.add("released", columns=[f"größe {k}"])
    return path


def test_only_the_owner_can_read_it(path):
    assert path.stat().st_mode & 0o077 == 0


def test_entries_survive_a_restart(path):
    again = Ledger(path)
    again.add("refused", reason="x")
    assert [e["event"] for e in Ledger(path).entries()] == ["released"] * 4 + ["refused"]
    assert len(Ledger(path).released()) == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:1] + lines[2:],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [lines[0].replace("größe 0", "größe 9"), *lines[1:]],
        lambda lines: [lines[0].replace('"released"', '"refused"'), *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [*lines[:3], "{"],
        lambda lines: [*lines[:3], "[]"],
    ],
    ids=["dropped", "reordered", "edited", "event", "first dropped", "cut", "no object"],
)
def test_a_changed_log_is_refused(path, change):
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    with pytest.raises(ReadError):
        Ledger(path)


def test_no_text_of_a_coordinator_can_spoil_the_log(path):
    """Signs that end a line elsewhere, and half a pair of surrogates, come back as they were."""
    purpose = "a\u2028b\x85c\x1ed\r\ne \ud800"
    Ledger(path).add("joined", purpose=purpose)
    again = Ledger(path)
    again.add("refused", reason="x")
    assert Ledger(path).entries()[-2]["purpose"] == purpose


def test_entries_are_json_lines(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        assert {"time", "event", "previous", "digest"} <= set(json.loads(line))


def test_a_log_that_cannot_be_written_stops_the_agency(tmp_path):
    with pytest.raises(WriteError):
        Ledger(tmp_path / "none" / "log").add("released")

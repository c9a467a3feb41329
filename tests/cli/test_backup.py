"""tacit backup and tacit restore."""

import json

import pytest


@pytest.fixture
def house(folder):
    """A house with one person."""
    from tacit.app.services import Services
    from tacit.app.settings import Settings

    parts = Services.start(Settings(folder=folder / "house"))
    parts.accounts.create_first("Root", "correct horse battery")
    parts.close()
    return folder / "house"


def test_a_house_is_saved_and_restored(run, folder, house):
    saved = run("backup", "b.zip", "--folder", house, "--json")
    assert saved.exit_code == 0, saved.stderr
    assert json.loads(saved.stdout)["files"] == 0
    restored = run("restore", "b.zip", "--folder", "new")
    assert restored.exit_code == 0, restored.stderr
    assert "tacit serve" in restored.stdout
    assert (folder / "new" / "store.sqlite").is_file()


def test_what_cannot_be_done_is_refused_in_one_line(run, folder, house, refusal):
    assert "nothing to back up" in refusal(run("backup", "b.zip", "--folder", "nowhere"))
    run("backup", "b.zip", "--folder", house)
    assert "not empty" in refusal(run("restore", "b.zip", "--folder", house))
    (folder / "bad.zip").write_bytes(b"x")
    assert "not a backup" in refusal(run("restore", "bad.zip", "--folder", "new"))

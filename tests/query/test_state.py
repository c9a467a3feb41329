"""Memory is one for all users of a server."""

import pytest

from tacit.core.errors import WriteError
from tacit.query.state import FolderLock, State


def test_histories_and_ledger_are_made_once():
    state = State(cube=[0, 1, 2])
    assert state.history("a", 3) is state.history("a", 5)
    assert state.history("b", 3) is not state.history("a", 3)
    assert state.ledger is state.ledger
    assert state.ledger.n_atoms == 3
    state.requests["x"].append(1.0)
    assert list(state.requests["x"]) == [1.0]


def test_a_folder_is_one_servers(tmp_path):
    held = FolderLock(tmp_path / "new")
    with pytest.raises(WriteError, match="another server"):
        FolderLock(tmp_path / "new")
    FolderLock(tmp_path / "other")
    held.release()
    held.release()
    again = FolderLock(tmp_path / "new")
    del again
    FolderLock(tmp_path / "new")

"""Holdings and requests that the metadata of records name."""

import pytest

from tacit.core.errors import ReadError
from tacit.io.argus.record_roles import record_roles


def test_holding_and_request(tmp_path):
    path = tmp_path / "a.rda"
    path.write_text('firm 1 3\n<HOLDING>\nasks 4 1\n<REQUEST> "1" "2"\n', encoding="utf-8")
    assert record_roles(tmp_path / "a.asc") == {"holding": "firm", "request": "asks"}
    other = path.rename(tmp_path / "b.rda")
    assert record_roles(tmp_path / "a.asc", metadata=other)["holding"] == "firm"


def test_neither(tmp_path):
    (tmp_path / "a.rda").write_text("firm 1 3\n<RECODEABLE>\n", encoding="utf-8")
    assert record_roles(tmp_path / "a.asc") == {"holding": None, "request": None}


def test_other_codes_are_refused(tmp_path):
    (tmp_path / "a.rda").write_text('asks 4 1\n<REQUEST> "y"\n', encoding="utf-8")
    with pytest.raises(ReadError, match="not 1 and 2"):
        record_roles(tmp_path / "a.asc")


def test_the_sample_of_tau_argus(shared_data):
    path = shared_data / "tables/tauargus/tau_testW.asc.gz"
    assert record_roles(path)["request"] == "Request"

"""Names, signatures and rosters."""

import pytest

from tacit.core.errors import ParameterError, ReadError
from tacit.federated.identity import Identity, Roster, check_name
from tacit.federated.stopped import RefusedError


@pytest.mark.parametrize("name", ["A", "", "a b", "-a", "a-", "é", "a" * 64, "a\n", "../a", None])
def test_bad_names_are_refused(name):
    with pytest.raises(ParameterError):
        check_name(name)


def test_signatures_are_checked():
    one, other = Identity.new("a"), Identity.new("b")
    roster = Roster.of([one, other])
    roster.check("a", b"text", one.sign(b"text"))
    for name, text, signature in [
        ("a", b"other", one.sign(b"text")),
        ("a", b"text", other.sign(b"text")),
        ("c", b"text", one.sign(b"text")),
        ("a", b"text", b""),
    ]:
        with pytest.raises(RefusedError):
            roster.check(name, text, signature)


def test_a_roster_is_written_and_read(tmp_path):
    roster = Roster.of([Identity.new("a"), Identity.new("b")])
    roster.save(tmp_path / "roster.json")
    assert Roster.read(tmp_path / "roster.json") == roster


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1}', '{"A": "00"}', '{"a": "zz"}'])
def test_a_bad_roster_is_refused(text, tmp_path):
    path = tmp_path / "roster.json"
    path.write_text(text)
    with pytest.raises(ReadError):
        Roster.read(path)


def test_the_private_key_is_not_shown():
    identity = Identity.new("a")
    assert identity.private.hex() not in repr(identity)
    assert repr(identity) == "Identity('a')"

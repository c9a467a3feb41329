"""Credentials: complete, private, and good for one name only."""

import datetime
import stat

import pytest
from cryptography import x509

from tacit.core.errors import ParameterError, ReadError, WriteError
from tacit.federated import certificates
from tacit.federated.certificates import Credentials, make_certificates


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("keys") / "new", ["a", "b", "c"])


def test_each_has_a_name_and_the_same_roster(made):
    assert sorted(made) == ["a", "b", "c", "coordinator"]
    for name, one in made.items():
        assert one.name == name
        assert sorted(one.roster().keys) == ["a", "b", "c"]
        one.server_context()
        one.client_context()
    assert made["a"].identity().public == made["b"].roster().keys["a"]


def test_private_files_are_private(made):
    for name in ("key.pem", "signing.key"):
        mode = (made["a"].folder / name).stat().st_mode
        assert stat.S_IMODE(mode) == 0o600
    assert not (made["coordinator"].folder / "signing.key").exists()


def test_the_key_of_the_authority_is_not_kept(made):
    files = {p.name for p in made["a"].folder.parent.rglob("*") if p.is_file()}
    assert files == {"ca.pem", "certificate.pem", "key.pem", "signing.key", "roster.json"}


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"certificate\.pem"):
        Credentials(tmp_path).server_context()


@pytest.mark.parametrize("names", [["a", "a"], ["A"], ["coordinator"], ["../x"]], ids=str)
def test_bad_names_are_refused(names, tmp_path):
    with pytest.raises(ParameterError):
        make_certificates(tmp_path / "new", names)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_in_use_is_left_alone(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="not empty"):
        make_certificates(tmp_path, ["a"])


def test_a_certificate_that_is_not_valid_today_is_refused_by_its_owner(tmp_path, monkeypatch):
    """Else the partners would cut every connection, and nobody would know why."""
    monkeypatch.setattr(certificates, "_dated", dated(-800, -400))
    old = make_certificates(tmp_path / "old", ["a", "b", "c"])
    monkeypatch.setattr(certificates, "_dated", dated(400, 800))
    new = make_certificates(tmp_path / "new", ["a", "b", "c"])
    for made in (old, new):
        for context in (made["a"].server_context, made["coordinator"].client_context):
            with pytest.raises(ReadError, match=r"certificate\.pem is not valid today"):
                context()


def dated(first, last):
    """Return what dates certificates, from some days after today to some others."""

    def build(name, key):
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(days=first))
            .not_valid_after(now + datetime.timedelta(days=last))
        )

    return build

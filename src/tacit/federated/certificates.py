"""Keys and certificates for agencies and coordinator: an authority, TLS, signatures."""

from __future__ import annotations

import datetime
import os
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tacit.core.errors import ParameterError, ReadError, WriteError
from tacit.federated.identity import Identity, Roster, check_name

_DAYS = 365


@dataclass(frozen=True)
class Credentials:
    """The folder of one agency or coordinator: certificate, keys, authority, roster."""

    folder: Path

    @property
    def name(self) -> str:
        """Name in the certificate."""
        subject = self._certificate("certificate.pem").subject
        found = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return check_name(str(found[0].value) if found else "")

    def identity(self) -> Identity:
        """Return name and signing key."""
        name, text = self.name, self._read("signing.key")
        try:
            return Identity(name, bytes.fromhex(text.decode().strip()))
        except ValueError as error:
            raise ReadError("signing.key holds no key", got=str(self.folder)) from error

    def roster(self) -> Roster:
        """Return the public keys of all agencies."""
        return Roster.read(self.folder / "roster.json")

    def server_context(self) -> ssl.SSLContext:
        """Return TLS for an agency, which shows itself only to holders of a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED
        return self._filled(context)

    def client_context(self) -> ssl.SSLContext:
        """Return TLS for a coordinator, which checks the names of agencies."""
        return self._filled(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    def _filled(self, context: ssl.SSLContext) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        for name in ("certificate.pem", "ca.pem"):
            self._require_valid(name)
        self._read("key.pem")
        try:
            context.load_cert_chain(self.folder / "certificate.pem", self.folder / "key.pem")
            context.load_verify_locations(self.folder / "ca.pem")
        except (ssl.SSLError, OSError) as error:
            raise ReadError("the certificates do not fit", got=str(self.folder)) from error
        return context

    def _certificate(self, name: str) -> x509.Certificate:
        content = self._read(name)
        try:
            return x509.load_pem_x509_certificate(content)
        except ValueError as error:
            raise ReadError(f"{name} is no certificate", got=str(self.folder)) from error

    def _require_valid(self, name: str) -> None:
        """Refuse a certificate that nobody accepts today."""
        certificate = self._certificate(name)
        first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        if not first <= datetime.datetime.now(datetime.UTC) <= last:
            raise ReadError(
                f"{name} is not valid today",
                got=f"{self.folder}: from {first:%Y-%m-%d} to {last:%Y-%m-%d}",
                do="make new ones for everybody with tacit certificates",
            )

    def _read(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise ReadError(
                f"no {name} in the folder of credentials",
                got=str(self.folder),
                do="make the folder with tacit certificates",
            ) from error


def make_certificates(
    folder: Path, agencies: Iterable[str], coordinator: str = "coordinator"
) -> dict[str, Credentials]:
    """Make an authority and a folder of credentials for each agency and for the coordinator.

    For tests, tutorials and small projects. Where it matters, each agency makes its own keys and
    the partners compare fingerprints: whoever makes all keys could read everything.
    """
    folder, names = Path(folder), [check_name(name) for name in agencies]
    if len(set(names)) != len(names) or coordinator in names:
        raise ParameterError("names must be different", got=[*names, coordinator])
    if folder.exists() and any(folder.iterdir()):
        raise WriteError("the folder is not empty", got=str(folder), do="choose another")
    authority = _Authority.new()
    identities = {name: Identity.new(name) for name in names}
    roster = Roster.of(identities.values())
    made = {}
    for name in [*names, check_name(coordinator)]:
        made[name] = _write(folder / name, name, authority, roster, identities.get(name))
    roster.save(folder / "roster.json")
    return made


def _write(
    folder: Path, name: str, authority: _Authority, roster: Roster, identity: Identity | None
) -> Credentials:
    folder.mkdir(parents=True)
    key = ec.generate_private_key(ec.SECP256R1())
    _private(folder / "key.pem", _pem(key))
    (folder / "certificate.pem").write_bytes(authority.certify(name, key.public_key()))
    (folder / "ca.pem").write_bytes(authority.pem())
    roster.save(folder / "roster.json")
    if identity is not None:
        _private(folder / "signing.key", identity.private.hex().encode() + b"\n")
    return Credentials(folder)


@dataclass(frozen=True)
class _Authority:
    """A certificate authority whose key is forgotten when everybody has a certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls) -> _Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _subject("tacit authority")
        build = _dated(name, key.public_key()).issuer_name(name)
        build = build.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        build = build.add_extension(_usage(certificates=True), critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        build = build.add_extension(identifier, critical=False)
        return cls(key, build.sign(key, hashes.SHA256()))

    def certify(self, name: str, key: ec.EllipticCurvePublicKey) -> bytes:
        """Return a certificate for a name, for both ends of a connection."""
        purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        build = (
            _dated(_subject(name), key)
            .issuer_name(self.certificate.subject)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
            .add_extension(_usage(certificates=False), critical=True)
            .add_extension(identifier, critical=False)
        )
        return build.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _dated(name: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
    )


def _usage(*, certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not certificates, key_cert_sign=certificates, crl_sign=certificates,
        content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)

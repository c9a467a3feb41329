"""ID tokens of OpenID Connect: what is signed by the provider, for us, now, and for this log-in."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.app.permissions import NotLoggedInError

ALGORITHMS = ("RS256", "ES256")
"""Signatures that are accepted; anything else, ``none`` and shared secrets included, is not."""
_LEEWAY = 60.0
"""Seconds by which clocks may differ."""
_OLDEST = 600.0
"""Seconds after which a token is too old to belong to the log-in that is under way."""
_LONGEST = 100_000
_SHORTEST_RSA = 2048


@dataclass(frozen=True)
class Expected:
    """What a token must say to be ours."""

    issuer: str
    client: str
    nonce: str


def verified(
    token: str, keys: Sequence[Mapping[str, Any]], expected: Expected, *, now: float | None = None
) -> dict[str, Any]:
    """Return the claims of a token whose signature and claims are right, or refuse it.

    Parameters
    ----------
    token
        The token, as the provider gave it.
    keys
        Public keys of the provider (the ``keys`` of its JWKS).
    expected
        Issuer, client and nonce of the log-in.
    now
        The time; the present unless given.
    """
    header, claims, signed, signature = _taken_apart(token)
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS or "crit" in header:
        raise _refused("its signature is of a kind that is not accepted")
    candidates = [key for key in keys if _fits(key, header)]
    if not any(_is_signed_by(key, str(algorithm), signed, signature) for key in candidates):
        raise _refused("its signature is not the provider's")
    _check(claims, expected, time.time() if now is None else now)
    return claims


def knows_key(token: str, keys: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of the keys may have signed a token, so that they need not be fetched anew."""
    header, *_ = _taken_apart(token)
    return any(_fits(key, header) for key in keys)


def _refused(why: str) -> NotLoggedInError:
    return NotLoggedInError(f"the provider's token is refused: {why}", do="log in again")


def _taken_apart(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    parts = token.split(".") if len(token) <= _LONGEST else []
    if len(parts) != 3:
        raise _refused("it is not a signed token")
    try:
        header, claims = json.loads(decoded(parts[0])), json.loads(decoded(parts[1]))
        signature = decoded(parts[2])
    except ValueError:
        raise _refused("it cannot be read") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise _refused("it cannot be read")
    return header, claims, f"{parts[0]}.{parts[1]}".encode(), signature


def decoded(text: str) -> bytes:
    """Return the bytes of base64url without padding.

    Examples
    --------
    >>> decoded("dGFjaXQ")
    b'tacit'
    """
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("not base64url") from error


def _fits(key: Mapping[str, Any], header: Mapping[str, Any]) -> bool:
    """Whether a key is meant for signatures of this kind and has the name the token gives."""
    wanted = {"RS256": "RSA", "ES256": "EC"}.get(str(header.get("alg")))
    named = header.get("kid") is None or key.get("kid") == header.get("kid")
    meant = key.get("use", "sig") == "sig" and key.get("alg", header.get("alg")) == header["alg"]
    return wanted is not None and key.get("kty") == wanted and named and meant


def _is_signed_by(key: Mapping[str, Any], algorithm: str, signed: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        check = _check_rsa if algorithm == "RS256" else _check_elliptic
        check(key, signed, signature)
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _number(text: str) -> int:
    return int.from_bytes(decoded(text), "big")


def _check_rsa(key: Mapping[str, Any], signed: bytes, signature: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric import padding, rsa
    from cryptography.hazmat.primitives.hashes import SHA256

    public = rsa.RSAPublicNumbers(_number(key["e"]), _number(key["n"])).public_key()
    if public.key_size < _SHORTEST_RSA:
        raise ValueError("the key is too short")
    public.verify(signature, signed, padding.PKCS1v15(), SHA256())


def _check_elliptic(key: Mapping[str, Any], signed: bytes, signature: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    if key["crv"] != "P-256" or len(signature) != 64:
        raise ValueError("not a P-256 signature")
    numbers = ec.EllipticCurvePublicNumbers(_number(key["x"]), _number(key["y"]), ec.SECP256R1())
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    numbers.public_key().verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))


def _check(claims: Mapping[str, Any], expected: Expected, now: float) -> None:
    if claims.get("iss") != expected.issuer:
        raise _refused("it is of another provider")
    _check_audience(claims, expected.client)
    _check_times(claims, now)
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode(), expected.nonce.encode()
    ):
        raise _refused("it belongs to another log-in")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= 255:
        raise _refused("it names nobody")


def _check_audience(claims: Mapping[str, Any], client: str) -> None:
    audience = claims.get("aud")
    several = audience if isinstance(audience, list) else [audience]
    # A token for several must say to whom of them it was given.
    given_to = claims.get("azp", client if len(several) == 1 else None)
    if client not in several or given_to != client:
        raise _refused("it is for somebody else")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires, issued = claims.get("exp"), claims.get("iat")
    begins = claims.get("nbf", issued)
    if not all(_is_time(t) for t in (expires, issued, begins)):
        raise _refused("it does not say when it is valid")
    if expires <= now - _LEEWAY or issued < now - _OLDEST:  # type: ignore[operator]
        raise _refused("it has expired")
    if max(issued, begins) > now + _LEEWAY:
        raise _refused("it is not valid yet")


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12

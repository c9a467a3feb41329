"""ID tokens: forged, foreign, old and odd ones are refused."""

import base64
import hashlib
import hmac
import json
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from tacit.app.id_token import Expected, decoded, knows_key, verified
from tacit.app.permissions import NotLoggedInError

EXPECTED = Expected("https://id.example", "tacit", "n0nce")
NOW = 1_800_000_000.0
CLAIMS = {
    "iss": "https://id.example", "aud": "tacit", "sub": "ann", "nonce": "n0nce",
    "iat": NOW - 5, "exp": NOW + 300,
}  # fmt: skip
RSA_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = rsa.generate_private_key(65537, 2048)


def b64(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _int(number, size=None):
    return b64(number.to_bytes(size or (number.bit_length() + 7) // 8, "big"))


def jwk(key, kid="one"):
    numbers = key.public_key().public_numbers()
    if isinstance(key, rsa.RSAPrivateKey):
        return {"kty": "RSA", "kid": kid, "use": "sig", "n": _int(numbers.n), "e": _int(numbers.e)}
    return {"kty": "EC", "kid": kid, "crv": "P-256",
            "x": _int(numbers.x, 32), "y": _int(numbers.y, 32)}  # fmt: skip


def signed(claims, key=RSA_KEY, **header):
    algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
    head = {"alg": algorithm, "kid": "one", **header}
    content = f"{b64(json.dumps(head).encode())}.{b64(json.dumps(claims).encode())}".encode()
    if isinstance(key, rsa.RSAPrivateKey):
        signature = key.sign(content, padding.PKCS1v15(), SHA256())
    else:
        r, s = decode_dss_signature(key.sign(content, ec.ECDSA(SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return f"{content.decode()}.{b64(signature)}"


def check(token, keys=None, now=NOW):
    return verified(token, [jwk(RSA_KEY)] if keys is None else keys, EXPECTED, now=now)


def test_a_right_token_is_accepted():
    assert check(signed(CLAIMS))["sub"] == "ann"
    assert check(signed(CLAIMS, EC_KEY), [jwk(EC_KEY)])["sub"] == "ann"
    several = CLAIMS | {"aud": ["tacit", "other"], "azp": "tacit"}
    assert check(signed(several))["sub"] == "ann"
    assert verified(signed(CLAIMS | {"iat": time.time(), "exp": time.time() + 9}),
                    [jwk(RSA_KEY)], EXPECTED)  # fmt: skip


def test_the_keys_agree_with_another_implementation():
    """The signature of joserfc over the same claims is accepted too."""
    from joserfc import jwt
    from joserfc.jwk import RSAKey

    pem = RSA_KEY.private_bytes(*_pem())
    token = jwt.encode({"alg": "RS256", "kid": "one"}, CLAIMS, RSAKey.import_key(pem))
    assert check(token)["sub"] == "ann"


def _pem():
    from cryptography.hazmat.primitives import serialization as s

    return s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"iss": "https://evil.example"}, "another provider"),
        ({"iss": None}, "another provider"),
        ({"iss": "https://id.example/"}, "another provider"),
        ({"aud": "other"}, "somebody else"),
        ({"aud": None}, "somebody else"),
        ({"aud": []}, "somebody else"),
        ({"aud": ["tacit", "other"]}, "somebody else"),
        ({"aud": ["tacit", "other"], "azp": "other"}, "somebody else"),
        ({"azp": "other"}, "somebody else"),
        ({"nonce": "other"}, "another log-in"),
        ({"nonce": None}, "another log-in"),
        ({"nonce": 5}, "another log-in"),
        ({"exp": NOW - 61}, "expired"),
        ({"exp": NOW + 300, "iat": NOW - 3600}, "expired"),
        ({"exp": None}, "when it is valid"),
        ({"exp": "2100"}, "when it is valid"),
        ({"exp": True}, "when it is valid"),
        ({"iat": None}, "when it is valid"),
        ({"iat": NOW + 3600, "exp": NOW + 9000}, "not valid yet"),
        ({"nbf": NOW + 3600}, "not valid yet"),
        ({"sub": ""}, "names nobody"),
        ({"sub": None}, "names nobody"),
        ({"sub": "x" * 256}, "names nobody"),
    ],
    ids=str,
)
def test_a_signed_token_that_says_something_else_is_refused(change, why):
    with pytest.raises(NotLoggedInError, match=why):
        check(signed(CLAIMS | change))


def test_an_unsigned_token_is_refused():
    head, body = b64(b'{"alg": "none"}'), b64(json.dumps(CLAIMS).encode())
    for token in (f"{head}.{body}.", f"{head}.{body}.{b64(b'x')}", f"{head}.{body}"):
        with pytest.raises(NotLoggedInError):
            check(token)
    stripped = signed(CLAIMS).rsplit(".", 1)[0]
    with pytest.raises(NotLoggedInError, match="signature"):
        check(f"{stripped}.")


@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "RS1", "PS256", "ES256K", None, 5])
def test_other_kinds_of_signature_are_refused(algorithm):
    with pytest.raises(NotLoggedInError, match="not accepted"):
        check(signed(CLAIMS, alg=algorithm))


def test_the_public_key_is_no_shared_secret():
    """The classic: the attacker signs with the public key as if it were an HMAC secret."""
    from cryptography.hazmat.primitives import serialization as s

    pem = RSA_KEY.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    head = b64(json.dumps({"alg": "HS256", "kid": "one"}).encode())
    content = f"{head}.{b64(json.dumps(CLAIMS).encode())}"
    mac = hmac.new(pem, content.encode(), hashlib.sha256).digest()
    with pytest.raises(NotLoggedInError, match="not accepted"):
        check(f"{content}.{b64(mac)}")


def test_keys_of_others_do_not_sign_for_the_provider():
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(signed(CLAIMS, OTHER))
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(signed(CLAIMS, kid="another"))
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(signed(CLAIMS, jwk=jwk(OTHER)), [])
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(signed(CLAIMS), [jwk(RSA_KEY) | {"use": "enc"}])
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(signed(CLAIMS), [jwk(EC_KEY)])
    short = rsa.generate_private_key(65537, 1024)  # noqa: S505 - that is the attack
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(signed(CLAIMS, short), [jwk(short)])


def test_a_changed_claim_breaks_the_signature():
    head, _body, signature = signed(CLAIMS).split(".")
    other = b64(json.dumps(CLAIMS | {"sub": "root"}).encode())
    with pytest.raises(NotLoggedInError, match="not the provider's"):
        check(f"{head}.{other}.{signature}")


@pytest.mark.parametrize("key", [{}, {"kty": "RSA"}, {"kty": "RSA", "n": "!", "e": "AQAB"},
                                 {"kty": "RSA", "n": 5, "e": None}])  # fmt: skip
def test_odd_keys_sign_nothing(key):
    with pytest.raises(NotLoggedInError):
        check(signed(CLAIMS), [key | {"kid": "one"}])


@given(st.one_of(st.text(max_size=200), st.from_regex(r"[\w-]{0,20}\.[\w-]{0,20}\.[\w-]{0,20}")))
def test_whatever_is_sent_is_refused_and_nothing_else_happens(text):
    with pytest.raises(NotLoggedInError):
        check(text)


def test_an_unknown_name_of_a_key_is_noticed():
    assert knows_key(signed(CLAIMS), [jwk(RSA_KEY)])
    assert not knows_key(signed(CLAIMS, kid="next"), [jwk(RSA_KEY)])


@pytest.mark.parametrize("text", ["a", "a=", "ä", "a b", "a\n=="])
def test_what_is_not_base64url_is_refused(text):
    with pytest.raises(ValueError, match="base64url"):
        decoded(text)

"""Logging in through a provider: a real one on this machine, and what attackers make of it."""

import base64
import hashlib
import http.server
import json
import threading
import time
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from fastapi.testclient import TestClient

from tacit.app.oidc import COOKIE, Provider
from tacit.app.permissions import Role
from tacit.app.serving import create_app
from tacit.core.errors import ParameterError

_OURS = {"oidc_client": "a", "oidc_secret": "b"}
KEY = rsa.generate_private_key(65537, 2048)


def _b64(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _token(claims, **header):
    head = {"alg": "RS256", "kid": "one", **header}
    content = f"{_b64(json.dumps(head).encode())}.{_b64(json.dumps(claims).encode())}"
    signature = KEY.sign(content.encode(), padding.PKCS1v15(), SHA256())
    return f"{content}.{_b64(signature)}"


class _Fake:
    """A provider that keeps the rules of the standard, and may be told to break them."""

    def __init__(self, address):
        self.issuer, self.codes, self.fetched = address, {}, []
        self.claims, self.header, self.about, self.methods = {}, {}, {}, ["client_secret_basic"]
        self.raw = None

    def configuration(self):
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": self.methods,
            **self.about,
        }

    def keys(self):
        numbers = KEY.public_key().public_numbers()
        size = (numbers.n.bit_length() + 7) // 8
        return {"keys": [{"kty": "RSA", "kid": "one", "alg": "RS256", "use": "sig",
                          "n": _b64(numbers.n.to_bytes(size, "big")), "e": "AQAB"}]}  # fmt: skip

    def authorize(self, asked):
        """A person logs in: return the address to which the browser is sent back."""
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def token(self, sent, authorization):
        asked = self.codes.pop(sent["code"], None)
        if asked is None:
            return 400, {"error": "invalid_grant"}
        challenge = _b64(hashlib.sha256(sent["code_verifier"].encode()).digest())
        pair = base64.b64encode(b"tacit:hush%2F%20%C3%BC").decode()
        authentic = authorization == f"Basic {pair}" or sent.get("client_secret") == "hush/ ü"
        if (
            challenge != asked["code_challenge"]
            or sent["redirect_uri"] != asked["redirect_uri"]
            or not authentic
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": "tacit", "sub": "248289761001", "nonce": asked["nonce"],
            "iat": now, "exp": now + 300, "preferred_username": "Ann", **self.claims,
        }  # fmt: skip
        token = self.raw(claims) if self.raw else _token(claims, **self.header)
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}


@pytest.fixture
def provider():
    """Serve the fake provider."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self, status, content):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def do_GET(self):
            fake.fetched.append(self.path)
            found = {
                "/.well-known/openid-configuration": fake.configuration,
                "/keys": fake.keys,
            }.get(self.path)
            self._answer(200, found()) if found else self._answer(404, {})

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            sent = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(*fake.token(sent, self.headers.get("Authorization")))

        def log_message(self, *_words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake = _Fake(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def opened(settings, parts, people, provider):
    """Return the app with the provider, and a browser."""
    chosen = settings.replace(
        oidc_issuer=provider.issuer,
        oidc_client="tacit",
        oidc_secret="hush/ ü",  # noqa: S106 - of the provider below
    )
    app = create_app(chosen)

    def browser():
        return TestClient(app, follow_redirects=False, raise_server_exceptions=False)

    return SimpleNamespace(app=app, browser=browser)


def _begun(browser, next="/"):
    """Go to the provider and return what was asked there."""
    answer = browser.get("/oidc/login", params={"next": next})
    assert answer.status_code == 303, answer.text
    parts = urlsplit(answer.headers["Location"])
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return answer, asked


def _back(browser, provider, asked, **changes):
    """Log in at the provider and come back."""
    there = urlsplit(provider.authorize(asked))
    sent = {name: values[0] for name, values in parse_qs(there.query).items()}
    return browser.get(there.path, params=sent | changes)


def test_a_person_logs_in_and_is_an_analyst(opened, provider, parts):
    browser = opened.browser()
    begun, asked = _begun(browser, "/ask")
    cookie = begun.headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert asked["redirect_uri"] == "http://testserver/oidc/callback"
    answer = _back(browser, provider, asked)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/ask"), answer.text
    session = browser.get("/api/v1/session").json()
    assert (session["name"], session["role"]) == ("Ann", Role.ANALYST)
    again = opened.browser()
    assert _back(again, provider, _begun(again)[1]).status_code == 303
    assert again.get("/api/v1/session").json()["name"] == "Ann"


def test_the_secrets_of_a_log_in_are_not_in_the_address_or_readable_in_the_cookie(opened):
    browser = opened.browser()
    _, asked = _begun(browser)
    cookie = browser.cookies[COOKIE]
    assert asked["state"] not in cookie
    assert asked["nonce"] not in cookie
    assert "verifier" not in asked
    assert "hush" not in str(asked)


def test_a_provider_that_wants_the_secret_in_the_form_gets_it_there(opened, provider):
    provider.methods = ["client_secret_post"]
    browser = opened.browser()
    assert _back(browser, provider, _begun(browser)[1]).status_code == 303


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another-app"},
        {"nonce": "another"},
        {"exp": 1_000_000_000, "iat": 999_999_000},
        {"sub": ""},
        {"azp": "another-app"},
    ],
    ids=["issuer", "audience", "nonce", "expired", "nobody", "party"],
)
def test_a_wrong_token_lets_nobody_in(opened, provider, claims):
    provider.claims = claims
    browser = opened.browser()
    answer = _back(browser, provider, _begun(browser)[1])
    assert answer.status_code == 401
    assert "refused" in answer.text
    assert browser.get("/api/v1/session").status_code == 401


def test_an_unsigned_token_lets_nobody_in(opened, provider):
    head = _b64(b'{"alg": "none"}')
    for signature in ("", _b64(b"x")):
        provider.raw = lambda claims, s=signature: f"{head}.{_b64(json.dumps(claims).encode())}.{s}"
        browser = opened.browser()
        assert _back(browser, provider, _begun(browser)[1]).status_code == 401
    provider.raw = lambda claims: _token(claims).rsplit(".", 1)[0] + "."
    browser = opened.browser()
    assert _back(browser, provider, _begun(browser)[1]).status_code == 401


def test_the_way_back_must_be_of_the_same_browser(opened, provider):
    """An attacker who lures somebody to a finished log-in would log them in as the attacker."""
    attacker, victim = opened.browser(), opened.browser()
    _, asked = _begun(attacker)
    assert _back(victim, provider, asked).status_code == 401
    _, own = _begun(victim)
    assert _back(victim, provider, asked).status_code == 401
    assert _back(victim, provider, own, state="").status_code == 401
    assert _back(victim, provider, own, state=own["state"] + "x").status_code == 401


def test_a_cookie_of_ones_own_making_is_refused(opened, provider):
    browser = opened.browser()
    _, asked = _begun(browser)
    forged = base64.urlsafe_b64encode(json.dumps(asked).encode()).decode()
    browser.cookies.set(COOKIE, forged, domain="testserver.local", path="/oidc")
    assert _back(browser, provider, asked).status_code == 401


def test_a_code_works_once_and_an_answer_of_another_provider_not_at_all(opened, provider):
    browser = opened.browser()
    _, asked = _begun(browser)
    assert _back(browser, provider, asked, iss="https://evil.example").status_code == 401
    assert _back(browser, provider, asked, code="code-guessed").status_code == 401
    assert _back(browser, provider, asked, error="access_denied").status_code == 401


def test_a_page_of_another_site_is_not_gone_on_to(opened, provider):
    for next in ("https://evil.example", "//evil.example", "/\\evil.example"):
        browser = opened.browser()
        answer = _back(browser, provider, _begun(browser, next)[1])
        assert answer.headers["Location"] == "/"


def test_somebody_elses_name_is_not_taken_over(opened, provider):
    provider.claims = {"preferred_username": "Root"}
    browser = opened.browser()
    answer = _back(browser, provider, _begun(browser)[1])
    assert answer.status_code == 401
    assert "somebody else has this name" in answer.text


def test_a_name_with_html_or_control_characters_is_harmless(opened, provider):
    provider.claims = {"preferred_username": " <b>Eve</b>\n\x00" + "x" * 300}
    browser = opened.browser()
    assert _back(browser, provider, _begun(browser)[1]).status_code == 303
    name = browser.get("/api/v1/session").json()["name"]
    assert name.isprintable()
    assert len(name) == 100


def test_a_closed_account_stays_closed(opened, provider, parts, people):
    browser = opened.browser()
    assert _back(browser, provider, _begun(browser)[1]).status_code == 303
    (ann,) = [p for p in parts.accounts.people(people["administrator"]) if p["name"] == "Ann"]
    parts.accounts.change(people["administrator"], ann["id"], active=False)
    assert _back(browser, provider, _begun(browser)[1]).status_code == 401


def test_a_provider_that_describes_itself_as_another_is_refused(opened, provider):
    provider.about = {"issuer": "https://evil.example"}
    assert opened.browser().get("/oidc/login").status_code == 401


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
def test_addresses_without_encryption_are_refused(opened, provider, name):
    for address in ("http://id.example/x", "file:///etc/hostname", ""):
        provider.about = {name: address}
        assert opened.browser().get("/oidc/login").status_code == 401


def test_keys_that_were_changed_are_fetched_once_more(opened, provider):
    browser = opened.browser()
    assert _back(browser, provider, _begun(browser)[1]).status_code == 303
    assert provider.fetched.count("/keys") == 1
    assert _back(browser, provider, _begun(browser)[1]).status_code == 303
    assert provider.fetched.count("/keys") == 1
    provider.header = {"kid": "two"}
    assert _back(browser, provider, _begun(browser)[1]).status_code == 401
    assert provider.fetched.count("/keys") == 2


def test_many_attempts_from_one_address_are_refused(opened):
    browser = opened.browser()
    statuses = [browser.get("/oidc/callback?code=x&state=y").status_code for _ in range(25)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


def test_without_a_provider_there_are_no_such_addresses(client):
    assert client().get("/oidc/login").status_code == 404


def test_settings_that_cannot_work_are_refused_at_the_start(settings):
    with pytest.raises(ParameterError, match="oidc_client"):
        Provider(settings.replace(oidc_issuer="https://id.example"))
    with pytest.raises(ParameterError, match="https"):
        Provider(settings.replace(oidc_issuer="http://id.example", **_OURS))

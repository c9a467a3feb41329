"""Logging in through an OpenID Connect provider: authorization code, PKCE, state and nonce."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
import urllib.error
import urllib.request
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tacit.app.api.accounts import set_cookie
from tacit.app.id_token import Expected, knows_key, verified
from tacit.app.permissions import NotLoggedInError, TooManyError
from tacit.core.errors import ParameterError, TacitError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

    from tacit.app.services import Services
    from tacit.app.settings import Settings

COOKIE = "tacit_oidc"
_MINUTES = 10
_LARGEST = 2**20
_HERE = ("127.0.0.1", "localhost", "::1")
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_FRESH = 3600.0
"""Seconds for which the provider's description and keys are kept."""


def install(app: FastAPI, settings: Settings) -> None:
    """Add the two addresses of the log-in; settings that cannot work are refused at the start."""
    app.state.oidc = Provider(settings)
    app.add_api_route("/oidc/login", begin, include_in_schema=False)
    app.add_api_route("/oidc/callback", finish, include_in_schema=False)


class Provider:
    """The provider: its description, its keys, and our secrets with it."""

    def __init__(self, settings: Settings) -> None:
        if not settings.oidc_client or not settings.oidc_secret:
            raise ParameterError(
                "oidc_issuer needs oidc_client and oidc_secret too", do="see the page on serving"
            )
        self.issuer = settings.oidc_issuer
        _require_encryption(self.issuer)
        self.client, self._secret = settings.oidc_client, settings.oidc_secret
        self._about: dict[str, Any] = {}
        self._keys: list[dict[str, Any]] = []
        self._fetched = 0.0

    @property
    def box(self) -> Fernet:
        """Lock for the cookie of a log-in under way; the same in all processes."""
        from cryptography.fernet import Fernet

        key = hmac.new(self._secret.encode(), b"tacit oidc cookie", hashlib.sha256).digest()
        return Fernet(base64.urlsafe_b64encode(key))

    def about(self) -> dict[str, Any]:
        """Return the provider's description of itself, which must be about itself."""
        if time.monotonic() - self._fetched > _FRESH or not self._about:
            found = _fetched(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != self.issuer:
                raise NotLoggedInError("the provider describes itself as another one")
            for name in _ENDPOINTS:
                _require_encryption(str(found.get(name, "")))
            self._about, self._keys, self._fetched = found, [], time.monotonic()
        return self._about

    def address(self, sent: dict[str, str], back: str) -> str:
        """Return where the browser shall go to log in."""
        challenge = hashlib.sha256(sent["verifier"].encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": back,
            "scope": "openid profile",
            "state": sent["state"],
            "nonce": sent["nonce"],
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        where = str(self.about()["authorization_endpoint"])
        return f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}"

    def claims(self, code: str, sent: dict[str, str], back: str) -> dict[str, Any]:
        """Exchange the code for a token and return what the token says, verified."""
        token = self._exchanged(code, sent["verifier"], back)
        if not self._keys or not knows_key(token, self._keys):
            found = _fetched(str(self.about()["jwks_uri"])).get("keys")
            keys = found if isinstance(found, list) else []
            self._keys = [key for key in keys if isinstance(key, dict)]
        return verified(token, self._keys, Expected(self.issuer, self.client, sent["nonce"]))

    def _exchanged(self, code: str, verifier: str, back: str) -> str:
        about = self.about()
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": verifier,
            "client_id": self.client,
        }
        headers = {}
        if "client_secret_basic" in about.get(
            "token_endpoint_auth_methods_supported", ["client_secret_basic"]
        ):
            pair = f"{quote(self.client, safe='')}:{quote(self._secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            body["client_secret"] = self._secret
        found = _fetched(str(about["token_endpoint"]), urlencode(body).encode(), headers)
        token = found.get("id_token")
        if not isinstance(token, str):
            raise NotLoggedInError("the provider gave no token")
        return token


def begin(request: Request, next: str = "/") -> Response:
    """Send the browser to the provider, with a cookie that ties the way back to it."""
    provider: Provider = request.app.state.oidc
    sent = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
    try:
        answer = RedirectResponse(provider.address(sent, _back(request)), status_code=303)
    except TacitError as error:
        return _sorry(error)
    content = json.dumps({**sent, "next": next[:2000]}).encode()
    answer.set_cookie(
        COOKIE, provider.box.encrypt(content).decode(), max_age=_MINUTES * 60, path="/oidc",
        httponly=True, samesite="lax", secure=_parts(request).settings.https,
    )  # fmt: skip
    return answer


def finish(
    request: Request, code: str = "", state: str = "", error: str = "", iss: str = ""
) -> Response:
    """Check what the browser brings back and begin a session."""
    try:
        sent = _sent(request, state, iss)
        if error or not code:
            raise NotLoggedInError("the provider did not let you in")
        claims = request.app.state.oidc.claims(code, sent, _back(request))
        subject = f"{claims['iss']} {claims['sub']}"
        session = _parts(request).accounts.log_in_subject(_fitting(subject), _name(claims))
    except TacitError as refused:
        return _sorry(refused)
    inside = sent["next"].startswith("/") and not sent["next"].startswith(("//", "/\\"))
    answer = RedirectResponse(sent["next"] if inside else "/", status_code=303)
    answer.delete_cookie(COOKIE, path="/oidc")
    set_cookie(answer, _parts(request).settings.https, session.token)
    return answer


def _sent(request: Request, state: str, iss: str) -> dict[str, str]:
    """Return what was sent along, from the cookie; the way back must be of the same log-in."""
    from cryptography.fernet import InvalidToken

    provider: Provider = request.app.state.oidc
    where = request.client.host if request.client else "unknown"
    if not request.app.state.attempts.allows(where):
        raise TooManyError("too many attempts from this address", do="wait a minute")
    try:
        cookie = request.cookies.get(COOKIE, "")
        sent: dict[str, str] = json.loads(provider.box.decrypt(cookie.encode(), _MINUTES * 60))
    except (InvalidToken, ValueError):
        raise NotLoggedInError("this log-in was not begun here, or too long ago") from None
    if not hmac.compare_digest(sent["state"].encode(), state.encode()):
        raise NotLoggedInError("this log-in was not begun in this browser")
    if iss and iss != provider.issuer:
        raise NotLoggedInError("the answer is of another provider")
    return sent


def _back(request: Request) -> str:
    """Return the address to which the provider sends the browser; the host is checked before."""
    scheme = "https" if _parts(request).settings.https else request.url.scheme
    return f"{scheme}://{request.headers['host']}/oidc/callback"


def _parts(request: Request) -> Services:
    parts: Services = request.app.state.services
    return parts


def _name(claims: dict[str, Any]) -> str:
    """Return what the person shall be called here."""
    for claim in ("preferred_username", "name", "sub"):
        name = claims.get(claim)
        if isinstance(name, str):
            clean = " ".join("".join(c for c in name if c.isprintable()).split())[:100]
            if clean:
                return clean
    raise NotLoggedInError("the provider's token is refused: it names nobody")


def _fitting(subject: str) -> str:
    """Return a subject as the store can keep it: a very long one by its hash."""
    if len(subject) <= 300:
        return subject
    return f"sha256 {hashlib.sha256(subject.encode()).hexdigest()}"


def _require_encryption(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _HERE):
        raise ParameterError("the provider must be reached by https", got=repr(address[:200]))


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the secret is for one address only."""

    def redirect_request(self, *_arguments: Any) -> None:
        """Refuse."""
        return None


def _fetched(
    address: str, data: bytes | None = None, headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a JSON object of the provider."""
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked before
        address, data=data, headers={"Accept": "application/json", **(headers or {})}
    )
    local = [urllib.request.ProxyHandler({})] if urlsplit(address).hostname in _HERE else []
    try:
        with urllib.request.build_opener(_Stay, *local).open(request, timeout=10) as answer:
            found = json.loads(answer.read(_LARGEST))
    except (OSError, ValueError) as error:
        raise NotLoggedInError(
            "the provider does not answer as it should", got=type(error).__name__, do="try again"
        ) from None
    if not isinstance(found, dict):
        raise NotLoggedInError("the provider does not answer as it should")
    return found


def _sorry(error: TacitError) -> Response:
    status = 429 if isinstance(error, TooManyError) else 401
    words = f"<!doctype html><title>tacit</title><p role='alert'>{escape(str(error))}</p>"
    return HTMLResponse(f"{words}<p><a href='/login'>Log in</a></p>", status_code=status)

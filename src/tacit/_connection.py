"""Requests of the client: JSON both ways, files streamed, errors as the errors they were."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from tacit.core.errors import ParameterError, ReadError, TacitError
from tacit.core.progress import track

_HERE = ("127.0.0.1", "localhost", "::1")
_LARGEST_ANSWER = 256 * 2**20
_BLOCK = 1 << 20


class Unreachable(ReadError):
    """The server does not answer."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key is for one server only."""

    def redirect_request(self, *_arguments: Any) -> None:
        """Refuse."""
        return None


class Connection:
    """One server and the key to it."""

    def __init__(self, address: str, key: str, *, timeout: float, insecure: bool) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(
                "this is not the address of an app", got=repr(address), do="begin with https://"
            )
        if parts.scheme == "http" and parts.hostname not in _HERE and not insecure:
            raise ParameterError(
                "the key would travel without encryption",
                got=address,
                do="use https, or say insecure=True",
            )
        self.address, self.timeout = address.rstrip("/"), timeout
        self._key = key
        local = [urllib.request.ProxyHandler({})] if parts.hostname in _HERE else []
        self._opener = urllib.request.build_opener(_Stay, *local)

    def ask(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """Send a request and return the JSON that answers it."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {"Content-Type": "application/json"} | _once(key)
        with self._open(method, path, data, headers) as answer:
            return _decoded(answer)

    def send(self, path: str, file: Path, *, key: str) -> Any:
        """Send a file as the body of a request, block by block."""
        try:
            size = file.stat().st_size
            content = file.open("rb")
        except OSError as error:
            raise ReadError(f"could not read {file}: {error.strerror}") from error
        headers = {"Content-Length": str(size), "Content-Type": "application/octet-stream"}
        with content, track(f"sending {file.name}", size) as advance:
            body = _Watched(content, advance)
            with self._open("PUT", path, body, headers | _once(key)) as answer:
                return _decoded(answer)

    def fetch(self, path: str, target: Path) -> None:
        """Save the body of an answer to a file, block by block."""
        with self._open("GET", path, None, {}) as answer, target.open("wb") as file:
            while block := answer.read(_BLOCK):
                file.write(block)

    @contextmanager
    def _open(self, method: str, path: str, data: Any, headers: Mapping[str, str]) -> Iterator[Any]:
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            f"{self.address}/api/v1{path}", data=data, method=method,
            headers={"Authorization": f"Bearer {self._key}", **headers},
        )  # fmt: skip
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            with error:
                raise _explained(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise _away(self.address, error) from error


class _Watched:
    """A file that reports how much of it was read."""

    def __init__(self, file: IO[bytes], advance: Callable[[float], None]) -> None:
        self._file, self._advance = file, advance

    def read(self, size: int = -1) -> bytes:
        """Return the next block."""
        block = self._file.read(max(size, _BLOCK))
        self._advance(len(block))
        return block


def _once(key: str | None) -> dict[str, str]:
    """Return the header by which the server knows a request that was sent twice."""
    return {} if key is None else {"Idempotency-Key": key}


def _decoded(answer: Any) -> Any:
    try:
        return json.loads(answer.read(_LARGEST_ANSWER))
    except ValueError as error:
        raise ReadError("this is not the answer of a tacit app", do="check the address") from error


def _away(address: str, error: Exception) -> Unreachable:
    reason = getattr(error, "reason", error)
    if isinstance(reason, BrokenPipeError | ConnectionResetError):
        what = "the server closed the connection before everything was sent"
        return Unreachable(what, got=address, do="the file may be larger than it takes")
    return Unreachable("the server does not answer", got=f"{address}: {reason}")


def _explained(error: urllib.error.HTTPError) -> TacitError:
    try:
        found = json.loads(error.read(1 << 20))["error"]
        return matching_error(str(found["type"]), str(found["message"]), found.get("do"))
    except (ValueError, KeyError, TypeError, AttributeError):
        what = "this is not the answer of a tacit app"
        return ReadError(what, got=f"status {error.code}", do="check the address")


def matching_error(kind: str, message: str, do: str | None = None) -> TacitError:
    """Return the error of ours that has this name; `message` ends with what to do.

    Examples
    --------
    >>> matching_error("DataError", "no data yet; upload a file", "upload a file").what
    'no data yet'
    """
    from tacit.core import errors

    found = getattr(errors, kind, None)
    what = message.removesuffix(f"; {do}") if do else message
    if isinstance(found, type) and issubclass(found, TacitError):
        return found(what, do=do)
    return TacitError(what, do=do)

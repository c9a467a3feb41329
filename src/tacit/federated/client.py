"""A coordinator's channel to an agency on the network."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tacit.core.errors import ParameterError
from tacit.federated.certificates import Credentials
from tacit.federated.coordinator import Coordinator
from tacit.federated.fixed_point import FixedPoint
from tacit.federated.identity import check_name
from tacit.federated.messages import LONGEST_MESSAGE
from tacit.federated.server import PATH
from tacit.federated.stopped import LostError

_PAUSE = 0.2
_PATIENCE = 10
"""Times the timeout that a whole answer may take: who sends a byte now and then is lost too."""


class _Connection(http.client.HTTPSConnection):
    """HTTPS to an address, with the name of the agency checked instead of the host's."""

    def __init__(self, agency: str, address: tuple[str, int], context: ssl.SSLContext,
                 timeout: float) -> None:  # fmt: skip
        super().__init__(*address, timeout=timeout, context=context)
        self._agency, self._tls = agency, context

    def connect(self) -> None:
        plain = socket.create_connection((self.host, self.port), self.timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.sock = self._tls.wrap_socket(plain, server_hostname=self._agency)
        except (OSError, ssl.SSLError):
            plain.close()
            raise


class TlsChannel:
    """A way to one agency over mutual TLS; a message is sent again when the connection breaks.

    Parameters
    ----------
    agency
        Name of the agency, which its certificate must have.
    address
        Host and port.
    context
        TLS of the coordinator.
    timeout
        Seconds to wait for an answer.
    tries
        How often a message is sent before the agency counts as lost.
    """

    def __init__(
        self,
        agency: str,
        address: tuple[str, int],
        context: ssl.SSLContext,
        *,
        timeout: float = 60.0,
        tries: int = 3,
    ) -> None:
        self._agency, self._address, self._context = check_name(agency), address, context
        self._timeout, self._tries = timeout, tries
        self._connection: _Connection | None = None

    def send(self, request: bytes) -> bytes:
        """Send a message and return the answer."""
        reason = ""
        for attempt in range(self._tries):
            try:
                return self._once(request)
            except (TimeoutError, ssl.SSLCertVerificationError) as error:
                self.close()
                raise LostError(_reason(error)) from error
            except (OSError, http.client.HTTPException) as error:
                self.close()
                reason = _reason(error)
                time.sleep(_PAUSE * attempt)
        raise LostError(reason)

    def _once(self, request: bytes) -> bytes:
        if self._connection is None:
            self._connection = _Connection(
                self._agency, self._address, self._context, self._timeout
            )
        headers = {"Content-Type": "application/octet-stream"}
        with _cut_after(self._connection, _PATIENCE * self._timeout):
            self._connection.request("POST", PATH, request, headers)
            response = self._connection.getresponse()
            body = response.read(LONGEST_MESSAGE + 1)
            if response.length:  # what http.client reads in part it returns without a word
                raise http.client.IncompleteRead(body, response.length)
        if response.status != 200 or len(body) > LONGEST_MESSAGE:
            self.close()
            raise LostError(f"answered with HTTP status {response.status}")
        return body

    def close(self) -> None:
        """Close the connection; the next message opens another."""
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.close()
            self._connection = None


@contextlib.contextmanager
def _cut_after(connection: _Connection, seconds: float) -> Iterator[None]:
    """Cut a connection on which an answer takes too long, however often something arrives."""
    late = threading.Event()

    def cut() -> None:
        late.set()
        if connection.sock is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        if late.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()


def _reason(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "did not answer in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not good: {error.verify_message}"
        case ssl.SSLError() if "ALERT" in (error.reason or ""):
            return f"does not accept this certificate ({error.reason})"
        case ConnectionRefusedError():
            return "cannot be reached"
        case _:
            return f"the connection broke ({type(error).__name__})"


def connect(
    agencies: Mapping[str, str],
    credentials: Path | str,
    *,
    threshold: int | None = None,
    encoding: FixedPoint | None = None,
    timeout: float = 60.0,
) -> Coordinator:
    """Return a coordinator for agencies on the network.

    Parameters
    ----------
    agencies
        Host and port of each agency, by name: ``{"hospital-a": "10.0.0.5:7400"}``.
    credentials
        The coordinator's folder, as ``tacit certificates`` makes it.
    threshold
        Agencies that must stay to the end.
    encoding
        How numbers are held.
    timeout
        Seconds to wait for each answer; operators who are asked need minutes.
    """
    own = Credentials(Path(credentials))
    context = own.client_context()
    channels = {
        name: TlsChannel(name, address_of(where), context, timeout=timeout)
        for name, where in agencies.items()
    }
    return Coordinator(channels, threshold=threshold, encoding=encoding, name=own.name)


def address_of(text: str) -> tuple[str, int]:
    """Return host and port of a text.

    Examples
    --------
    >>> address_of("localhost:7400")
    ('localhost', 7400)
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or not int(port) < 65536:
        raise ParameterError("an address is written host:port", got=repr(text))
    return host.strip("[]"), int(port)

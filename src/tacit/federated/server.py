"""An agency on the network: HTTPS with certificates on both sides."""

from __future__ import annotations

import contextlib
import socket
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tacit.federated.agency import Agency
from tacit.federated.certificates import Credentials
from tacit.federated.messages import LONGEST_HEADER

PATH = "/v1/messages"
_IDLE = 300.0
"""Seconds after which a silent connection is closed."""


class AgencyServer(ThreadingHTTPServer):
    """Answers messages to an agency until it is shut down.

    Parameters
    ----------
    agency
        The agency.
    credentials
        Its certificate and keys.
    address
        Where to listen; port 0 takes a free one.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, agency: Agency, credentials: Credentials, address: tuple[str, int]) -> None:
        self.agency = agency
        self.longest = LONGEST_HEADER + 64 + 32 * agency.policy.max_length
        self._context = credentials.server_context()
        super().__init__(address, _Handler)

    @property
    def port(self) -> int:
        """The port on which the agency listens."""
        return int(self.server_address[1])

    def get_request(self) -> tuple[Any, Any]:
        """Accept a connection; the handshake is left to its own thread."""
        plain, where = super().get_request()
        plain.settimeout(_IDLE)
        secured = self._context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        return secured, where

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Drop a connection that fails; what it was about is in nobody's interest."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: AgencyServer
    disable_nagle_algorithm = True

    def setup(self) -> None:
        self.request.do_handshake()
        super().setup()

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != PATH or not length.isascii() or not length.isdigit():
            return self._reply(400, b"")
        if int(length) > self.server.longest:
            return self._reply(413, b"")
        body = self.rfile.read(int(length))
        if len(body) == int(length):
            self._reply(200, self.server.agency.handle(body, _peer(self.request)))
        return None

    def _reply(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        if code != 200:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: the agency has a log of its own."""

    def version_string(self) -> str:
        """Do not tell what runs here."""
        return "tacit"

    def finish(self) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            super().finish()
        with contextlib.suppress(OSError):
            self.request.shutdown(socket.SHUT_RDWR)


def _peer(connection: ssl.SSLSocket) -> str:
    """Return the name in the certificate of the other side."""
    subject: Any = (connection.getpeercert() or {}).get("subject", ())
    return next((str(v) for part in subject for k, v in part if k == "commonName"), "")

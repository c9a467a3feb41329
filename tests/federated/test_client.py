"""Channels: sent again after a break, lost after silence."""

import contextlib
import socket
import threading
import time

import pytest

from tacit.core.errors import ParameterError
from tacit.federated import client
from tacit.federated.certificates import make_certificates
from tacit.federated.client import TlsChannel, address_of, connect
from tacit.federated.stopped import LostError


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("keys") / "new", ["a", "b", "c"])


def test_a_closed_port_is_lost(keys):
    with socket.socket() as taken:  # held and silent: nobody else can begin to listen there
        taken.bind(("127.0.0.1", 0))
        where = taken.getsockname()
        way = TlsChannel("a", where, keys["coordinator"].client_context(), tries=2)
        with pytest.raises(LostError, match="cannot be reached"):
            way.send(b"x")


def test_silence_is_lost_in_time(keys):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        way = TlsChannel(
            "a", silent.getsockname(), keys["coordinator"].client_context(), timeout=0.3
        )
        started = time.monotonic()
        with pytest.raises(LostError, match="in time"):
            way.send(b"x")
        assert time.monotonic() - started < 60  # 0.3 s; the machine may be busy


def test_an_answer_that_drips_is_lost_in_time(keys, monkeypatch):
    """A byte now and then keeps a connection alive, and would hold the computation for ever."""
    monkeypatch.setattr(client, "_PATIENCE", 2)
    tls, stop = keys["a"].server_context(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as dripping:

        def drip():
            plain, _ = dripping.accept()
            with contextlib.suppress(OSError), tls.wrap_socket(plain, server_side=True) as way:
                way.recv(1000)
                way.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not stop.wait(0.05):
                    way.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        way = TlsChannel(
            "a", dripping.getsockname(), keys["coordinator"].client_context(), timeout=1.0
        )
        try:
            with pytest.raises(LostError, match="in time"):
                way.send(b"x")
        finally:
            stop.set()
            way.close()
            thread.join()


def test_an_answer_that_is_cut_short_is_no_answer(keys):
    """Half a message of an agency that dies is sent for again, never used."""
    tls = keys["a"].server_context()
    with socket.create_server(("127.0.0.1", 0)) as dying:

        def die():
            plain, _ = dying.accept()
            with contextlib.suppress(OSError), tls.wrap_socket(plain, server_side=True) as way:
                asked = b""
                while not asked.endswith(b"\r\n\r\nx"):  # what is not read would reset the rest
                    asked += way.recv(1000)
                way.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

        thread = threading.Thread(target=die, daemon=True)
        thread.start()
        context = keys["coordinator"].client_context()
        way = TlsChannel("a", dying.getsockname(), context, tries=1)
        with pytest.raises(LostError, match="broke"):
            way.send(b"x")
        thread.join()


def test_a_broken_connection_is_tried_again(keys):
    accepted = []
    with socket.create_server(("127.0.0.1", 0)) as breaking:

        def break_all():
            for _ in range(2):
                connection, _ = breaking.accept()
                accepted.append(1)
                connection.close()

        thread = threading.Thread(target=break_all)
        thread.start()
        way = TlsChannel(
            "a", breaking.getsockname(), keys["coordinator"].client_context(), timeout=60, tries=2
        )
        with pytest.raises(LostError, match="broke"):
            way.send(b"x")
        thread.join()
    assert len(accepted) == 2


@pytest.mark.parametrize("text", ["", "host", ":1", "host:x", "host:70000", "host:-1"])
def test_bad_addresses_are_refused(text):
    with pytest.raises(ParameterError, match="host:port"):
        address_of(text)


def test_addresses():
    assert address_of("[::1]:7400") == ("::1", 7400)


def test_a_coordinator_knows_its_name(keys):
    where = {n: "localhost:1" for n in "abc"}
    assert connect(where, keys["coordinator"].folder).name == "coordinator"
    with pytest.raises(ParameterError, match="at least three"):
        connect({"a": "localhost:1"}, keys["coordinator"].folder)

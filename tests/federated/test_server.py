"""An agency on the network: only for holders of a certificate, and not for long messages."""

import contextlib
import datetime
import http.client
import socket
import ssl
import threading

import pytest

from tacit.federated import certificates
from tacit.federated import messages as m
from tacit.federated.agency import Agency
from tacit.federated.certificates import Credentials, make_certificates
from tacit.federated.client import TlsChannel
from tacit.federated.policy import Policy
from tacit.federated.server import PATH, AgencyServer
from tacit.federated.stopped import LostError


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("keys") / "new", ["a", "b", "c"])


@pytest.fixture(scope="module")
def server(keys, parts):
    own = keys["a"]
    agency = Agency(
        own.identity(), parts["agency-00"], own.roster(), policy=Policy(max_length=1000)
    )
    with serving(agency, own) as server:
        yield server


@contextlib.contextmanager
def serving(agency, credentials):
    with AgencyServer(agency, credentials, ("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def channel(server, credentials, name="a", **options):
    return TlsChannel(name, ("127.0.0.1", server.port), credentials.client_context(), **options)


def proposal(coordinator="coordinator"):
    return m.Propose(
        proposal=m.Proposal(
            computation="0" * 32,
            analysis={"analysis": "count"},
            participants=("a", "b", "c"),
            threshold=2,
            coordinator=coordinator,
        )
    ).encode()


def test_messages_are_answered_over_one_connection(server, keys):
    way = channel(server, keys["coordinator"])
    assert m.decode(way.send(proposal())).kind == "accepted"
    assert m.decode(way.send(b"noise")).kind == "refused"
    way.close()
    assert m.decode(way.send(proposal())).kind == "accepted"
    way.close()


def test_another_certificate_cannot_take_the_coordinators_name(server, keys):
    way, true = channel(server, keys["b"]), channel(server, keys["coordinator"])
    true.send(proposal())
    intruding = [
        proposal(),
        m.AskKeys(computation="0" * 32, step=0).encode(),
        m.Close(computation="0" * 32).encode(),
    ]
    replies = [m.decode(way.send(one)) for one in intruding]
    way.close()
    true.close()
    assert [getattr(one, "reason", one.kind) for one in replies] == [
        "the coordinator named is not the one that asks"
    ] * 3


def test_without_a_certificate_there_is_no_answer(server, keys):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(keys["a"].folder / "ca.pem")
    way = TlsChannel("a", ("127.0.0.1", server.port), context, tries=1)
    with pytest.raises(LostError):
        way.send(proposal())


def test_a_certificate_of_another_authority_is_refused(server, tmp_path):
    others = make_certificates(tmp_path / "new", ["a", "b", "c"])
    with pytest.raises(LostError, match="certificate"):
        channel(server, others["coordinator"], tries=1).send(proposal())
    context = others["coordinator"].client_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.raises(LostError):
        TlsChannel("a", ("127.0.0.1", server.port), context, tries=1).send(proposal())


@pytest.mark.parametrize("side", ["agency", "coordinator"])
def test_an_expired_certificate_is_refused_by_the_other_side(
    keys, parts, tmp_path, monkeypatch, side
):
    """Also where its owner does not look at it."""
    authority, roster, ends = certificates._Authority.new(), keys["a"].roster(), {}
    dated = certificates._dated
    for name, late in (("a", side == "agency"), ("coordinator", side == "coordinator")):
        with monkeypatch.context() as past:
            if late:
                past.setattr(certificates, "_dated", lambda *given: yesterday(dated(*given)))
            ends[name] = certificates._write(tmp_path / name, name, authority, roster, None)
    monkeypatch.setattr(Credentials, "_require_valid", lambda self, name: None)
    agency = Agency(keys["a"].identity(), parts["agency-00"], roster)
    with serving(agency, ends["a"]) as server, pytest.raises(LostError) as lost:
        channel(server, ends["coordinator"], tries=1).send(proposal())
    assert not agency.ledger.entries()
    assert "has expired" in str(lost.value) or side == "coordinator"


def yesterday(build):
    """Return a certificate in the making that was valid until a day ago."""
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)
    build._not_valid_before, build._not_valid_after = None, None
    return build.not_valid_before(now - 9 * day).not_valid_after(now - day)


def test_an_agency_under_another_name_is_refused(server, keys):
    with pytest.raises(LostError, match="certificate"):
        channel(server, keys["coordinator"], name="b").send(proposal())


def test_plain_text_is_not_spoken(server, keys):
    with socket.create_connection(("127.0.0.1", server.port), 5) as plain:
        plain.sendall(b"POST /v1/messages HTTP/1.1\r\n\r\n")
        plain.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            assert not plain.recv(100).startswith(b"HTTP")
    way = channel(server, keys["coordinator"])
    assert m.decode(way.send(proposal())).kind == "accepted"
    way.close()


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [
        (PATH, str(2**40), 413),
        (PATH, "-1", 400),
        (PATH, "x", 400),
        ("/other", "0", 400),
    ],
    ids=["long", "negative", "word", "path"],
)
def test_bad_requests_are_refused_before_they_are_read(server, keys, path, length, status):
    context = keys["coordinator"].client_context()
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", length)
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == status
    assert "Python" not in str(answer.headers)
    connection.close()

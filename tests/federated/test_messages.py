"""Messages: what goes in comes out, what does not fit is refused."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import TacitError
from tacit.federated import messages as m

ID = "0" * 32


def framed(header, payload=b"", version=m.VERSION):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">3sBI", b"TFA", version, len(text)) + text + payload


@pytest.mark.parametrize(
    "message",
    [
        m.AskKeys(computation=ID, step=3),
        m.Masked(payload=b"\0\1\2"),
        m.Refused(reason="nein, größer"),
        m.AskUnmask(computation=ID, step=0, survivors=("a", "b")),
        m.Finished(answer={"b": 1.5, "a": [1, None]}),
        m.Propose(
            proposal=m.Proposal(
                computation=ID, analysis={"analysis": "count"}, participants=("a",), threshold=2
            )
        ),
    ],
    ids=lambda message: message.kind,
)
def test_a_message_comes_back(message):
    assert m.decode(message.encode()) == message


@given(st.binary(max_size=200))
def test_noise_is_refused(data):
    with pytest.raises(TacitError):
        m.decode(data)


@given(st.binary(max_size=60))
def test_noise_as_a_header_is_refused(data):
    with pytest.raises(TacitError):
        m.decode(framed(data))


@pytest.mark.parametrize(
    "header",
    [
        {"kind": "nothing"},
        {},
        {"kind": ["a"]},
        {"kind": "ask-keys", "computation": ID, "step": -1},
        {"kind": "ask-keys", "computation": ID + "\n", "step": 1},
        {"kind": "ask-keys", "computation": ID, "step": 1, "more": 1},
        {"kind": "ask-keys", "computation": "../../etc", "step": 1},
        {"kind": "masked", "payload": "x"},
        {"kind": "shares", "sealed": {"a": "0"}},
        {"kind": "shares", "sealed": {"a": "00" * 513}},
        {"kind": "shares", "sealed": {f"a{i}": "" for i in range(1001)}},
        {"kind": "refused", "reason": "x" * 2001},
        [1],
    ],
    ids=str,
)
def test_bad_headers_are_refused(header):
    with pytest.raises(TacitError):
        m.decode(framed(header))


def test_another_version_is_named():
    with pytest.raises(TacitError, match="version 2, this program speaks 1"):
        m.decode(framed({"kind": "closed"}, version=2))


def test_sizes_are_bounded():
    with pytest.raises(TacitError, match="too long"):
        m.decode(m.Masked(payload=bytes(100)).encode(), limit=50)
    with pytest.raises(TacitError, match="header"):
        m.decode(struct.pack(">3sBI", b"TFA", 1, m.LONGEST_HEADER + 1) + b"{}")
    with pytest.raises(TacitError):
        m.decode(framed(b"[" * 100_000))


def test_the_digest_is_that_of_the_whole_proposal():
    base = m.Proposal(computation=ID, analysis={}, participants=("a", "b"), threshold=2)
    changed = [
        base.replace(computation="1" * 32),
        base.replace(analysis={"y": 1}),
        base.replace(participants=("a", "c")),
        base.replace(threshold=3),
        base.replace(purpose="x"),
        base.replace(encoding={"words": 1}),
    ]
    assert len({one.digest() for one in [base, *changed]}) == 7

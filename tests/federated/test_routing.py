"""What the coordinator passes between pairs: each text to its receiver, or who sent nonsense."""

import numpy as np
import pytest

from tacit.federated import messages as m
from tacit.federated.matrix_product import PRODUCT
from tacit.federated.routing import align, multiply
from tacit.federated.stopped import StoppedError

NAMES = ("a", "b", "c")


class Scripted:
    """Agencies that answer from a script, and keep what they were asked."""

    def __init__(self, **answers):
        self.at = {"computation": "0" * 32, "step": 0}
        self.answers, self.asked = answers, {}

    def __call__(self, wanted, request):
        self.asked[wanted.kind] = {name: request(name) for name in NAMES}
        return {name: self.answers[wanted.kind](name) for name in NAMES}


def tags(*numbers):
    return b"".join(n.to_bytes(16, "big") for n in numbers)


HAVE = {"a": tags(1, 2, 5, 9), "b": tags(2, 3, 5, 9), "c": tags(2, 9, 11)}


def aligning(**changed):
    answers = {
        "public": lambda n: m.Public(key="0" * 64, signature="00"),
        "parts": lambda n: m.Parts(sealed={o: (n + o).encode().hex() for o in NAMES if o != n}),
        "tags": lambda n: m.Tags(payload=HAVE[n]),
        "aligned": lambda n: m.Aligned(),
    }
    return Scripted(**{**answers, **changed})


def test_common_tags_are_handed_to_everyone():
    ask = aligning()
    assert align(ask) == 2
    assert {r.payload for r in ask.asked["aligned"].values()} == {tags(2, 9)}
    assert ask.asked["tags"]["b"].sealed == {"a": b"ab".hex(), "c": b"cb".hex()}


@pytest.mark.parametrize(
    "payload", [tags(1)[:-1], tags(2, 1), tags(1, 1)], ids=["cut", "falling", "twice"]
)
def test_nonsense_for_tags_names_the_agency(payload):
    ask = aligning(tags=lambda n: m.Tags(payload=payload if n == "b" else HAVE[n]))
    with pytest.raises(StoppedError) as stopped:
        align(ask)
    assert set(stopped.value.who) == {"b"}


def test_each_hidden_text_goes_to_its_receiver():
    ask = Scripted(
        hidden=lambda n: m.Hidden(payload=b"".join((n + o).encode() for o in NAMES if o != n)),
        joined=lambda n: m.Joined(),
    )
    multiply(ask, 4, {"a": 1, "b": 2, "c": 1})
    assert {n: r.payload for n, r in ask.asked["joined"].items()} == {
        "a": b"baca", "b": b"abcb", "c": b"acbc",
    }  # fmt: skip


def test_shares_of_the_dealer_are_uniform_alone_and_fit_together():
    ask = Scripted(hidden=lambda n: m.Hidden(payload=b"0000"), joined=lambda n: m.Joined())
    multiply(ask, 3, dict.fromkeys(NAMES, 1))
    one, other = ask.asked["hidden"]["a"], ask.asked["hidden"]["b"]
    assert set(one.seeds) == {"b", "c"}
    assert one.seeds["b"] != other.seeds["a"]
    first, second = (PRODUCT.unpack(r.payload[:16], 1) for r in (one, other))
    from tacit.federated.matrix_product import factors, ring_product

    u, v = (factors(bytes.fromhex(s), 3, 1) for s in (one.seeds["b"], other.seeds["a"]))
    assert np.array_equal(PRODUCT.add(first, second), ring_product(u, v))


def test_texts_of_the_wrong_shape_name_the_agency():
    ask = Scripted(hidden=lambda n: m.Hidden(payload=b"xyz" if n == "c" else b"xy"))
    with pytest.raises(StoppedError) as stopped:
        multiply(ask, 3, dict.fromkeys(NAMES, 1))
    assert set(stopped.value.who) == {"c"}

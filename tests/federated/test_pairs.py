"""Texts between two agencies: only the receiver reads them, and nobody changes them."""

import pytest

from tacit.federated import messages as m
from tacit.federated.identity import Identity, Roster
from tacit.federated.pairs import EXTRA_BYTES, Pairs
from tacit.federated.stopped import RefusedError

NAMES = ("a", "b", "c")


def met():
    identities = [Identity.new(name) for name in NAMES]
    roster = Roster.of(identities)
    proposal = m.Proposal(computation="0" * 32, analysis={}, participants=NAMES, threshold=3)
    members = {i.name: Pairs(proposal, i, roster) for i in identities}
    keys = {name: one.public() for name, one in members.items()}
    for one in members.values():
        one.meet(keys)
    return members, keys


def test_a_text_arrives():
    members, _ = met()
    sealed = members["a"].seal("b", b"units", b"secret")
    assert members["b"].open("a", b"units", sealed) == b"secret"
    assert len(sealed) == len(b"secret") + EXTRA_BYTES
    assert b"secret" not in sealed
    assert members["a"].partners == ["b", "c"]


@pytest.mark.parametrize(
    ("receiver", "sender", "about"),
    [("c", "a", b"units"), ("b", "c", b"units"), ("b", "a", b"others"), ("a", "b", b"units")],
    ids=["another receiver", "another sender", "other things", "sent back"],
)
def test_attack_a_text_is_bound_to_who_and_what(receiver, sender, about):
    members, _ = met()
    sealed = members["a"].seal("b", b"units", b"secret")
    with pytest.raises(RefusedError, match="changed on the way"):
        members[receiver].open(sender, about, sealed)


@pytest.mark.parametrize("keep", [0, 5, 20, 33])
def test_attack_a_text_cut_short_is_refused(keep):
    members, _ = met()
    sealed = members["a"].seal("b", b"", b"secret")
    with pytest.raises(RefusedError):
        members["b"].open("a", b"", sealed[:keep])


def test_attack_keys_that_an_agency_did_not_sign_are_refused():
    members, keys = met()
    _, others = met()
    with pytest.raises(RefusedError, match="signature of b"):
        members["a"].meet({**keys, "b": others["b"]})
    fresh = Pairs(members["a"].proposal, members["a"].identity, members["a"].roster)
    with pytest.raises(RefusedError, match="own"):
        members["a"].meet({**keys, "a": fresh.public()})
    with pytest.raises(RefusedError, match="all agencies"):
        members["a"].meet({name: keys[name] for name in "ab"})


def test_attack_keys_of_another_computation_are_refused():
    members, keys = met()
    other = members["b"].proposal.replace(purpose="other")
    moved = Pairs(other, members["b"].identity, members["b"].roster)
    with pytest.raises(RefusedError, match="signature of b"):
        members["a"].meet({**keys, "b": moved.public()})


def test_keys_come_before_texts():
    identity = Identity.new("a")
    proposal = m.Proposal(computation="0" * 32, analysis={}, participants=NAMES, threshold=3)
    alone = Pairs(proposal, identity, Roster.of([identity]))
    with pytest.raises(RefusedError, match="keys come first"):
        alone.seal("b", b"", b"secret")

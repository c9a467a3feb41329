"""One agency's part in a sum: masks cancel, secrets stay, cheating is refused."""

import numpy as np
import pytest

from tacit.federated import messages as m
from tacit.federated.fixed_point import COUNTS
from tacit.federated.identity import Identity, Roster
from tacit.federated.integrity import N_TAGS
from tacit.federated.shamir import SHARE_BYTES
from tacit.federated.stopped import RefusedError
from tacit.federated.summation import Summation
from tacit.federated.unmasking import Unmasking

NAMES = ("a", "b", "c", "d")


def begun(names=NAMES, threshold=3):
    """Agencies that have shown their keys."""
    identities = [Identity.new(name) for name in names]
    roster = Roster.of(identities)
    proposal = m.Proposal(
        computation="0" * 32, analysis={}, participants=names, threshold=threshold, encoding=COUNTS
    )
    members = {i.name: Summation(proposal, 0, i, roster) for i in identities}
    return members, {name: one.public() for name, one in members.items()}


def shared(names=NAMES, threshold=3):
    """Agencies that have shared their secrets, and what each gets from the others."""
    members, keys = begun(names, threshold)
    sent = {name: one.share(keys).sealed for name, one in members.items()}
    inboxes = {n: {o: sent[o][n] for o in names if o != n} for n in names}
    return members, keys, inboxes


@pytest.mark.parametrize("lost", [(), ("a",), ("d",)], ids=["nobody", "first", "last"])
def test_the_sum_of_the_survivors_comes_out(lost):
    members, keys, inboxes = shared()
    values = {n: np.arange(5) * 10.0**k for k, n in enumerate(NAMES)}
    masked = {n: members[n].mask(inboxes[n], values[n]) for n in NAMES}
    survivors = tuple(n for n in NAMES if n not in lost)
    given = {n: members[n].unmask(survivors) for n in survivors}
    arrived = {n: COUNTS.unpack(masked[n].payload, 5 + N_TAGS) for n in survivors}
    total = Unmasking(members["a"].proposal, 0, keys, arrived, given).total()
    expected = sum(values[n] for n in survivors)
    for name in survivors:
        found = members[name].reveal(survivors, COUNTS.pack(total), 5)
        assert np.array_equal(found, expected)
    assert not np.array_equal(COUNTS.decode(total)[:5], expected)  # the coordinator sees a mask


def test_seed_and_key_of_one_agency_are_never_both_given():
    members, _, inboxes = shared()
    members["a"].mask(inboxes["a"], np.zeros(1))
    given = members["a"].unmask(("a", "b", "c"))
    assert set(given.seeds) == {"a", "b", "c"}
    assert set(given.keys) == {"d"}


def test_keys_of_a_stranger_are_refused():
    members, keys = begun()
    stranger = Summation(members["b"].proposal, 0, Identity.new("b"), members["b"].roster)
    with pytest.raises(RefusedError, match="signature of b"):
        members["a"].share({**keys, "b": stranger.public()})


def test_keys_of_another_sum_or_proposal_are_refused():
    members, keys = begun()
    for changed in (
        {"step": 1},
        {"proposal": members["b"].proposal.replace(purpose="other")},
    ):
        parts = {"proposal": members["b"].proposal, "step": 0, **changed}
        other = Summation(**parts, identity=members["b"].identity, roster=members["b"].roster)
        with pytest.raises(RefusedError, match="signature"):
            members["a"].share({**keys, "b": other.public()})


def test_own_keys_must_be_handed_out():
    members, keys = begun()
    other = Summation(members["a"].proposal, 0, members["a"].identity, members["a"].roster)
    with pytest.raises(RefusedError, match="other keys"):
        members["a"].share({**keys, "a": other.public()})


def test_changed_or_misdirected_shares_are_refused():
    members, _, inboxes = shared()
    text = inboxes["a"]["b"]
    flipped = text[:-2] + f"{int(text[-2:], 16) ^ 1:02x}"
    for wrong in (flipped, inboxes["c"]["b"], "", "00"):
        with pytest.raises(RefusedError, match="shares of b"):
            members["a"].mask({**inboxes["a"], "b": wrong}, np.zeros(1))


@pytest.mark.parametrize(
    ("survivors", "why"),
    [
        (("a", "b"), "only 2"),
        (("b", "c", "d"), "left out"),
        (("a", "b", "b"), "not those"),
        (("a", "b", "z"), "not those"),
    ],
    ids=["few", "without", "twice", "stranger"],
)
def test_bad_survivors_are_refused(survivors, why):
    members, _, inboxes = shared()
    members["a"].mask(inboxes["a"], np.zeros(1))
    with pytest.raises(RefusedError, match=why):
        members["a"].unmask(survivors)


def test_a_changed_sum_is_refused():
    members, keys, inboxes = shared()
    masked = {n: members[n].mask(inboxes[n], np.ones(2)) for n in NAMES}
    given = {n: members[n].unmask(NAMES) for n in NAMES}
    arrived = {n: COUNTS.unpack(masked[n].payload, 2 + N_TAGS) for n in NAMES}
    total = Unmasking(members["a"].proposal, 0, keys, arrived, given).total()
    total[0, 0] += np.uint64(100)
    with pytest.raises(RefusedError, match="was changed"):
        members["a"].reveal(NAMES, COUNTS.pack(total), 2)


def test_secrets_are_not_shown():
    members, _, _ = shared()
    one = members["a"]
    for secret in (one.mask_key, one.own_seed, one.channel_key, one.common_part):
        assert repr(secret) not in repr(one)
    assert SHARE_BYTES == 66

"""The coordinator's part: false shares are worked around or stop the sum."""

import secrets

import numpy as np
import pytest

from tacit.core.errors import ProtectionError
from tacit.federated.fixed_point import COUNTS
from tacit.federated.identity import Identity, Roster
from tacit.federated.messages import Proposal, Unmask
from tacit.federated.shamir import PRIME
from tacit.federated.summation import Summation
from tacit.federated.unmasking import Unmasking, _choices

NAMES = ("a", "b", "c", "d", "e")


def finished(lost=(), threshold=3):
    identities = [Identity.new(name) for name in NAMES]
    proposal = Proposal(
        computation="0" * 32, analysis={}, participants=NAMES, threshold=threshold, encoding=COUNTS
    )
    roster = Roster.of(identities)
    members = {i.name: Summation(proposal, 0, i, roster) for i in identities}
    keys = {n: one.public() for n, one in members.items()}
    sent = {n: one.share(keys).sealed for n, one in members.items()}
    masked = {
        n: one.mask({o: sent[o][n] for o in NAMES if o != n}, np.array([1.0, 2.0]))
        for n, one in members.items()
    }
    left = tuple(n for n in NAMES if n not in lost)
    shares = {n: members[n].unmask(left) for n in left}
    arrived = {n: COUNTS.unpack(masked[n].payload, 4) for n in left}
    return members, left, Unmasking(proposal, 0, keys, arrived, shares)


def revealed(members, left, total):
    return members[left[0]].reveal(left, COUNTS.pack(total), 2)


def nudged(share):
    """A false share."""
    return ((int(share, 16) + secrets.randbelow(PRIME)) % PRIME).to_bytes(66, "big").hex()


@pytest.mark.parametrize("lost", [(), ("b",), ("a", "e")], ids=["none", "one", "two"])
def test_masks_of_lost_agencies_are_taken_away(lost):
    members, left, unmasking = finished(lost)
    assert np.array_equal(revealed(members, left, unmasking.total()), [len(left), 2 * len(left)])


def test_one_liar_among_the_shares_is_worked_around():
    members, left, unmasking = finished(("e",))
    given = unmasking.shares["a"]
    false = Unmask(
        seeds={n: nudged(s) for n, s in given.seeds.items()},
        keys={n: nudged(s) for n, s in given.keys.items()},
    )
    cheated = Unmasking(
        unmasking.proposal, 0, unmasking.keys, unmasking.contributions,
        {**unmasking.shares, "a": false},
    )  # fmt: skip
    assert np.array_equal(revealed(members, left, cheated.total()), [4, 8])


def test_two_liars_among_twenty_are_left_out_soon():
    names = [f"agency-{k:02d}" for k in range(20)]
    tries = [set(chosen) for _, chosen in zip(range(2000), _choices(names, 14), strict=False)]
    assert all(len(chosen) == 14 for chosen in tries)
    for liars in ({"agency-00"}, {"agency-00", "agency-01"}, {"agency-07", "agency-19"}):
        assert any(not liars & chosen for chosen in tries[:211])


def test_too_many_liars_stop_the_sum():
    _, _, unmasking = finished()
    false = {
        n: Unmask(seeds={k: nudged(s) for k, s in u.seeds.items()}, keys={})
        for n, u in unmasking.shares.items()
        if n in "abc"
    }
    cheated = Unmasking(
        unmasking.proposal,
        0,
        unmasking.keys,
        unmasking.contributions,
        {**unmasking.shares, **false},
    )
    with pytest.raises(ProtectionError, match="false or too few"):
        cheated.total()


def test_too_few_shares_stop_the_sum():
    _, _, unmasking = finished()
    few = {n: unmasking.shares[n] for n in "ab"}
    with pytest.raises(ProtectionError, match="too few"):
        Unmasking(unmasking.proposal, 0, unmasking.keys, unmasking.contributions, few).total()

"""Shared secrets: t restore, t - 1 see noise."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.core.errors import ParameterError, ProtectionError
from tacit.federated.shamir import PRIME, restore, split


@given(st.binary(min_size=32, max_size=32), st.integers(1, 6), st.integers(0, 4))
def test_any_t_shares_restore(secret, t, more):
    shares = split(secret, t + more, t)
    for chosen in list(combinations(range(t + more), t))[:10]:
        assert restore({i + 1: shares[i] for i in chosen}, t, 32) == secret


def test_fewer_shares_do_not():
    shares = split(b"s" * 32, 5, 3)
    with pytest.raises(ProtectionError, match="too few"):
        restore({1: shares[0], 2: shares[1]}, 3, 32)


def test_a_false_share_is_noticed():
    shares = split(b"s" * 32, 3, 3)
    wrong = int.from_bytes(shares[0], "big") ^ (0x5A5A << 400)  # near misses: see test_unmasking
    with pytest.raises(ProtectionError, match="false"):
        restore({1: wrong.to_bytes(66, "big"), 2: shares[1], 3: shares[2]}, 3, 32)


@pytest.mark.parametrize("secret", [bytes(32), b"\xff" * 32], ids=["zeros", "ones"])
def test_t_minus_1_shares_are_uniform_whatever_the_secret(secret):
    drawn = np.array(
        [[int.from_bytes(s, "big") / PRIME for s in split(secret, 3, 3)[:2]] for _ in range(800)]
    )
    for column in (drawn[:, 0], drawn[:, 1], (drawn[:, 0] + drawn[:, 1]) % 1):
        assert stats.kstest(column, "uniform").pvalue > 1e-9


@pytest.mark.parametrize(("n", "t"), [(3, 4), (3, 0)])
def test_bad_thresholds_are_refused(n, t):
    with pytest.raises(ParameterError):
        split(b"x", n, t)

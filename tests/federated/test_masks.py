"""Masks: shared by two, uniform to others."""

import numpy as np
import pytest
from scipy import stats

from tacit.core.errors import ProtectionError
from tacit.federated import masks


def test_two_agree_and_a_third_does_not():
    a, b, c = (masks.new_key() for _ in range(3))
    shared = masks.agree(a, masks.public_key(b), b"x")
    assert shared == masks.agree(b, masks.public_key(a), b"x")
    assert shared != masks.agree(c, masks.public_key(a), b"x")
    assert shared != masks.agree(a, masks.public_key(b), b"y")


def test_a_public_key_of_small_order_is_refused():
    with pytest.raises(ProtectionError):
        masks.agree(masks.new_key(), bytes(32), b"x")


def test_known_keystream_of_rfc_8439():
    """Appendix A.1, test vector 1: zero key, zero nonce, counter 0."""
    known = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    assert masks.stream(bytes(32), 32).tobytes().hex() == known


def test_long_streams_are_one_stream():
    long = masks.stream(b"k" * 32, 3_000_000)
    assert np.array_equal(long[:1000], masks.stream(b"k" * 32, 1000))
    assert len(np.unique(long.view("<u8")[:375_000])) == 375_000


def test_a_mask_is_uniform():
    words = masks.expand(b"s" * 32, 2, 20_000)
    assert stats.kstest(words.ravel() / 2.0**64, "uniform").pvalue > 1e-4

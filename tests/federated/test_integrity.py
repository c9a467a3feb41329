"""Tags: linear, and not to be made without the seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.federated.fixed_point import COUNTS, FixedPoint
from tacit.federated.integrity import is_intact, tagged, tags

SEED = b"x" * 32


@pytest.mark.parametrize("ring", [COUNTS, FixedPoint()], ids=["counts", "default"])
@given(values=st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=30))
def test_tags_of_a_sum_are_sums_of_tags(ring, values):
    one, other = ring.encode(values, 2), ring.encode(values[::-1], 2)
    assert is_intact(ring.add(tagged(one, SEED), tagged(other, SEED)), SEED)


def test_a_tag_is_the_weighted_sum_of_integers():
    from tacit.federated import masks

    ring = FixedPoint(words=2, fraction_bits=0)
    words = masks.expand(b"v" * 32, 2, 50)
    weights = masks.stream(masks.derive(SEED, b"tacit tag"), 4 * 2 * 50).view("<u4").reshape(2, 50)
    values = [int(a) + (int(b) << 64) for a, b in words.T]
    for k, found in enumerate(tags(words, SEED).T):
        expected = sum(int(w) * v for w, v in zip(weights[k], values, strict=True)) % 2**128
        assert int(found[0]) + (int(found[1]) << 64) == expected
    assert ring.words == 2


@given(st.integers(0, 9), st.integers(1, 2**30))
def test_an_offset_is_found(where, offset):
    body = tagged(COUNTS.encode(np.arange(10), 3), SEED)
    body[0, where] += np.uint64(offset)
    assert not is_intact(body, SEED)


def test_another_seed_does_not_fit():
    assert not is_intact(tagged(COUNTS.encode([1, 2]), SEED), b"y" * 32)

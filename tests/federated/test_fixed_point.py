"""Numbers in the ring: exact sums, no wrap-around unnoticed, sizes on the wire."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError
from tacit.federated.fixed_point import COUNTS, FixedPoint

numbers = st.floats(-1e30, 1e30, allow_nan=False)
rings = st.builds(FixedPoint, words=st.integers(1, 4), fraction_bits=st.integers(0, 40))


@given(st.lists(numbers, max_size=20))
def test_an_ordinary_number_survives_exactly(values):
    ring = FixedPoint()
    decoded = ring.decode(ring.encode(values))
    assert np.all(np.abs(decoded - values) <= np.maximum(2.0**-113, 0))
    large = np.abs(values) > 1e-15 if values else np.array([], bool)
    assert np.array_equal(decoded[large], np.asarray(values, float)[large])


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_a_sum_is_that_of_exact_fractions(pairs):
    ring = FixedPoint()
    one, other = np.array(pairs).T
    total = ring.decode(ring.add(ring.encode(one, 2), ring.encode(other, 2)))
    exact = np.array([float(Fraction(a) + Fraction(b)) for a, b in pairs])
    assert np.allclose(total, exact, rtol=4e-16, atol=2.0**-111)


@given(rings, st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=10), st.integers(0, 1000))
def test_arithmetic_of_the_ring_is_that_of_integers(ring, whole, factor):
    size = 1 << (64 * ring.words)

    def as_integers(words):
        return [sum(int(words[i, k]) << (64 * i) for i in range(ring.words)) % size
                for k in range(words.shape[1])]  # fmt: skip

    encoded = np.array(
        [[(w % size >> (64 * i)) & (2**64 - 1) for w in whole] for i in range(ring.words)],
        dtype=np.uint64,
    )
    assert as_integers(ring.negate(encoded)) == [-w % size for w in whole]
    assert as_integers(ring.add(encoded, encoded)) == [2 * w % size for w in whole]
    assert as_integers(ring.times(encoded, factor)) == [factor * w % size for w in whole]
    assert not ring.subtract(encoded, encoded).any()


def test_carries_run_through_all_words():
    ring = FixedPoint(words=3, fraction_bits=0)
    full = np.full((3, 1), 2**64 - 1, dtype=np.uint64)
    one = np.array([[1], [0], [0]], dtype=np.uint64)
    assert not ring.add(full, one).any()
    assert ring.decode(full) == -1


@pytest.mark.parametrize("bad", [[np.nan], [np.inf], [1e70]])
def test_what_does_not_fit_is_refused(bad):
    with pytest.raises(DataError):
        FixedPoint().encode(bad)


def test_the_sum_of_the_largest_numbers_does_not_wrap():
    largest = np.nextafter(COUNTS.bound(10), 0)
    encoded = COUNTS.encode([largest], 10)
    total = COUNTS.zeros(1)
    for _ in range(10):
        total = COUNTS.add(total, encoded)
    assert COUNTS.decode(total)[0] == pytest.approx(10 * largest, rel=1e-15)
    with pytest.raises(DataError, match="out of range"):
        COUNTS.encode([COUNTS.bound(10)], 10)


def test_an_encoding_without_room_is_refused():
    with pytest.raises(ParameterError, match="no bits"):
        FixedPoint(words=1, fraction_bits=64).bound()


def test_bytes_come_back_and_a_wrong_shape_is_refused():
    ring = FixedPoint(words=2, fraction_bits=10)
    encoded = ring.encode([1.5, -2.0, 0.0])
    assert np.array_equal(ring.unpack(ring.pack(encoded), 3), encoded)
    with pytest.raises(DataError, match="wrong shape"):
        ring.unpack(ring.pack(encoded), 2)


def test_empty_vectors_are_vectors():
    ring = FixedPoint()
    assert ring.decode(ring.add(ring.encode([]), ring.zeros(0))).shape == (0,)

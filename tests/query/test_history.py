"""Every near set is found, and far ones are not."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.query.history import SetHistory


def sketch(units):
    return np.bincount(np.asarray(units) * 2654435761 % 2**32 % 64, minlength=64)


@settings(max_examples=50)
@given(st.integers(2, 8), st.integers(0, 12), st.integers(0, 2**31))
def test_sets_that_differ_by_fewer_units_are_one(distance, apart, seed):
    rng = np.random.default_rng(seed)
    base = rng.choice(100_000, 300, replace=False)
    out = apart // 2
    other = np.concatenate([base[out:], 100_001 + np.arange(apart - out)])
    history = SetHistory(distance)
    many = [sketch(rng.choice(100_000, 300, replace=False)) for _ in range(30)]
    history.place(np.array(many))
    first = int(history.place(sketch(base)[None])[0])
    found = int(history.find(sketch(other)[None])[0])
    if apart < distance:
        assert found == first
    elif np.abs(sketch(base) - sketch(other)).sum() >= distance:
        assert found == -1


def test_it_grows():
    rng = np.random.default_rng(1)
    history = SetHistory(3)
    many = rng.integers(0, 50, (3000, 64))
    assert history.place(many).tolist() == list(range(3000))
    assert history.place(many).tolist() == list(range(3000))
    assert len(history) == 3000

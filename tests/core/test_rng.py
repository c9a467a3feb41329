"""One seed per release, one independent child per step."""

import numpy as np
import pytest

from tacit.core.rng import fresh_seed, step_generator


def test_same_seed_and_step_give_the_same_numbers():
    a, b = (step_generator(7, 2).random(1000) for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_numbers_do_not_change_between_versions():
    """A dossier written today must be replayed in years."""
    assert step_generator(7, 0).integers(0, 2**32, 3).tolist() == [
        1311550352,
        3426779114,
        875733758,
    ]


@pytest.mark.parametrize(("seed", "step"), [(7, 1), (8, 0), (8, 1), (2**127, 0)])
def test_other_seeds_and_steps_give_other_numbers(seed, step):
    a, b = step_generator(7, 0).random(5000), step_generator(seed, step).random(5000)
    assert not np.isin(a, b).any()
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.06


def test_a_step_does_not_depend_on_what_others_draw():
    first = step_generator(7, 0)
    first.random(10_000)
    assert step_generator(7, 1).random() == step_generator(7, 1).random()


def test_long_seeds_count_to_the_last_bit():
    seed = fresh_seed()
    assert step_generator(seed, 0).random() != step_generator(seed ^ 1, 0).random()
    assert step_generator(seed, 0).random() != step_generator(seed ^ (1 << 127), 0).random()


def test_fresh_seeds_are_long_and_never_twice():
    seeds = {fresh_seed() for _ in range(200)}
    assert len(seeds) == 200
    assert all(0 <= s < 2**128 for s in seeds)
    assert max(seeds).bit_length() > 110

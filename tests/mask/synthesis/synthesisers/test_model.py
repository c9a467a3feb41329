"""What models share."""

import numpy as np

from tacit.mask.synthesis.synthesisers.model import Bounds, Target, is_shared


def test_shared_numbers_are_those_of_the_original():
    target = Target(np.array([1.0, 1.0, 1.0]), 0, shared=np.array([2.0]))
    assert is_shared(np.array([1.0, 2.0]), target, 3).tolist() == [False, True]
    assert is_shared(np.array([1.0]), Target(target.values, 0), 3).tolist() == [True]
    assert Bounds.none(2).take(np.array([0])).low.tolist() == [-np.inf]

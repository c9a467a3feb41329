"""Sums of plain vectors."""

import numpy as np
import pytest

from tacit.federated.analyses.vector import Vector
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


def test_only_a_vector_of_the_right_length_is_added():
    own = np.arange(3.0)
    assert Vector(size=3).part(own, Policy()) is own
    for wrong in (np.arange(4.0), "records", None):
        with pytest.raises(RefusedError):
            Vector(size=3).part(wrong, Policy())

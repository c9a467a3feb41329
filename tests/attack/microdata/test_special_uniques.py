"""Special uniques: named by two keys; swapped keys name the wrong people."""

import numpy as np
import pytest

import tacit
from tacit import attack


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(800)


def test_uniques_of_a_file_as_it_is_are_named(data):
    found = attack.SpecialUniques().run((data, data))
    assert found.success.value == 1.0
    assert found.success.n > 100
    assert found.leaked


def test_fewer_keys_name_fewer(data):
    one, two = (attack.SpecialUniques(size=s).run((data, data)).success.n for s in (1, 2))
    assert one < two


def test_columns_without_relation_name_nobody(data):
    rng = np.random.default_rng(3)
    numbered = data.numbered()
    table = numbered.local
    columns = [table[c].gather(rng.permutation(800)).alias(c) for c in data.columns]
    target = attack.MicrodataTarget(data, numbered.with_local(table.with_columns(columns)))
    found = attack.SpecialUniques().run(target)
    assert found.success.n > 0
    assert not found.leaked

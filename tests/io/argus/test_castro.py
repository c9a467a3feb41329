"""Instances of controlled tabular adjustment."""

import numpy as np
import pytest

from tacit.core.errors import ReadError
from tacit.io import read_castro

SMALL = """SMALL cells 4 relations 1
1 60 s -30 30 0.01
2 10 u 3 6 0.1
3 20 s -10 10 0.05
4 30 z 0 0 1
4 : 1(-1) 2(1) 3(1) 4(1)
"""


def test_a_small_instance(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(SMALL, encoding="utf-8")
    table = read_castro(path)
    table.check_additive()
    found = table.sensitive()
    assert (found.primary.tolist(), found.above[1], found.below[1]) == ([1], 3, 3)
    assert table.flags("frozen").tolist() == [False, False, False, True]
    assert table.bounds[0].tolist() == [30, 0, 10, 30]
    assert table.bounds[1].tolist() == [90, 16, 30, 30]
    assert table.cost.tolist() == [0.01, 0.1, 0.05, 1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cells 4", "cells five", "expected a number"),
        ("SMALL cells", "SMALL sells", "expected NAME cells"),
        ("2 10 u", "2 10 x", "line 3 of small.txt"),
        ("cells 4", "cells 9", "missing|entries"),
    ],
)
def test_mistakes_are_named(tmp_path, old, new, said):
    path = tmp_path / "small.txt"
    path.write_text(SMALL.replace(old, new), encoding="utf-8")
    with pytest.raises(ReadError, match=said):
        read_castro(path)


@pytest.mark.parametrize(
    ("name", "cells", "relations", "sensitive"),
    [("targus", 162, 63, 13), ("hier13", 2020, 3313, 112), ("table7", 624, 230, 17)],
)
def test_the_collection_has_the_published_sizes(shared_data, name, cells, relations, sensitive):
    """Sizes as the collection's own list gives them."""
    table = read_castro(shared_data / "tables" / "castro_cta" / f"{name}.txt.gz")
    assert (table.n_cells, table.relations.shape[0]) == (cells, relations)
    assert int(table.flags("unsafe").sum()) == sensitive
    size = np.abs(table.relations) @ np.abs(table.value)
    assert np.all(np.abs(table.residuals()) <= 1e-3 * size)

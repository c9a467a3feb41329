"""Small tables whose every number can be checked by hand."""

import numpy as np
import pytest

from tacit.tables import Dimension, Table
from tacit.tables._grid import grid_codes, grid_relations


@pytest.fixture(scope="session")
def full_table():
    """Function that builds a full cross-classification from the values of its leaves."""

    def full_table(leaves, *dimensions, **fields):
        values = np.asarray(leaves, dtype=float)
        for axis, dimension in enumerate(dimensions):
            values = np.moveaxis(
                np.tensordot(dimension.contains.toarray(), values, axes=(1, axis)), 0, axis
            )
        return Table(
            value=values.ravel(), relations=grid_relations(dimensions), dimensions=dimensions,
            codes=grid_codes(dimensions), **fields,
        )  # fmt: skip

    return full_table


@pytest.fixture
def small(full_table):
    """Two regions by three sizes: 6 leaves, 12 cells."""
    return full_table(
        [[20, 50, 10], [8, 19, 22]],
        Dimension.flat("region", ["N", "S"]),
        Dimension.flat("size", ["1", "2", "3"]),
        variable="turnover",
    )

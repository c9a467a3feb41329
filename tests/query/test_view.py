"""A view shows sums of one universe, less what was dropped, and no more."""

import numpy as np
import pytest

from tacit.query.answer import Refused
from tacit.query.atoms import AtomCube
from tacit.query.registration import Binned, register
from tacit.query.source import Source
from tacit.query.universe import Universe
from tacit.query.view import EngineView


@pytest.fixture(scope="module")
def view(people):
    schema, engine = register(
        Source(people, unit="id", weight="w"), b"a long phrase, secret", Binned()
    )
    cube = AtomCube.build(engine, {n: len(v.labels) for n, v in schema.variables.items()})
    universe = Universe.where(ill="no")
    return EngineView(schema, engine, cube, cube.select(universe, schema.pieces(universe)))


def test_margins_add_up(view):
    cells = view.table(("sex", "region"), totals=("income",))
    assert len(cells) == 3 * 4
    whole = cells.n[-1]
    for level, kept in enumerate(cells.levels):
        inside = (cells.codes != -1).tolist()
        rows = [i for i, row in enumerate(inside) if tuple(np.flatnonzero(row)) == kept]
        assert cells.n[rows].sum() == whole, level
        total = cells.sums["income"].total
        assert total[rows].sum() == pytest.approx(total[-1])


def test_dropped_units_are_gone_but_their_keys_stay(view):
    picked = view.engine.picked(view.selection.pieces, 3, 7, 9)
    less = EngineView(view.schema, view.engine, view.cube, view.selection, picked)
    one, two = view.table(("sex",)), less.table(("sex",))
    assert one.n[-1] - two.n[-1] == 3
    assert (one.keys == two.keys).all()
    assert (one.units == two.units).all()


def test_unknown_variables_and_huge_tables(view):
    with pytest.raises(Refused):
        view.table(("nothing",))
    with pytest.raises(Refused):
        view.table(("sex",), totals=("sex",))

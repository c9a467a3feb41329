"""Universes are unions of atoms; blocks are never divided."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import DataError
from tacit.query._coarser_atoms import CoarserCubes
from tacit.query.atoms import AtomCube
from tacit.query.registration import Binned, register
from tacit.query.source import Source
from tacit.query.universe import Universe

SECRET = b"a long and secret phrase"


@pytest.fixture(scope="module")
def cube(people):
    schema, engine = register(Source(people, unit="id"), SECRET, Binned(most=4))
    return schema, AtomCube.build(engine, {n: len(v.labels) for n, v in schema.variables.items()})


def test_the_same_units_are_the_same_universe(cube):
    schema, atoms = cube

    def fingerprint(given):
        universe = Universe.of(given)
        return atoms.select(universe, schema.pieces(universe)).fingerprint

    whole = fingerprint({"sex": "f"})
    assert whole == fingerprint([{"sex": "f", "region": r} for r in "NSW"])
    assert whole == fingerprint([{"sex": "f"}, {"sex": "f", "ill": "no"}])
    assert whole != fingerprint({"sex": "m"})
    assert fingerprint({}) == fingerprint([{"sex": "f"}, {"sex": "m"}])


def test_sizes_and_sketches(cube, people):
    schema, atoms = cube
    universe = Universe.where(sex="f", ill="yes")
    chosen = atoms.select(universe, schema.pieces(universe))
    assert chosen.n == people.filter((pl.col("sex") == "f") & (pl.col("ill") == "yes")).height
    assert atoms.sketch(chosen).sum() == chosen.units
    assert atoms.sketches.sum(axis=1).tolist() == atoms.units.tolist()


def test_blocks_hold_enough_and_keep_every_sum(cube):
    _, atoms = cube
    blocked = atoms.blocked(25)
    assert blocked.units.min() >= 25
    assert blocked.n.sum() == atoms.n.sum()
    assert np.array_equal(blocked.sketches.sum(axis=0), atoms.sketches.sum(axis=0))
    one, two = (c.numbers("income", False)["s_y"].sum() for c in (atoms, blocked))
    assert one == two
    assert (atoms.blocked(10**9).units == atoms.n.sum()).all()


def test_too_many_atoms_are_refused_at_the_door(people, monkeypatch):
    schema, engine = register(Source(people, unit="id"), SECRET, Binned(most=4))
    sizes = {n: len(v.labels) for n, v in schema.variables.items()}
    n = len(AtomCube.build(engine, sizes))
    monkeypatch.setattr("tacit.query.atoms.MOST_ATOMS", n)
    assert len(AtomCube.build(engine, sizes)) == n
    monkeypatch.setattr("tacit.query.atoms.MOST_ATOMS", n - 1)
    with pytest.raises(DataError, match="too finely"):
        AtomCube.build(engine, sizes)


def test_coarser_cubes_have_the_same_sums(cube):
    _, atoms = cube
    for names in ((), ("sex",), ("region", "age"), ("sex", "region", "ill"), atoms.names):
        small = atoms.over(names)
        whole = atoms.whole if small is atoms else small.whole
        assert small.n.sum() == atoms.n.sum()
        flat = atoms.cell_of(names, tuple(range(len(names))))
        for code in np.unique(flat):
            inside = flat == code
            there = small.cell_of(names, tuple(range(len(names)))) == code
            assert small.n[there].sum() == atoms.n[inside].sum()
            assert np.array_equal(
                small.sketches[there].sum(axis=0), atoms.sketches[inside].sum(axis=0)
            )
            own, all_ = small.numbers("income", False), atoms.numbers("income", False)
            assert own["s_wyy"][there].sum() == all_["s_wyy"][inside].sum()
            assert own["top1"][there].max() == all_["top1"][inside].max()
            assert np.array_equal(whole(there), inside)


def test_coarser_cubes_are_forgotten_when_there_is_no_room(cube):
    _, atoms = cube
    kept = CoarserCubes(room=1)
    first = kept.of(atoms, ["sex"])
    kept.of(atoms, ["region"])
    assert len(kept._kept) == 1
    assert np.array_equal(kept.of(atoms, ["sex"]).n, first.n)

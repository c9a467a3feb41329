import numpy as np
import pytest

from tacit import tables
from tacit.core.errors import ParameterError, ProtectionError
from tacit.tables import Sensitive


def _sensitive(table, cell, level):
    cells = np.zeros(table.n_cells, dtype=bool)
    cells[cell] = True
    return Sensitive.by("hand", cells, level)


def test_cells_go_to_the_nearest_multiple(small):
    found = tables.ConventionalRounding(base=5).protect(small, Sensitive.none(small.n_cells))
    cell = small.cell(region="S", size="1")
    assert small.value[cell] == 8
    assert found.published[cell] == 10
    assert found.published[small.cell(region="S", size="2")] == 20
    assert found.notes["within"] == 2.5
    assert np.all(np.abs(found.published - small.value) <= 2.5)


def test_halves_go_away_from_zero_on_both_sides(full_table):
    table = full_table([7.5, -7.5], tables.Dimension.flat("a", ["x", "y"]), variable="v")
    found = tables.ConventionalRounding(base=5).protect(table, Sensitive.none(3))
    assert found.published[[table.cell(a="x"), table.cell(a="y")]].tolist() == [10, -10]


def test_a_base_below_the_protection_level_is_refused(small):
    sensitive = _sensitive(small, small.cell(region="S", size="1"), 6)
    with pytest.raises(ProtectionError, match=r"base of at least 6"):
        tables.ConventionalRounding(base=5).protect(small, sensitive)
    found = tables.ConventionalRounding(base="level").protect(small, sensitive)
    assert found.notes["base"] == 6


def test_bases_are_chosen_by_the_rules_of_the_paper(small):
    cell = small.cell(region="N", size="2")
    sensitive = _sensitive(small, cell, 1)
    chosen = tables.ConventionalRounding(base="value", share=20).protect(small, sensitive)
    assert chosen.notes["base"] == 10  # 20 % of 50
    with pytest.raises(ParameterError, match="no contributions"):
        tables.ConventionalRounding(base="contribution").protect(small, sensitive)


def test_dominance_gives_the_base_of_section_2_2():
    """max over sensitive cells of 100/k (y1 + y2) - Y, with (n, k) = (2, 75)."""
    import polars as pl

    frame = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 4, "v": [100, 80, 5, 5, 10, 10, 10, 10]})
    table = tables.tabulate(frame, ["a"], "v")
    sensitive = tables.Dominance(n=2, k=75).sensitive(table)
    found = tables.ConventionalRounding(base="level").protect(table, sensitive)
    assert found.notes["base"] == np.ceil(100 / 75 * 180 - 190)


def test_frozen_cells_are_not_rounded_away(small):
    frozen = np.zeros(small.n_cells, dtype=bool)
    frozen[small.cell(region="S", size="1")] = True
    with pytest.raises(ProtectionError, match="must be published as they are"):
        tables.ConventionalRounding(base=5).protect(
            small.replace(frozen=frozen), Sensitive.none(small.n_cells)
        )


def test_bad_bases_are_named():
    with pytest.raises(ParameterError):
        tables.ConventionalRounding(base=0)
    with pytest.raises(ParameterError):
        tables.ConventionalRounding(base="largest")

"""From options to a plan."""

import pytest

from tacit import tables
from tacit.cli.table_options import Cells, Protecting
from tacit.cli.table_plan import chosen_plan, columns, hierarchies, protection
from tacit.core.errors import ParameterError, UnknownMethodError


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("region", ("region",)),
        ("region,nace", ("region", "nace")),
        (" 2019 , 2020", ("2019", "2020")),
        ('"a, b",c', ("a, b", "c")),
    ],
)
def test_columns(text, names):
    assert columns(text) == names


@pytest.mark.parametrize("text", ["a,a", ""])
def test_bad_columns(text):
    with pytest.raises(ParameterError):
        columns(text)


def test_a_protection_by_key_by_last_word_and_with_options():
    assert protection("suppress_modular", []) == tables.SuppressModular()
    assert protection("Optimal", []) == tables.SuppressOptimal()
    assert protection("random", ["base=5", "seed=3"]) == tables.RandomRounding(base=5, seed=3)
    assert protection("m3a", ["d=15"]) == tables.M3A(d=15)
    with pytest.raises(UnknownMethodError):
        protection("mdav", [])
    with pytest.raises(ParameterError, match="twice"):
        protection("random", ["base=5", "base=6"])


def test_two_files_of_a_column_are_two_breakdowns(tmp_path):
    one, two = tmp_path / "one.hrc", tmp_path / "two.hrc"
    one.write_text("U\n@a\n@b\nV\n@c\n", encoding="utf-8")
    two.write_text("Y\n@a\n@c\nZ\n@b\n", encoding="utf-8")
    made = hierarchies([f"r={one}", f"r={two}"], "Total")
    assert len(made["r"].breakdowns[0]) == 2


def test_the_options_become_a_plan():
    cells = Cells(by=["r,s"], value="x", weight="w", holding="h", unit="u")
    made, last = chosen_plan(cells, Protecting(rule="p(10)", record_keys="k1,k2"))
    assert last == {}
    assert made.by == (("r", "s"),)
    assert (made.weights, made.holding, made.unit, made.keys) == ("w", "h", "u", ("k1", "k2"))
    assert made.rule == tables.PPercent(p=10)

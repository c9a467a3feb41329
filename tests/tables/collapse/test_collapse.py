"""Collapsed categories as a protection: nothing sensitive is left, refusals name cells."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import ProtectionError
from tacit.tables.publication import public_note

RULE = tables.PPercent(p=10) | tables.MinFrequency(n=3)


@pytest.fixture(scope="module")
def firms():
    return tacit.datasets.establishments(400)


@pytest.fixture
def table(firms):
    return tacit.tabulate(firms, ["legal_form", "size_class"], "turnover")


def recoded(records, merged):
    records = records.frame
    for name, codes in merged.items():
        into = {old: new for new, several in codes.items() for old in several}
        records = records.with_columns(pl.col(name).cast(pl.String).replace(into))
    return records


def test_nothing_is_sensitive_and_nothing_suppressed(table, firms):
    made = table.protect(tables.Collapse(limit=300), RULE)
    assert made.verify().passed
    assert len(made.sensitive) == 0
    assert not made.suppressed.any()
    assert not made.changed.any()
    left = {d.name: d for d in made.original.dimensions if len(d.codes) > 1}
    records = recoded(firms, made.notes["merged"])
    again = tacit.tabulate(records, list(left), "turnover", hierarchies=left)
    assert len(RULE.sensitive(again)) == 0
    np.testing.assert_allclose(np.sort(again.value), np.sort(made.original.value))
    assert 0 < made.notes["information lost"] < 1
    assert made.notes["least"] <= made.notes["information lost"] + 1e-5


def test_what_remains_is_suppressed(table):
    made = table.protect(tables.Collapse(allow=4, limit=300), RULE)
    assert 0 < len(made.sensitive) <= 4
    assert made.suppressed[made.sensitive.cells].all()
    assert made.suppressed.sum() > len(made.sensitive)
    assert made.verify(singletons=True).passed
    all_merged = table.protect(tables.Collapse(limit=300), RULE)
    assert made.notes["information lost"] < all_merged.notes["information lost"]


def test_forced_cells_stay_out(table):
    cell = {"legal_form": "limited company", "size_class": "20-49"}
    made = table.force(cell).protect(tables.Collapse(limit=100), RULE)
    forced = made.original.flags("forced")
    assert forced.sum() == 1
    assert made.suppressed[forced].all()
    assert made.verify().passed


def test_linked_tables_are_split_again(firms):
    parts = {
        "form": tacit.tabulate(firms, ["legal_form", "exporter"], "turnover"),
        "size": tacit.tabulate(firms, ["size_class", "exporter"], "turnover"),
    }
    made = tables.link(parts).protect(tables.Collapse(limit=100), RULE)
    assert made.verify().passed
    shown = made.split()
    assert set(shown) == {"form", "size"}
    for part in shown.values():
        assert len(RULE.sensitive(part.original)) == 0


def test_what_holds_a_declared_cell_is_unsafe_as_well(firms):
    """Only the total, which is the same cell as before, is left of codes side by side."""
    table = tacit.tabulate(firms, ["legal_form"]).declare_unsafe({"legal_form": "partnership"})
    made = table.protect(tables.Collapse())
    assert made.original.n_cells == 1
    with pytest.raises(ProtectionError, match=r"no coarser table .*partnership"):
        table.freeze({"legal_form": "limited company"}).protect(tables.Collapse())


def test_cells_without_their_rule_are_refused(table):
    found = RULE.sensitive(table)
    with pytest.raises(ProtectionError, match="give the rule itself"):
        table.protect(tables.Collapse(), found)
    named = table.sensitive(RULE)  # knows its rule
    assert len(table.protect(tables.Collapse(limit=0), named).sensitive) == 0


def test_what_must_stay_and_cannot_is_named(table):
    frozen = table.freeze({"legal_form": None, "size_class": None})
    with pytest.raises(ProtectionError, match="must be published"):
        frozen.protect(tables.Collapse(), RULE)
    with pytest.raises(ProtectionError, match=r"\(cooperative, Total\), \(public company, Total\)"):
        table.protect(tables.Collapse(dimensions=["size_class"]), RULE)
    only = table.protect(tables.Collapse(dimensions=["legal_form"], allow=3, limit=100), RULE)
    assert set(only.notes["merged"]) == {"legal_form"}


def test_the_better_of_two_measures(table):
    by_cells = table.protect(tables.Collapse(loss="cells", limit=300), RULE).notes
    by_information = table.protect(tables.Collapse(limit=300), RULE).notes
    assert by_cells["cells lost"] <= by_information["cells lost"]
    assert by_information["information lost"] <= by_cells["information lost"] + 1e-9


def test_readers_are_told_what_was_merged(table):
    made = table.protect(tables.Collapse(limit=100), RULE)
    told = public_note(made, rule=RULE, method="Collapsed categories")
    for name, codes in made.notes["merged"].items():
        for code, several in codes.items():
            assert f"* {name} {code}: {', '.join(several)}" in told
    plain = table.protect(tables.SuppressModular(), RULE)
    assert "taken together" not in public_note(plain)

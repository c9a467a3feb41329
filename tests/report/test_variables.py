"""Variables before and after."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.report import _variables


class Doctor(Mask):
    """Change one value, add a column, blank another column's first value."""

    def apply(self, data, rng):
        table = data.local.with_columns(
            x=pl.when(pl.int_range(pl.len()) == 0).then(99).otherwise("x"),
            y=pl.when(pl.int_range(pl.len()) > 0).then("y"),
        )
        return data._holding(table, data.schema)


@pytest.fixture
def release():
    frame = pl.DataFrame({"x": [1, 2, 3, 4] * 5, "y": ["a", "b"] * 10, "z": [0.5] * 20})
    return tacit.Plan([Doctor()]).apply(Microdata.of(frame).with_roles(keys=["y"]), seed=1)


def by_name(release, **options):
    return {card.name: card for card in _variables.variable_cards(release, **options)}


def test_changes_are_counted_record_by_record(release):
    assert _variables.changed_share(release, "x") == 1 / 20
    assert _variables.changed_share(release, "y") == 1 / 20
    assert _variables.changed_share(release, "z") == 0


def test_changes_follow_the_records_through_a_sample():
    data = Microdata.of(pl.DataFrame({"x": np.arange(1000)}))
    release = tacit.Plan([tacit.mask.Sample(fraction=0.3)]).apply(data, seed=5)
    assert _variables.changed_share(release, "x") == 0


def test_facts_before_and_after(release):
    cards = by_name(release)
    facts = {f.name: (f.before, f.after) for f in cards["x"].facts}
    assert facts["Mean"] == ("2.5", "7.4")
    assert facts["Different values"] == ("4", "5")
    facts = {f.name: (f.before, f.after) for f in cards["y"].facts}
    assert facts["Missing"] == ("0", "1 (5.0\xa0%)")
    assert facts["Most frequent"] == ("a (50\xa0%)", "b (50\xa0%)")
    assert cards["y"].roles == ("key",)
    assert cards["z"].change == "unchanged"


def test_suspects_and_identifying_roles_show_no_values(release):
    card = by_name(release, suspects=["y"])["y"]
    assert card.figures == ()
    assert "looks like an identifier" in card.note
    assert [f.name for f in card.facts] == ["Missing", "Different values"]


def test_a_mean_of_two_records_is_not_shown():
    data = Microdata.of(pl.DataFrame({"x": [123.0, 456.0]}))
    cards = by_name(tacit.Plan([]).apply(data, seed=1))
    assert {f.name: f.before for f in cards["x"].facts}["Mean"] == _variables.NOTHING


def test_a_chart_is_told_in_words(release):
    (figure,) = by_name(release)["y"].figures
    assert "Original: most often a (50\xa0%)" in figure.svg


def test_only_so_many_charts_are_drawn(release, monkeypatch):
    monkeypatch.setattr(_variables, "MOST_CHARTS", 1)
    assert sum(bool(card.figures) for card in by_name(release).values()) == 1

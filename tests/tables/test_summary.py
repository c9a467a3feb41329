"""The summary: every cell once, values that add up, rules below the unsafe cells."""

import json

import numpy as np
from tests.tables.publishing import RULE, business_table, suppressed

from tacit import tables
from tacit.tables.summary import summarise


def test_every_cell_is_in_one_line():
    made = suppressed()
    summary = summarise(made)
    whole, last = [x for x in summary.lines[:-1] if not x.part_of], summary.lines[-1]
    assert sum(x.cells for x in whole) == last.cells == made.original.n_cells
    assert sum(x.records for x in whole) == last.records == made.original.count.sum()
    assert np.isclose(sum(x.value for x in whole), made.original.value.sum())


def test_unsafe_cells_are_broken_down_by_rule():
    made = suppressed()
    lines = {x.title: x for x in summarise(made).lines}
    assert lines["Unsafe"].cells == len(made.sensitive)
    assert lines["p(10)"].part_of == "Unsafe"
    assert lines["p(10)"].cells == int(made.sensitive.hits["p(10)"].sum())
    assert lines["Secondary"].cells == int(made.suppressed.sum()) - len(made.sensitive)


def test_frozen_forced_and_waived_have_lines():
    table = business_table()
    found = table.sensitive(RULE).primary
    table = table.waive(found[:1]).freeze({"region": "N"}).force({"region": "N1", "nace": "B"})
    titles = {x.title for x in table.protect(tables.SuppressModular(), RULE).summary().lines}
    assert {"Safe, must be published", "Safe, protection waived"} <= titles
    assert "Unsafe, must be suppressed" in titles


def test_changed_tables_say_what_was_sensitive():
    made = business_table().protect(tables.ControlledAdjustment(), RULE)
    lines = {x.title: x for x in made.summary().lines}
    assert lines["Sensitive before"].cells == len(made.sensitive)
    assert "Unsafe" not in lines
    assert lines["Changed"].cells == int(made.changed.sum())


def test_the_summary_is_text_frame_and_plain_data():
    made = business_table().protect(tables.RandomRounding(base=500, seed=918273), RULE)
    summary = made.summary()
    assert summary.frame.columns == ["status", "cells", "records", "value"]
    text = str(summary) + json.dumps(summary.as_dict(), allow_nan=False)
    assert "Totals of turnover by region x nace" in text
    assert "base" in text
    assert "918273" not in text, "the seed is no fact for readers of the summary"

"""What readers get: no original of a hidden cell, no hint which are sensitive, no formula."""

import re
import zipfile

import numpy as np
import polars as pl
import pytest
from tests.tables.publishing import RULE, business_table, suppressed

import tacit
from tacit import tables
from tacit.core.errors import SchemaError, WriteError
from tacit.tables._precision import decimals
from tacit.tables.publication import (
    harmless,
    pivoted,
    public_frame,
    public_note,
    rule_titles,
    write_csv,
    write_excel,
)


@pytest.fixture(scope="module")
def made():
    return suppressed()


def texts_of(path):
    """All text of a workbook, as it lies in the file."""
    with zipfile.ZipFile(path) as book:
        return "".join(
            book.read(n).decode("utf-8", "replace") for n in book.namelist() if n.endswith(".xml")
        )


def test_a_dimension_called_count_is_published_by_its_codes():
    """Not by how many records there are, which would also tell of suppressed cells."""
    frame = pl.DataFrame({"count": list("aab"), "status": list("aab"), "x": [1.0, 2.0, 3.0]})
    table = tacit.tabulate(frame, ["count", "status"], "x")
    assert table.frame.columns == ["count", "status", "x", "count (cell)"]
    made = table.protect(tables.SuppressModular(), tables.UserRule(cells=[{"count": "a"}]))
    assert made.public["count"].to_list() == [table.labels(i)[0] for i in range(9)]
    assert made.frame.columns == ["count", "status", "x", "status (cell)"]
    assert made.frame["status"].to_list() == [table.labels(i)[1] for i in range(9)]
    with pytest.raises(SchemaError, match="name of another column"):
        _ = tacit.tabulate(frame, "count").protect(tables.SuppressModular()).public


def test_a_value_called_count_is_shown_and_not_the_number_of_records():
    frame = pl.DataFrame({"g": list("aab"), "count": [10.0, 20.0, 30.0]})
    assert tacit.tabulate(frame, "g", "count").frame.rows() == [
        ("Total", 60.0), ("a", 30.0), ("b", 30.0),
    ]  # fmt: skip


def hidden_numbers(made):
    """Originals of suppressed cells that no published cell and no width of a column has."""
    shown = set(made.published[~made.suppressed])
    hidden = made.original.value[made.suppressed]
    return [float(v) for v in hidden if v not in shown and v > 50 and v % 1]


def test_the_frame_has_values_and_marks(made):
    frame = public_frame(made)
    assert frame.columns == ["region", "nace", "turnover", "flag"]
    assert (frame["flag"] == "c").to_list() == made.suppressed.tolist()
    assert frame["turnover"].is_null().to_list() == made.suppressed.tolist()
    shown = ~made.suppressed
    assert np.allclose(frame["turnover"].to_numpy()[shown], made.original.value[shown])


def test_sensitive_and_secondary_look_the_same(made):
    frame = public_frame(made)
    primary = made.sensitive.cells
    secondary = made.suppressed & ~primary
    assert primary.any()
    assert secondary.any()
    looks = {tuple(row[2:]) for row in frame.filter(made.suppressed).rows()}
    assert looks == {(None, "c")}


def test_which_cells_changed_is_not_told():
    table = business_table()
    made = table.protect(tables.ControlledAdjustment(), RULE)
    assert made.changed.any()
    assert public_frame(made)["flag"].unique().to_list() == [""]


@pytest.mark.parametrize("way", ["csv", "xlsx", "list.xlsx"])
def test_no_file_holds_the_original_of_a_hidden_cell(tmp_path, way):
    made = suppressed(("region", "nace", "size")) if way == "list.xlsx" else suppressed()
    path = tmp_path / f"out.{way}"
    if way == "csv":
        write_csv(made, path)
        text = path.read_text(encoding="utf-8")
    else:
        write_excel(made, path, note=public_note(made, rule=RULE))
        text = texts_of(path)
    numbers = hidden_numbers(made)
    assert len(numbers) > 3
    written = {float(number) for number in re.findall(r"(?<![\d.])\d+(?:\.\d+)?", text)}
    assert not written & set(numbers)
    for secret in ("primary", "secondary", "p(10)"):
        assert secret not in text


def test_codes_are_no_formulas_in_csv(made, tmp_path):
    write_csv(made, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert "'=1+1" in text
    assert ",=1+1" not in text
    assert "Ü" in text
    again = pl.read_csv(tmp_path / "t.csv")
    assert again.height == made.original.n_cells


def test_codes_are_text_in_excel(made, tmp_path):
    write_excel(made, tmp_path / "t.xlsx")
    text = texts_of(tmp_path / "t.xlsx")
    assert "<f>" not in text
    assert "=1+1" in text


@pytest.mark.parametrize(
    ("text", "safe"),
    [("=1", "'=1"), ("+A", "'+A"), ("-A", "'-A"), ("@x", "'@x"), ("\tx", "'\tx"), ("-5", "-5"),
     ("+3,5", "+3,5"), ("", ""), ("01", "01")],
)  # fmt: skip
def test_harmless_text(text, safe):
    assert harmless(text) == safe


def test_the_workbook_can_be_read_back(made, tmp_path):
    made.write_excel(tmp_path / "t.xlsx", title="Turnover")
    sheet = pl.read_excel(tmp_path / "t.xlsx", sheet_name="table", has_header=False,
                          engine="calamine")  # fmt: skip
    assert sheet[0, 0] == "Turnover"
    head, *rows = sheet[1:].rows()
    assert head == ("region", *made.original.dimensions[1].codes)
    body = [[str(v) for v in row[1:]] for row in rows]
    assert sum(v == "c" for row in body for v in row) == int(made.suppressed.sum())
    legend = pl.read_excel(tmp_path / "t.xlsx", sheet_name="legend", has_header=False,
                           engine="calamine")  # fmt: skip
    assert "confidential: the value is not published" in legend[:, 1].to_list()


def test_equal_tables_give_equal_files(made, tmp_path):
    for name in ("a.xlsx", "b.xlsx"):
        made.write_excel(tmp_path / name)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_a_wrong_ending_leaves_nothing(made, tmp_path):
    with pytest.raises(WriteError, match="xlsx"):
        made.write_excel(tmp_path / "t.ods")
    assert not list(tmp_path.iterdir())


def test_pivots(made):
    frame = pivoted(made)
    assert frame.columns == ["region", *made.original.dimensions[1].codes]
    cell = made.original.cell(region="N", nace="A")
    value = frame.filter(pl.col("region") == "N")["A"].item()
    assert value is None if made.suppressed[cell] else value == made.published[cell]
    other = made.pivoted("region")
    assert other.columns == ["nace", *made.original.dimensions[0].codes]
    assert frame.null_count().sum_horizontal().item() == made.suppressed.sum()


def test_pivots_of_three_dimensions_and_of_none():
    made = suppressed(("region", "nace", "size"))
    frame = made.pivoted("size")
    assert frame.columns[:2] == ["region", "nace"]
    assert frame.height == 8 * 5
    with pytest.raises(SchemaError, match="did you mean 'size'"):
        made.pivoted("sise")
    clash = pl.DataFrame({"a": ["b", "c"], "b": ["x", "y"], "v": [1, 2]})
    odd = tacit.tabulate(clash, ["b", "a"], "v").protect(tables.RandomRounding(base=5))
    with pytest.raises(SchemaError, match="name of a dimension"):
        odd.pivoted()


def test_a_dimension_called_like_the_value_is_refused():
    made = tacit.tabulate(pl.DataFrame({"flag": list("aab")}), "flag").protect(
        tables.RandomRounding(base=5)
    )
    with pytest.raises(SchemaError, match="flag"):
        public_frame(made)


def test_the_note_names_kinds_and_no_parameters(made):
    note = public_note(made, rule=RULE, method="Cell suppression")
    assert "p % rule, Minimum frequency" in note
    assert "10" not in note
    assert "marked c" in note
    keyed = tables.with_record_keys(tacit.datasets.census(300), "a long and secret phrase")
    table = tacit.tabulate(keyed, ["region"], weights=None, keys="rk1")
    assert "every count may have been changed" in public_note(table.protect(tables.CellKey()))
    rounded = business_table().protect(tables.RandomRounding(base=50, seed=123456))
    assert "123456" not in public_note(rounded)
    assert "may not add up" in public_note(rounded)


def test_titles_of_joined_rules():
    rule = (tables.PPercent(p=5) | tables.MinFrequency(n=3)) & tables.PPercent(p=9)
    assert rule_titles(rule) == ["p % rule", "Minimum frequency"]


def test_binary_dust_is_not_published():
    frame = pl.DataFrame({"r": list("aab"), "x": [0.1, 0.2, 0.7]})
    made = tacit.tabulate(frame, "r", "x").protect(
        tables.SuppressModular(), tables.MinFrequency(n=1)
    )
    assert public_frame(made)["x"].to_list() == [1.0, 0.3, 0.7]
    assert decimals(np.array([])) == 0


def test_one_cell_and_one_dimension():
    made = tacit.tabulate(pl.DataFrame({"r": ["a"]}), "r").protect(tables.RandomRounding(base=5))
    assert made.public.height == 2
    assert made.pivoted().height == 1

"""Ready tables of tau-ARGUS, its own samples among them."""

import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError, ReadError, SchemaError
from tacit.io import read_table, write_table


@pytest.fixture
def samples(shared_data):
    return shared_data / "tables" / "tauargus"


def test_a_small_sample_with_padded_codes(samples):
    folder = samples / "batch_ex1"
    table = read_table(folder / "tabdata_ex1.tab", metadata=folder / "metadata_ex1.rda")
    assert [d.codes for d in table.dimensions] == [
        ("Total", "A", "B", "C", "D"),
        ("Total", "male", "female"),
    ]
    assert table.value[table.cell(region="A", gender="female")] == 137
    assert table.describe(table.sensitive().primary) == "(A, female)"


def test_a_table_that_does_not_add_up_is_refused_by_cell(samples):
    """The sample has a 4 where 5 belongs: (2, 4) and the totals above."""
    with pytest.raises(DataError, match=r"not additive in 'Var2'.*Total,  4"):
        read_table(samples / "tableinput" / "pp.tab")


def test_totals_can_be_added_up_anew(samples):
    table = read_table(samples / "tableinput" / "pp.tab", totals="add up")
    assert table.n_cells == 162
    assert len(table.sensitive()) == 9, "as many U as the file has"
    north = table.cell(Size=" 2", Region="Nr")
    assert table.sensitive().above[north] == 0.75
    assert table.dimensions[1].labels["Nr"] == "North"
    assert "99" in table.dimensions[1].codes, "the code for missing stands beside the hierarchy"
    assert table.respondents.net is not None, "the shadow differs from the value"
    made = table.protect(tables.SuppressModular())
    assert made.audit().passed


def test_microdata_of_the_same_table_have_the_unsafe_cells_of_the_official_output(samples):
    """expected/Simple2D.txt: 9 unsafe cells under P(15, 1)."""
    data = tacit.read(samples / "tau_testW.asc.gz")
    table = tacit.tabulate(data, ["Size", "Region"], "Var2", weights=None, missing="own category")
    found = table.sensitive(tables.PPercent(p=15))
    official = pl.read_csv(
        samples / "expected" / "Simple2D.txt", has_header=False, schema_overrides=[pl.String] * 4
    )
    unsafe = official.filter(pl.col("column_3").str.strip_chars() == "3")
    cells = {(r[0].strip(), r[1].strip()) for r in unsafe.rows()}
    assert {tuple(c.strip() for c in table.labels(i)) for i in found.primary} == cells


def made_table():
    frame = pl.DataFrame(
        {
            "region": ["N1", "N2", "S"] * 4,
            "size": ["klein", "groß", 'so "la" la', "klein"] * 3,
            "x": [5.5, 60, 7, 8, 9, 1, 2, 3, 4, 5, 6, 70],
        }
    )
    regions = {"Total": ["N", "S"], "N": ["N1", "N2"]}
    return tacit.tabulate(frame, ["region", "size"], "x", hierarchies={"region": regions})


def test_there_and_back(tmp_path):
    table = made_table()
    found = table.sensitive(tables.PPercent(p=10))
    files = write_table(table, tmp_path / "t.tab", found)
    assert [f.suffix for f in files] == [".tab", ".rda", ".hrc", ".hrc"]
    again = read_table(tmp_path / "t.tab")
    assert set(again.dimensions[0].codes) == set(table.dimensions[0].codes)
    here = {again.labels(i): i for i in range(again.n_cells)}
    for cell in range(table.n_cells):
        assert again.value[here[table.labels(cell)]] == pytest.approx(table.value[cell])
    unsafe = {again.labels(i) for i in again.sensitive().primary}
    assert unsafe == {table.labels(i) for i in found.primary}


def test_a_classification_with_two_breakdowns_cannot_be_written(tmp_path):
    frame = pl.DataFrame({"r": list("abcd"), "x": [1, 2, 3, 4]})
    breakdowns = [{"Total": ["u", "v"], "u": ["a", "b"], "v": ["c", "d"]},
                  {"Total": ["y", "z"], "y": ["a", "c"], "z": ["b", "d"]}]  # fmt: skip
    table = tacit.tabulate(frame, "r", "x", hierarchies={"r": breakdowns})
    with pytest.raises(SchemaError, match="two ways"):
        write_table(table, tmp_path / "t.tab")
    assert not list(tmp_path.iterdir())


def test_unknown_codes_and_missing_metadata_are_named(tmp_path):
    (tmp_path / "t.tab").write_text("Total,3\nA,1\nB,2\n", encoding="utf-8")
    with pytest.raises(ReadError, match="no metadata file"):
        read_table(tmp_path / "t.tab")
    (tmp_path / "t.hrc").write_text("A\nC\n", encoding="utf-8")
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ","\nr\n <RECODEABLE>\n <HIERCODELIST> "t.hrc"\nx\n <NUMERIC>\n',
        encoding="utf-8",
    )
    with pytest.raises(ReadError, match=r"codes of 'r' that are not in its hierarchy.*'B'"):
        read_table(tmp_path / "t.tab")
    with pytest.raises(ReadError, match="did you mean 'r'"):
        read_table(tmp_path / "t.tab", by="rr")


def test_a_number_that_is_none_is_named(tmp_path):
    (tmp_path / "t.tab").write_text("Total;3\nA;much\n", encoding="utf-8")
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ";"\nr\n <RECODEABLE>\nx\n <NUMERIC>\n', encoding="utf-8"
    )
    with pytest.raises(ReadError, match=r"row 2 of t.tab: 'x' is not a number"):
        read_table(tmp_path / "t.tab")


def test_contributions_keep_their_sign(tmp_path):
    """Without it the file was refused when read, or a rule that takes no negative ones was used."""
    frame = pl.DataFrame({"r": list("NNNSSS"), "x": [50.0, -40.0, -30.0, 90.0, 60.0, -5.0]})
    table = tacit.tabulate(frame, "r", "x")
    write_table(table, tmp_path / "x.tab")
    again = read_table(tmp_path / "x.tab")
    assert again.respondents.top[:, :3].tolist() == table.respondents.top[:, :3].tolist()
    with pytest.raises(DataError, match="negative contributions"):
        again.sensitive(tables.PPercent(p=10))

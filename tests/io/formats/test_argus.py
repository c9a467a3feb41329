"""ARGUS files: positions, roles and hierarchies from the metadata, and what is refused."""

import datetime as dt
import gzip

import polars as pl
import pytest

import tacit
from tacit.core.errors import ReadError, WriteError
from tacit.core.schema import Kind

_RDA = """\
region 1 2 99
  <RECODEABLE>
  <IDLEVEL> 1
  <HIERCODELIST> "Region.HRC"
  <HIERLEADSTRING> "@"
  <CODELIST> region.cdl
age 3 3 999
  <RECODABLE> <NUMERIC>
  <IDENTIFICATION> 2
job 6 3 xxx ---
  <TRUNCABLE>
  <IDLEVEL> 0
house 9 4
  <HOUSE_ID>
income 13 7 9999999
  <NUMERIC>
  <DECIMALS> 2
  <SUPPRESSWEIGHT> 50
town 20 1
  <RELATED> region
w 21 4
  <WEIGHT>
"""
_ASC = """\
 1 34abc0001  12.50A 1.5
12  5---00029999999B 2.0
99999xxx0002     -3C10.0
"""


@pytest.fixture
def sample(tmp_path):
    (tmp_path / "data.rda").write_text(_RDA, encoding="utf-8")
    (tmp_path / "data.asc").write_text(_ASC, encoding="utf-8")
    (tmp_path / "region.hrc").write_text("Nr\n@ 1\nSd\n@12\n", encoding="utf-8")
    (tmp_path / "region.cdl").write_text(" 1,Groningen\n12,Limburg\nNr,North\n", encoding="utf-8")
    return tmp_path / "data.asc"


def test_values_come_from_their_positions(sample):
    assert tacit.read(sample).frame.rows() == [
        (" 1", 34, "abc", "0001", 12.5, "A", 1.5),
        ("12", 5, None, "0002", None, "B", 2.0),
        (None, None, None, "0002", -3.0, "C", 10.0),
    ]


def test_roles_come_from_the_tags(sample):
    schema = tacit.read(sample).schema
    assert schema.keys == ["region", "age"]
    assert (schema.weight, schema.household) == ("w", "house")
    assert schema.linked == {"town": "region"}
    assert schema["age"].kind is Kind.NUMERIC
    assert schema["job"].kind is Kind.NOMINAL


def test_hierarchies_come_from_the_tags(sample):
    schema = tacit.read(sample).schema
    assert schema["region"].hierarchy.paths == ((" 1", "Nr", "*"), ("12", "Sd", "*"))
    assert schema["job"].hierarchy == tacit.Prefixes(length=3)
    assert tacit.read(sample, hierarchies=False).schema["region"].hierarchy is None


def test_labels_in_place_of_codes(sample):
    data = tacit.read(sample, labels=True)
    assert data.frame["region"].to_list() == ["Groningen", "Limburg", None]
    assert data.schema["region"].hierarchy.paths[0] == ("Groningen", "North", "*")


def test_declared_types_win(sample):
    data = tacit.read(sample, types={"age": "text", "house": "numeric"})
    assert data.frame["age"].to_list() == [" 34", "  5", None]
    assert data.frame["house"].to_list() == [1, 2, 2]


def test_metadata_elsewhere_and_data_packed(sample, tmp_path):
    packed = tmp_path / "sub" / "other.asc.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(_ASC.encode()))
    data = tacit.read(packed, metadata=tmp_path / "data.rda")
    assert data.frame.equals(tacit.read(sample).frame)
    assert data.reading["options"] == {"metadata": str(tmp_path / "data.rda")}


def test_free_format(tmp_path):
    (tmp_path / "data.rda").write_text(
        '<SEPARATOR> ";"\nsex 1 9\nname 10\nx 5 -1\n <NUMERIC>\n', encoding="utf-8"
    )
    (tmp_path / "data.asc").write_text('1;"a;b"; 2\r\r\n9;;-1\r\r\n', encoding="utf-8")
    assert tacit.read(tmp_path / "data.asc").frame.rows() == [("1", "a;b", 2), (None, None, None)]
    (tmp_path / "data.asc").write_text("1;a;2\n1;a\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"line 2 of data\.asc has 2 fields, not 3"):
        tacit.read(tmp_path / "data.asc")


def test_names_in_front(tmp_path):
    (tmp_path / "data.rda").write_text("<NAMESINFRONT>\na 1\nb 1\n", encoding="utf-8")
    (tmp_path / "data.asc").write_text("A,B\n1,2\n", encoding="utf-8")
    assert tacit.read(tmp_path / "data.asc").frame.rows() == [("1", "2")]
    (tmp_path / "data.asc").write_text("b,a\n1,2\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"names in"):
        tacit.read(tmp_path / "data.asc")


@pytest.mark.parametrize(
    ("rda", "asc", "says"),
    [
        ("a 1 3\n", "123\n12\n", r"line 2 of data\.asc has 2 characters, not 3"),
        (
            "a 1 3\n <NUMERIC>\n",
            "123\n\n 1x\n",
            r"'a' is declared numeric, but line 3 of data\.asc",
        ),
        ("a 1 3\nb 3 2\n", "12345\n", "'a' and 'b' overlap"),
        ("a 1 1\na 2 1\n", "12\n", "duplicate column names: 'a'"),
        ("a one 3\n", "123\n", r"line 1 of data\.rda: variable 'a' needs a first position"),
        ("a 0 3\n", "123\n", "no place"),
        (
            "a 1 1\n <WIEGHT>\n",
            "1\n",
            r"line 2 of data\.rda: no tag <WIEGHT>; did you mean <WEIGHT>",
        ),
        ("\n", "1\n", "describes no variable"),
        ("<SPSS>\na 1 1\n", "1\n", "SPSS"),
        ("a 1 1\n <HIERCODELIST> x.hrc\n", "1\n", r"not beside it \(got x\.hrc\)"),
        ("a 1 1\n <RELATED> b\n", "1\n", "no column 'b'"),
        ("a 1 1\n <WEIGHT> <HOUSE_ID>\n", "1\n", "cannot be weight and household"),
        ('<SEPARATOR> ";;"\na 1\n', "1\n", "one character"),
    ],
)
def test_bad_files_give_one_line(tmp_path, rda, asc, says):
    (tmp_path / "data.rda").write_text(rda, encoding="utf-8")
    (tmp_path / "data.asc").write_text(asc, encoding="utf-8")
    with pytest.raises(ReadError, match=says) as caught:
        tacit.read(tmp_path / "data.asc")
    assert "\n" not in str(caught.value)


def test_no_metadata(tmp_path):
    (tmp_path / "data.asc").write_text("1\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"put data\.rda there, or give metadata="):
        tacit.read(tmp_path / "data.asc")
    with pytest.raises(ReadError, match=r"no such metadata file"):
        tacit.read(tmp_path / "data.asc", metadata=tmp_path / "nothing.rda")


def test_wrong_encoding(sample):
    sample.write_bytes(_ASC.encode().replace(b"abc", b"a\xfcc"))
    with pytest.raises(ReadError, match=r"line 1 of data.asc is not UTF-8"):
        tacit.read(sample)
    assert tacit.read(sample, encoding="latin-1").frame["job"][0] == "aüc"


# -- writing --------------------------------------------------------------------------------------


def test_round_trip(tmp_path, people):
    path = tmp_path / "data.asc"
    tacit.write(people, path)
    back = tacit.read(path).frame
    as_text = people.with_columns(
        pl.col("employed").cast(pl.Int8).cast(pl.String),
        pl.col("born").cast(pl.String),
        pl.col("seen").cast(pl.String),
    )
    assert back.drop("amount").equals(as_text.drop("amount"))
    given, found = as_text["amount"].drop_nulls(), back["amount"].drop_nulls()
    assert (given - found).abs().max() <= 0.5e-10


def test_roles_survive_but_keys_stay_inside(tmp_path):
    data = tacit.read(pl.DataFrame({"k": ["a"], "w": [1.5], "h": [7]})).with_roles(
        keys=["k"], weight="w", household="h"
    )
    tacit.write(data, tmp_path / "data.asc")
    described = (tmp_path / "data.rda").read_text(encoding="utf-8")
    assert "IDLEVEL" not in described
    back = tacit.read(tmp_path / "data.asc")
    assert (back.schema.weight, back.schema.household, back.schema.keys) == ("w", "h", [])


def test_nines_in_the_data_are_no_missing_value(tmp_path):
    frame = pl.DataFrame({"a": [99, None, 1], "b": ["9", None, "x"]})
    tacit.write(frame, tmp_path / "data.asc")
    assert tacit.read(tmp_path / "data.asc").frame.equals(frame)


def test_what_a_fixed_line_cannot_hold_is_refused(tmp_path):
    for frame in (pl.DataFrame({"a": ["x\ny"]}), pl.DataFrame({"a": [float("inf")]}),
                  pl.DataFrame({"a": [1e200]})):  # fmt: skip
        with pytest.raises(WriteError):
            tacit.write(frame, tmp_path / "data.asc")
    assert list(tmp_path.iterdir()) == []


def test_an_old_metadata_file_is_not_replaced_unasked(tmp_path):
    (tmp_path / "data.rda").write_text("precious", encoding="utf-8")
    frame = pl.DataFrame({"a": [dt.date(2020, 1, 1)]})
    with pytest.raises(WriteError, match=r"exists already"):
        tacit.write(frame, tmp_path / "data.asc")
    assert (tmp_path / "data.rda").read_text(encoding="utf-8") == "precious"
    assert not (tmp_path / "data.asc").exists()
    tacit.write(frame, tmp_path / "data.asc", force=True)
    assert len(tacit.read(tmp_path / "data.asc")) == 1


# -- shared data ----------------------------------------------------------------------------------


def test_tau_argus_sample(shared_data):
    data = tacit.read(shared_data / "tables" / "tauargus" / "tau_testW.asc.gz")
    assert len(data) == 42_723
    assert data.schema.weight == "Wgt"
    # The total that tau-ARGUS prints in expected/Simple2D.txt and tableinput/pp.tab.
    assert data.frame["Var2"].sum() == pytest.approx(16_847_646.84, abs=0.005)
    leaves = {path[0] for path in data.schema["Region"].hierarchy.paths}
    assert set(data.frame["Region"]) <= leaves
    assert data.schema["IndustryCode"].hierarchy == tacit.Prefixes(length=5, keep=(4, 3, 0))


def test_enterprise_sample(shared_data):
    folder = shared_data / "tables" / "tauargus" / "enterprise"
    data = tacit.read(folder / "example_enterprise.asc")
    assert (len(data), data.schema.household) == (8169, "h_id")
    assert data.schema["mun"].hierarchy.n_levels == 4
    leaves = {path[0] for path in data.schema["act"].hierarchy.paths}
    assert set(data.frame["act"].drop_nulls()) <= leaves


def test_free_format_samples(shared_data):
    folder = shared_data / "tables" / "tauargus"
    small = tacit.read(
        folder / "batch_ex2" / "microdata_ex2.asc",
        metadata=folder / "batch_ex2" / "metadata_ex2.rda",
    )
    assert (len(small), small.frame["num1"][0]) == (100, 77.38)
    survey = tacit.read(folder / "cellkey" / "Magnitude" / "microdata.csv", format="argus")
    assert len(survey) == 4580

"""Stata: labels, old encodings, the version others can read."""

import polars as pl
import pyreadstat

import tacit


def test_labels_in_place_of_codes(tmp_path):
    frame = pl.DataFrame({"sex": [1, 2, 9, None]})
    pyreadstat.write_dta(
        frame, tmp_path / "data.dta", variable_value_labels={"sex": {1: "male", 2: "female"}}
    )
    assert tacit.read(tmp_path / "data.dta").frame["sex"].to_list() == [1, 2, 9, None]
    named = tacit.read(tmp_path / "data.dta", labels=True).frame["sex"].to_list()
    assert named == ["male", "female", "9", None]


def test_old_text_needs_its_encoding(tmp_path):
    pyreadstat.write_dta(pl.DataFrame({"a": ["abc"]}), tmp_path / "data.dta", version=10)
    raw = (tmp_path / "data.dta").read_bytes()
    (tmp_path / "data.dta").write_bytes(raw.replace(b"abc", b"a\xfcc"))
    assert tacit.read(tmp_path / "data.dta", encoding="WINDOWS-1252").frame["a"][0] == "aüc"


def test_written_for_version_14_without_a_clock(tmp_path):
    tacit.write(pl.DataFrame({"a": [1]}), tmp_path / "data.dta")
    head = (tmp_path / "data.dta").read_bytes()[:300]
    assert b"<release>118</release>" in head
    assert b"01 Jan 2000 00:00" in head

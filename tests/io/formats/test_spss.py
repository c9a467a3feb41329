"""SPSS: measurement levels are kinds, labels replace codes, user-missing is missing."""

import polars as pl
import pyreadstat
import pytest

import tacit
from tacit.core.errors import ParameterError
from tacit.core.schema import Kind


@pytest.fixture
def survey(tmp_path):
    frame = pl.DataFrame({"sex": [1, 2, 9, None, 3], "edu": [3, 1, 2, 1, 1], "x": [0.5] * 5})
    pyreadstat.write_sav(
        frame,
        tmp_path / "data.sav",
        variable_value_labels={
            "sex": {1: "male", 2: "female"},
            "edu": {1: "low", 2: "middle", 3: "high"},
        },
        missing_ranges={"sex": [9]},
        variable_measure={"sex": "nominal", "edu": "ordinal", "x": "scale"},
    )
    return tmp_path / "data.sav"


def test_measures_are_kinds_and_user_missing_is_missing(survey):
    data = tacit.read(survey)
    assert data.frame["sex"].to_list() == [1, 2, None, None, 3]
    assert [v.kind for v in data.schema.variables] == [Kind.NOMINAL, Kind.ORDINAL, Kind.NUMERIC]


def test_labels_in_place_of_codes(survey):
    data = tacit.read(survey, labels=True)
    assert data.frame["sex"].to_list() == ["male", "female", None, None, "3"]
    assert data.schema["edu"].categories == ("low", "middle", "high")
    assert data.reading == {"format": "spss", "options": {"labels": True}}


def test_kinds_survive_a_round_trip(tmp_path):
    data = tacit.read(pl.DataFrame({"sex": [1, 2], "age": [3, 4]}), types={"sex": "nominal"})
    tacit.write(data, tmp_path / "data.sav")
    back = tacit.read(tmp_path / "data.sav")
    assert [v.kind for v in back.schema.variables] == [Kind.NOMINAL, Kind.NUMERIC]


def test_declared_types_win(survey):
    assert tacit.read(survey, types={"sex": "numeric"}).schema["sex"].kind is Kind.NUMERIC


def test_compressed_files_hold_the_same_values(tmp_path):
    frame = pl.DataFrame({"a": list(range(-5, 300)), "b": [0.1] * 305})
    tacit.write(frame, tmp_path / "data.zsav")
    assert tacit.read(tmp_path / "data.zsav").frame.equals(frame)


def test_the_clock_and_nothing_else_is_overwritten(tmp_path, monkeypatch):
    from tacit.io.formats import spss

    frame = pl.DataFrame({"a": [1]})
    tacit.write(frame, tmp_path / "without.sav")
    monkeypatch.setattr(spss, "overwrite", lambda *_: None)
    tacit.write(frame, tmp_path / "with.sav")
    without, with_clock = ((tmp_path / n).read_bytes() for n in ("without.sav", "with.sav"))
    assert without[92:109] == b"01 Jan 0000:00:00"
    assert without[:92] + with_clock[92:109] + without[109:] == with_clock


def test_misspelt_option(survey):
    with pytest.raises(ParameterError, match=r"did you mean 'labels'"):
        tacit.read(survey, label=True)

"""Published SUDA scores; see source.md."""

import polars as pl

from tacit import Microdata, risk

GUIDE = """Urban Female Secondary_incomplete Employed
Urban Female Secondary_incomplete Employed
Urban Female Primary_incomplete Non-LF
Urban Male Secondary_complete Employed
Rural Female Secondary_complete Unemployed
Urban Male Secondary_complete Employed
Urban Female Primary_complete Non-LF
Urban Male Post-secondary Unemployed
Urban Female Secondary_incomplete Non-LF
Urban Female Secondary_incomplete Non-LF"""

BOOK = """20s male 50k+ highschool
20s male 50k+ highschool
20s male 50k- highschool
20s male 50k- highschool
20s female 50k- university
20s female 50k- highschool
20s female 50k- middleschool
60s male 50k- university"""

ISSUE = """A X P
B X Q
A Y Q
C Z R
B Y R
A X P
B Z Q"""


def scores(text):
    rows = [line.split() for line in text.splitlines()]
    frame = pl.DataFrame(rows, schema=[f"k{j}" for j in range(len(rows[0]))], orient="row")
    data = Microdata.of(frame).with_roles(keys=frame.columns)
    return risk.Suda(score="suda").measure(data).per_unit.tolist()


def test_practice_guide():
    assert scores(GUIDE) == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_textbook():
    assert scores(BOOK) == [0, 0, 0, 0, 4, 2, 6, 8]


def test_seven_records():
    assert scores(ISSUE) == [0, 2, 3, 3, 3, 0, 2]


def test_first_record_of_testdata2(shared_data):
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    frame = pl.read_csv(shared_data / "casc" / "testdata2.csv")
    found = risk.Suda(score="suda", keys=keys).measure(frame)
    assert found.per_unit[0] == 180

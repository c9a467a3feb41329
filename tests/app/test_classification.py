"""Classifications as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.app.classification import classification
from tacit.core.errors import ParameterError, TacitError

TOWNS = ["Oslo", "Bergen", "Rome", "Bari", "Ulm"]


def test_groups_of_groups_add_up_and_the_rest_is_below_the_total():
    text = "Europe = North, Italy\n\n North = Oslo , Bergen\nItaly=Rome,Bari\n"
    made = classification("town", text, TOWNS)
    assert dict(made.groups) == {
        "Total": ("Europe", "Ulm"),
        "Europe": ("North", "Italy"),
        "North": ("Oslo", "Bergen"),
        "Italy": ("Rome", "Bari"),
    }
    assert set(made.leaves) == set(TOWNS)


def test_nothing_written_is_no_classification():
    assert classification("town", " \n", TOWNS) is None


@pytest.mark.parametrize(
    "text",
    [
        "North", "North =", "= Oslo", "North = Oslo\nNorth = Bergen", "Total = Oslo",
        "North = Osloo", "A = Oslo\nB = Oslo", "A = B\nB = A",
    ],
)  # fmt: skip
def test_what_does_not_add_up_is_refused(text):
    with pytest.raises(TacitError):
        classification("town", text, TOWNS)


def test_a_misspelt_code_is_named_with_one_that_is_near():
    with pytest.raises(ParameterError, match="Osloo") as refused:
        classification("town", "North = Osloo", TOWNS)
    assert "Oslo" in str(refused.value.do)


@given(st.text(max_size=60))
def test_whatever_is_written_is_read_or_refused(text):
    try:
        made = classification("town", text, TOWNS)
    except TacitError:
        return
    assert made is None or set(made.leaves) == set(TOWNS)

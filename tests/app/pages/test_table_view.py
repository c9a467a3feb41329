"""What the page says of a protected table, beside its cells."""

import pytest

from tacit.tables.protected import Status

table_view = pytest.importorskip("tacit.app.pages.tabs.table_view")


def test_every_status_has_words_of_its_own():
    words = [words for _, words in table_view._LOOKS.values()]
    assert set(table_view._LOOKS) == set(Status)
    assert len(set(words)) == len(words)


def test_a_check_that_was_asked_nothing_says_so():
    check = {"passed": True, "how": "no cell is sensitive, so there was none to attack"}
    said = table_view._outcome({"check": check, "remarks": ["No cell is sensitive by freq(3)."]})
    assert said == [f"Check: passed ({check['how']})", "No cell is sensitive by freq(3)."]

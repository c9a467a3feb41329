"""Common units: found, in one order, and nothing else is learnt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError
from tacit.federated.alignment import Aligner, align, intersect
from tacit.federated.stopped import RefusedError

sets = st.lists(st.text(min_size=1, max_size=5), max_size=15, unique_by=lambda t: t.strip())


@given(st.lists(sets, min_size=2, max_size=4))
def test_the_common_units_are_found(lists):
    import unicodedata

    plain = [[unicodedata.normalize("NFC", t).strip() for t in one] for one in lists]
    if any(len(set(one)) != len(one) for one in plain):
        return
    rows = align(lists, at_least=0)
    found = [[one[i] for i in own] for one, own in zip(plain, rows, strict=True)]
    assert all(own == found[0] for own in found)
    assert set(found[0]) == set.intersection(*map(set, plain))


def test_unicode_forms_and_blanks_do_not_matter():
    rows = align([["Ångström "], ["A\u030angstro\u0308m"]])
    assert [r.tolist() for r in rows] == [[0], [0]]


def test_a_unit_twice_is_refused():
    with pytest.raises(DataError, match="twice"):
        align([["a", "a"], ["a"]])


def test_few_common_units_are_refused():
    with pytest.raises(RefusedError, match="fewer than 3"):
        align([["a", "b"], ["a", "b"]], at_least=3)


def test_one_agency_is_refused():
    with pytest.raises(ParameterError):
        align([["a"]])


def agreed(*lists):
    members = [Aligner(one) for one in lists]
    for one in members:
        one.agree({o.public: o.seal(one.public) for o in members if o is not one})
    return members


def test_the_coordinator_cannot_try_out_identifiers():
    """Tags under another key are different, and so are those of another run."""
    one, other = agreed(["ann"], ["ann"]), agreed(["ann"], ["ann"])
    assert one[0].tags() == one[1].tags()
    assert one[0].tags() != other[0].tags()


def test_sorted_tags_do_not_keep_the_order_of_records():
    member = agreed([str(i) for i in range(200)], ["x"])[0]
    tags = member.tags()
    assert np.all(tags[:-1] <= tags[1:])
    assert abs(np.corrcoef(member.rows(tags), np.arange(200))[0, 1]) < 0.3


def test_a_coordinator_who_invents_units_is_refused():
    member = agreed(["a", "b"], ["a"])[0]
    with pytest.raises(RefusedError, match="does not have"):
        member.rows(np.array([b"x" * 16], dtype="S16"))


def test_tags_need_a_key():
    with pytest.raises(ParameterError):
        Aligner(["a"]).tags()
    assert len(intersect([np.array([], dtype="S16")] * 2, at_least=0)) == 0

"""Splitting by stratum."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.mask._strata import split_by


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 5))
def test_parts_hold_every_record_once_and_one_stratum_each(strata, step):
    strata = np.array(strata, dtype=int)
    rows = np.arange(len(strata))[:: step + 1]
    parts = split_by(strata, rows)
    assert sorted(np.concatenate(parts).tolist() if parts else []) == rows.tolist()
    assert [len(set(strata[part])) for part in parts] == [1] * len(parts)
    assert len({int(strata[part[0]]) for part in parts}) == len(parts)
    assert all((np.diff(part) > 0).all() for part in parts)


def test_without_strata_there_is_one_part_and_without_records_none():
    assert [p.tolist() for p in split_by(None, np.array([2, 4]))] == [[2, 4]]
    assert split_by(None, np.array([], dtype=int)) == []

"""Released logs."""

import numpy as np

from tacit import logs


def test_sizes_fit_together(release):
    frame = release.frame
    assert frame.height == release.n_released_lines
    assert frame["user"].n_unique() == release.n_released_users
    assert release.group_sizes.min() >= 3
    assert release.group_sizes.sum() == release.cleaned.log.n_users
    assert "150 users" in repr(release)


def test_common_logs_are_sorted_so_that_nobody_sees_who_added_what(release):
    common = release.common
    assert common.equals(common.sort(common.columns))


def test_the_counts_of_groups_are_those_of_the_frame(release):
    counts = release.group_counts()
    released = release.group_sizes @ counts
    frame = release.frame["query"].value_counts()
    wanted = dict(zip(frame["query"], frame["count"], strict=True))
    for code in np.flatnonzero(released):
        assert released[code] == wanted[release.original.queries[int(code)]]
    assert released.sum() == release.n_released_lines


def test_truth_names_each_user_once(release):
    truth = release.truth
    assert sorted(truth["pseudonym"]) == list(range(1, len(truth) + 1))
    assert truth["user"].n_unique() == len(truth)
    assert (release.group_of_original >= 0).sum() == len(truth)


def test_measurements(release):
    taken = {m.key: m for m in release.measure(known=2, targets=50)}
    assert set(taken) == {
        "user-k-anonymity", "known-queries", "semantic-remain", "query-frequencies",
        "co-occurrence",
    }  # fmt: skip
    assert taken["user-k-anonymity"].value >= 3
    assert all(value > 1 / 3 for value in taken["semantic-remain"].details["by_level"])
    assert taken["known-queries"].details["targets"] == 50
    assert logs.user_k_anonymity(release.frame).details["users"] == release.n_released_users

"""Classification matrices (Algorithm 1)."""

import numpy as np

from tacit.logs import user_profiles
from tacit.logs.profiles import classify


def by_hand(log, taxonomy, levels, categories):
    """Algorithm 1 of ODP, loop by loop, for queries of single terms."""
    table = {}
    for user, query in log.frame.select("user", "query").rows():
        for level in range(1, levels + 1):
            cut = taxonomy.categories_of(query, first=categories)
            at_level = {"/".join(c.split("/")[:level]) for c in cut if c.count("/") + 1 >= level}
            for category in at_level:
                table[user, category] = table.get((user, category), 0) + 1
    return table


def test_algorithm_1_as_published(log_of, taxonomy):
    log = log_of({"u": ["flu", "flu", "risotto"], "v": ["migraine", "chess", "nothing"]})
    for levels in (1, 2, 3, 5):
        for categories in (1, 5):
            found = classify(log.queries, taxonomy, levels=levels, categories=categories)
            profiles = found.profiles(log.counts()).toarray()
            wanted = by_hand(log, taxonomy, levels, categories)
            assert profiles.sum() == sum(wanted.values())
            assert sorted(profiles[profiles > 0]) == sorted(wanted.values())
            for level in range(1, levels + 1):
                here = sum(n for (_, c), n in wanted.items() if c.count("/") + 1 == level)
                assert profiles[:, found.level == level].sum() == here


def test_share_of_classified_lines(log_of, taxonomy):
    log = log_of({"u": ["flu", "flu", "chess", "nothing"]})
    found = classify(log.queries, taxonomy, levels=5, categories=1)
    # Three of four lines are known at levels 1 and 2; two (flu) at level 3.
    assert found.share_classified(log.counts()).tolist() == [0.75, 0.75, 0.5]
    assert found.share_classified().tolist() == [2 / 3, 2 / 3, 1 / 3]


def test_unknown_logs_have_empty_profiles(log_of, taxonomy):
    profiles = user_profiles(log_of({"u": ["x"]}), taxonomy, levels=2, categories=1)
    assert profiles.shape == (1, 0)
    assert np.asarray(profiles.sum()) == 0

"""The semantic remain percentage."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import tacit
from tacit import logs
from tacit.logs.remaining_interests import remain_by_level, semantic_remain


def test_a_worked_example():
    # Level 1: min(4, 2) + min(2, 5) = 4 of 6; level 2: nothing of 1; the second user keeps all.
    before = csr_array(np.array([[4, 2, 1], [1, 0, 0]]))
    after = csr_array(np.array([[2, 5, 0], [3, 0, 0]]))
    found = remain_by_level(before, after, np.array([1, 1, 2]), 3)
    assert found[:2].tolist() == [pytest.approx((4 / 6 + 1) / 2), 0.0]
    assert np.isnan(found[2])


def test_users_with_nothing_in_common_keep_one_in_k(log_of):
    """Eq. (5) of ODP: with equal logs of different interests, and full quotas, SRP is 1/k."""
    taxonomy = logs.Taxonomy.of({f"w{n}": [f"C{n}"] for n in range(4)})
    log = log_of({str(n): [f"w{n}"] * 40 for n in range(4)})
    release = logs.anonymize(log, taxonomy, k=4, levels=1, cleaning=None, seed=1)
    assert semantic_remain(release).value == pytest.approx(1 / 4)


def test_users_of_the_same_interests_keep_everything(log_of, taxonomy):
    log = log_of({str(n): ["flu"] * 6 for n in range(3)})
    release = logs.anonymize(log, taxonomy, k=3, cleaning=None, seed=1)
    assert semantic_remain(release).value == pytest.approx(1.0)


def test_users_lost_in_cleaning_count_as_nothing(log_of, taxonomy):
    asked = {str(n): ["flu"] * 6 for n in range(3)} | {"x": ["chess"]}
    release = logs.anonymize(log_of(asked), taxonomy, k=3, levels=2, seed=1)
    assert semantic_remain(release).details["by_level"] == [pytest.approx(3 / 4)] * 2


@pytest.mark.slow
def test_the_evaluation_of_the_paper():
    """ODP 4.2.2 and Figure 3: above 1/k at every level, and deeper with five categories.

    As there, each release is judged with the number of categories it was grouped with. Judged with
    the same number, releases grouped with one and with five categories hardly differ.
    """
    log, taxonomy = logs.QueryLog.of(tacit.datasets.query_log(1000)), logs.demonstration()
    assert 50_000 < log.n_lines < 60_000
    for k in (2, 3, 4, 5):
        remain, judged_alike = {}, []
        for categories in (1, 5):
            release = logs.anonymize(
                log, taxonomy, k=k, levels=5, categories=categories, cleaning=None, seed=1
            )
            remain[categories] = np.array(semantic_remain(release).details["by_level"])
            assert np.all(remain[categories] > 1 / k)
            alike = semantic_remain(release, categories=1).details["by_level"]
            judged_alike.append(np.array(alike))
        assert np.all(remain[5][2:] > remain[1][2:] + 0.04)
        assert abs(remain[5][0] - remain[1][0]) < 0.06
        assert np.all(np.abs(judged_alike[0] - judged_alike[1]) < 0.03)

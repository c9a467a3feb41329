"""Trees of noisy pairs: the ledger, the choice, and the distribution."""

import numpy as np
import pytest

from tacit.core.errors import DataError, ProtectionError
from tacit.mask.synthesis.private_tree import Ledger, PrivateTree, _on_simplex, check_forest


def test_a_ledger_refuses_before_it_measures():
    ledger = Ledger(1.0)
    ledger.pay(0.7)
    with pytest.raises(ProtectionError, match="stated epsilon"):
        ledger.pay(0.4)
    assert ledger.spent == pytest.approx(0.7)


def test_the_choice_finds_the_dependent_pairs():
    pytest.importorskip("opendp")
    from tacit.mask.synthesis.private_tree import chosen_tree

    rng = np.random.default_rng(1)
    a, c = rng.integers(0, 3, (2, 4000))
    codes = np.column_stack([a, c, a, c])
    singles = [np.bincount(codes[:, j]) for j in range(4)]
    tree = chosen_tree(codes, singles, Ledger(5.0), 5.0)
    assert {(0, 2), (1, 3)} <= set(tree)
    assert len(tree) == 3


def test_one_record_changes_a_score_by_at_most_one():
    """The sensitivity that the choice of pairs rests on, for fixed noisy singles."""
    pytest.importorskip("opendp")
    from tacit.mask.synthesis import private_tree

    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, (200, 3))
    singles = [np.bincount(codes[:, j]) + rng.integers(-9, 9, 4) for j in range(3)]
    seen = []

    class Watched(Ledger):
        def largest(self, scores, epsilon):
            seen.append(list(scores))
            return 0

    for rows in (codes, codes[1:], np.vstack([codes, [[3, 0, 2]]])):
        private_tree.chosen_tree(rows, singles, Watched(1.0), 1.0)
    first = seen[0::2]
    assert all(isinstance(s, int) for s in first[0])
    for other in first[1:]:
        assert max(abs(a - b) for a, b in zip(first[0], other, strict=True)) <= 1


def test_simplex_by_hand():
    # (3, 1, -1) to total 2: take 1 off each, and what is negative becomes zero.
    assert _on_simplex(np.array([3.0, 1.0, -1.0]), 2.0).tolist() == [2.0, 0.0, 0.0]
    assert _on_simplex(np.array([0.5, 0.5]), 1.0).tolist() == [0.5, 0.5]


def test_draws_follow_the_tables_along_a_path():
    pair = np.array([[300, 0], [100, 600]])
    tree = PrivateTree.of(
        [np.array([300, 700]), np.array([400, 600]), np.array([300, 700])],
        [(0, 1), (2, 1)],
        [pair, pair],
    )
    codes = tree.draw(40_000, np.random.default_rng(1))
    found = np.histogram2d(codes[:, 0], codes[:, 1], bins=2)[0] / 40_000
    assert found == pytest.approx(pair / 1000, abs=0.01)
    # Columns 0 and 2 are independent given column 1: P(0, 0) = 0.3 * 0.3 / 0.4.
    assert ((codes[:, 0] == 0) & (codes[:, 2] == 0)).mean() == pytest.approx(0.225, abs=0.01)


def test_columns_without_pairs_are_drawn_apart():
    tree = PrivateTree.of([np.array([10, 30]), np.array([-5, 40])], [], [])
    codes = tree.draw(5000, np.random.default_rng(1))
    assert codes.min() == 0
    assert (codes[:, 1] == 1).all()
    assert (codes[:, 0] == 0).mean() == pytest.approx(0.27, abs=0.05)


def test_circles_are_refused():
    with pytest.raises(DataError, match="circle"):
        check_forest([(0, 1), (1, 2), (2, 0)], 3)

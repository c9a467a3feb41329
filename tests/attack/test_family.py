"""What every attack promises: input untouched, same result again, refusal on other targets."""

import ast
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit import attack, mask
from tacit.attack.finding import Outcome
from tacit.core.errors import DataError

EVERY = tacit.methods("attack")


@pytest.fixture(scope="module")
def release():
    data = tacit.datasets.census(300)
    return tacit.Plan([mask.RankSwap(columns=["age", "income"], p=5)]).apply(data, seed=1)


@pytest.mark.parametrize("method", EVERY, ids=lambda m: m.key)
def test_says_what_would_stop_it(method):
    assert method.remedy.endswith(".")
    assert method.kind in (attack.MicrodataTarget, attack.TableTarget, attack.QueryTarget)


def _verdicts(path):
    """Return whether some test says that an attack leaks, and some other that it does not."""
    found = {True: set(), False: set()}
    for test in ast.parse(path.read_text(encoding="utf-8")).body:
        for node in ast.walk(test):
            if isinstance(node, ast.Assert):
                said = node.test
                denied = isinstance(said, ast.UnaryOp) and isinstance(said.op, ast.Not)
                said = said.operand if denied else said
                if isinstance(said, ast.Attribute) and said.attr == "leaked":
                    found[not denied].add(test.name)
    return found


@pytest.mark.parametrize("method", EVERY, ids=lambda m: m.key)
def test_has_a_pair_of_tests_a_weak_target_and_a_protected_one(method):
    """What must be shown of each attack; the numbers are in its own test."""
    *_, folder, name = method.__module__.split(".")
    found = _verdicts(Path(__file__).parent / folder / f"test_{name}.py")
    assert found[True], "no test in which a weak target leaks"
    assert found[False] - found[True], "no test in which a protected target does not"


def test_the_same_attack_finds_the_same_and_leaves_its_input_alone(release):
    before = release.data.local.clone(), release.original.local.clone()
    one, two = (attack.audit(release, seconds=None) for _ in range(2))
    assert [f.as_dict() | {"seconds": 0} for f in one] == [
        f.as_dict() | {"seconds": 0} for f in two
    ]
    assert release.data.local.equals(before[0])
    assert release.original.local.equals(before[1])


def test_another_kind_of_target_is_refused(release):
    with pytest.raises(DataError, match="another kind"):
        attack.IntervalAttack().run(release)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_files_are_attacked_or_refused_in_words(n):
    data = tacit.datasets.census(50).take(np.arange(n))
    report = attack.audit((data, data))
    assert all(0 <= f.success.value <= 1 for f in report)
    assert all(report.left_out.values())


def test_a_gain_on_few_units_is_told_though_chance_may_explain_it():
    """Four of six where guessing has two: neither a leak nor safety, and the finding says so."""

    class Few(attack.Attack):
        """Six units."""

        title, remedy = "Few", "Nothing."

        def attacked(self, target, knowledge):
            hits, guesses = np.array([1.0, 1, 1, 1, 0, 0]), np.array([1.0, 1, 0, 0, 0, 0])
            return Outcome(hits[: self.n], guesses[: self.n], "Try")

        n: int = 6

    data = tacit.datasets.patients()
    few = Few().run((data, data))
    assert not few.leaked
    assert "33.3 percentage points" in few.warnings[0]
    assert "6 attempts" in few.warnings[0]
    assert Few(n=2).run((data, data)).warnings == ()

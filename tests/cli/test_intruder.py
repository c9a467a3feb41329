"""What the options say the intruder knows."""

import pytest

from tacit.attack import Knowledge
from tacit.cli.intruder import Intruder
from tacit.cli.options import Reading


def test_the_usual_intruder_is_the_strong_one():
    assert Intruder().knowledge(Reading()) == Knowledge()


def test_every_option_is_passed_on():
    given = Intruder(
        know=["sex"], error=0.1, coverage=0.5, membership=0.4, method=False, respondent=False,
        coalition=3, known_within=5.0, rule_out=2, queries=7,
    )  # fmt: skip
    assert given.knowledge(Reading()) == Knowledge(
        columns=("sex",), error=0.1, coverage=0.5, membership=0.4, method=False, respondent=False,
        coalition=3, known_within=5.0, excluded=2, queries=7,
    )  # fmt: skip


@pytest.mark.parametrize("option", [["--coverage", "2"], ["--rule-out", "-1"], ["--error", "x"]])
def test_impossible_values_are_refused(run, option):
    result = run("attack", "x.csv", "y.csv", *option)
    assert result.exit_code == 2
    assert option[0] in result.stderr

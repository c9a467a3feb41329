"""What an agency refuses before it joins."""

import polars as pl
import pytest

from tacit.core.data import Microdata
from tacit.federated.admission import admit, check_history, smallest_threshold
from tacit.federated.analysis import analysis_from
from tacit.federated.fixed_point import FixedPoint
from tacit.federated.identity import Identity, Roster
from tacit.federated.ledger import Ledger
from tacit.federated.messages import Proposal
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

ROSTER = Roster.of([Identity.new(name) for name in "abcde"])
DATA = Microdata.of(pl.DataFrame({"ssn": [1], "age": [2.0], "pay": [3.0]})).with_roles(
    identifiers=["ssn"]
)


def admitted(
    names=("a", "b", "c"), threshold=2, columns=("age",), policy=None, ledger=None, **more
):
    analysis = analysis_from({"analysis": "mean", "variables": columns})
    proposal = Proposal(
        computation="0" * 32, analysis=analysis.described(), participants=names,
        threshold=threshold, **more,
    )  # fmt: skip
    admit(proposal, analysis, "a", ROSTER, policy or Policy(), ledger or Ledger(), DATA)


def test_a_good_proposal_is_admitted():
    admitted()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"names": ("a", "b")}, "at least 3"),
        ({"names": ("b", "c", "d")}, "list of participants"),
        ({"names": ("a", "b", "b", "c")}, "list of participants"),
        ({"names": ("a", "b", "z")}, "not a partner: z"),
        ({"threshold": 4}, "threshold"),
        ({"names": tuple("abcde"), "threshold": 2}, "threshold"),
        ({"columns": ("ssn",)}, "may not be used"),
        ({"columns": ("other",)}, "no column"),
        ({"policy": Policy(columns=("pay",))}, "may not be used"),
        ({"policy": Policy(analyses=("ols",))}, "not allowed"),
        ({"policy": Policy(partners=("b",))}, "not a partner: c"),
        ({"policy": Policy(min_agencies=4)}, "at least 4"),
        ({"policy": Policy(coordinators=("hub",))}, "coordinator"),
        ({"policy": Policy(max_length=1)}, "more than 1 numbers"),
        ({"encoding": FixedPoint(words=1, fraction_bits=20)}, "too few bits"),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, str) else None,
)
def test_a_rule_that_is_broken_is_named(wrong, why):
    with pytest.raises(RefusedError, match=why):
        admitted(**wrong)


def released(ledger, columns, names, fingerprint):
    ledger.add(
        "released", fingerprint=fingerprint, columns=list(columns), participants=sorted(names)
    )


def test_attack_f3_another_set_of_agencies_is_refused():
    ledger = Ledger()
    released(ledger, ["age"], "abcd", "1")
    with pytest.raises(RefusedError, match="another set"):
        admitted(names=("a", "b", "c"), ledger=ledger)
    admitted(names=("a", "b", "c"), ledger=ledger, columns=("pay",))
    admitted(names=("a", "b", "c"), ledger=ledger, policy=Policy(fixed_participants=False))


def test_too_many_questions_are_refused_and_the_same_one_is_not():
    ledger, names = Ledger(), ("a", "b", "c")
    for k in range(3):
        released(ledger, ["age"], names, str(k))
    known = analysis_from({"analysis": "mean", "variables": ["age"]})
    released(ledger, ["age"], names, known.fingerprint())
    admitted(ledger=ledger, policy=Policy(max_computations=4))
    new = analysis_from({"analysis": "mean", "variables": ["pay", "age"]})
    with pytest.raises(RefusedError, match="limit of 4 computations"):
        check_history(names, new, Policy(max_computations=4), ledger)
    with pytest.raises(RefusedError, match="with the column 'age'"):
        check_history(names, new, Policy(max_per_column=4), ledger)
    check_history(names, new, Policy(max_per_column=5), ledger)


@pytest.mark.parametrize("k", range(3, 30))
def test_nobody_can_be_shown_two_lists_of_survivors(k):
    assert 2 * smallest_threshold(k) > k

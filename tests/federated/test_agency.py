"""An agency's answers: idempotent, in order, without a word about its data."""

import numpy as np
import polars as pl
import pytest

from tacit.federated import messages as m
from tacit.federated.agency import Agency
from tacit.federated.analysis import analysis_from
from tacit.federated.ledger import Ledger
from tacit.federated.policy import Policy
from tacit.federated.simulator import agencies

ID = "0" * 32


def proposal(names, **changes):
    analysis = {"analysis": "mean", "variables": ["age"]}
    return m.Proposal(
        **{
            "computation": ID,
            "analysis": analysis,
            "participants": names,
            "threshold": len(names) // 2 + 1,
        }
        | changes
    )


@pytest.fixture
def members(parts):
    return agencies(parts)


def asked(agency, message):
    return m.decode(agency.handle(message.encode()))


def joined(members, **changes):
    wanted = proposal(tuple(a.name for a in members), **changes)
    for agency in members:
        assert isinstance(asked(agency, m.Propose(proposal=wanted)), m.Accepted)
    return wanted


def test_the_same_message_gets_the_same_answer(members):
    joined(members)
    request = m.AskKeys(computation=ID, step=0).encode()
    assert members[0].handle(request) == members[0].handle(request)
    again = m.Propose(proposal=proposal(tuple(a.name for a in members)))
    assert isinstance(asked(members[0], again), m.Accepted)
    assert [e["event"] for e in members[0].ledger.entries()] == ["joined"]


def to_masked(members):
    joined(members)
    at = {"computation": ID, "step": 0}
    keys = {a.name: asked(a, m.AskKeys(**at)) for a in members}
    shares = {a.name: asked(a, m.AskShares(**at, keys=keys)).sealed for a in members}
    for a in members:
        sealed = {n: s[a.name] for n, s in shares.items() if n != a.name}
        assert isinstance(asked(a, m.AskMasked(**at, sealed=sealed)), m.Masked)
    return at


def test_another_list_of_survivors_for_the_same_sum_is_refused(five):
    members = agencies(five)
    at = to_masked(members)
    names = tuple(a.name for a in members)
    first = asked(members[0], m.AskUnmask(**at, survivors=names))
    assert isinstance(first, m.Unmask)
    second = asked(members[0], m.AskUnmask(**at, survivors=names[:4]))
    assert second.reason == "this step was already answered for another request"


def test_a_changed_sum_cannot_be_tried_again(members):
    """Tags of counts could be guessed in a few million tries; there is one."""
    at = to_masked(members)
    names = tuple(a.name for a in members)
    asked(members[0], m.AskUnmask(**at, survivors=names))
    length = members[0]._open[ID].analysis.length({}) + 2
    for guess, why in ((0, "the sum was changed"), (1, "keys come first"), (0, "keys come first")):
        payload = bytes([guess]) * (32 * length)
        reply = asked(members[0], m.Finish(**at, survivors=names, payload=payload))
        assert why in reply.reason
    again = asked(members[0], m.AskKeys(**at))
    assert isinstance(again, m.Keys)  # those of before: no new sum begins in this step
    reply = asked(members[0], m.Finish(**at, survivors=names, payload=payload))
    assert "keys come first" in reply.reason


def test_keys_are_new_in_each_computation_even_of_the_same_number(members):
    """A closed computation that is proposed again must not meet masks of before."""
    wanted = joined(members)
    seen = []
    for _ in range(2):
        assert isinstance(asked(members[0], m.Propose(proposal=wanted)), m.Accepted)
        seen.append(asked(members[0], m.AskKeys(computation=ID, step=0)))
        asked(members[0], m.Close(computation=ID))
    for name in ("channel", "mask", "commitment"):
        assert getattr(seen[0], name) != getattr(seen[1], name)


def test_a_release_is_in_the_log_before_it_happens(members):
    at = to_masked(members)
    names = tuple(a.name for a in members)
    asked(members[0], m.AskUnmask(**at, survivors=names))
    last = members[0].ledger.entries()[-1]
    assert (last["event"], last["columns"], last["participants"]) == (
        "released", ["age"], sorted(names),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (m.AskKeys(computation="1" * 32, step=0), "no such computation"),
        (m.AskKeys(computation=ID, step=1), "not the one that is due"),
        (m.AskMasked(computation=ID, step=0, sealed={}), "keys come first"),
        (m.AskUnmask(computation=ID, step=0, survivors=("a",)), "keys come first"),
        (m.Masked(payload=b"x"), "only an agency sends"),
        (m.Request(computation=ID, step=0), "keys come first"),
    ],
    ids=["unknown", "early", "no keys", "unmask", "reply", "bare"],
)
def test_messages_out_of_order_are_refused(members, message, why):
    joined(members)
    assert why in asked(members[0], message).reason


def test_unmasking_before_contributing_is_refused(members):
    joined(members)
    at = {"computation": ID, "step": 0}
    asked(members[0], m.AskKeys(**at))
    names = tuple(a.name for a in members)
    reply = asked(members[0], m.AskUnmask(**at, survivors=names))
    assert reply.reason == "the contribution comes before the unmasking"


def test_another_proposal_under_the_same_number_is_refused(members):
    joined(members)
    other = proposal(tuple(a.name for a in members), purpose="other")
    assert "another proposal" in asked(members[0], m.Propose(proposal=other)).reason


def test_noise_is_refused_and_logged(members):
    reply = m.decode(members[0].handle(b"\x00noise"))
    assert reply.reason == "its data or this request cannot be used"
    assert members[0].ledger.entries()[-1]["event"] == "refused"


def test_an_error_says_nothing_about_the_data(parts):
    value = "Mr Huntington"
    frame = pl.DataFrame({"age": [value] * 20})
    agency = agencies({**parts, "agency-00": frame})[0]
    reply = asked(agency, m.Propose(proposal=proposal(tuple(parts))))
    assert isinstance(reply, m.Refused)
    assert value not in reply.reason


def test_a_column_of_another_type_is_named(parts):
    frame = pl.DataFrame({"age": ["forty"] * 20})
    agency = agencies({**parts, "agency-00": frame})[0]
    reply = asked(agency, m.Propose(proposal=proposal(tuple(parts))))
    assert reply.reason == "the column 'age' holds no numbers at this agency"
    # No record had a part in it, so it does not count as a refusal because of them.
    assert [e["event"] for e in agency.ledger.entries()] == ["joined", "refused"]


def test_refusals_because_of_the_records_are_counted(parts):
    agency = agencies(parts, Policy(max_refusals=2, min_records=1000))[0]

    def reason(k, **analysis):
        asked_ = {"analysis": "mean", "variables": ["age"], **analysis}
        wanted = proposal(tuple(parts), computation=f"{k:032x}", analysis=asked_)
        return getattr(asked(agency, m.Propose(proposal=wanted)), "reason", "")

    assert "fewer than 1000" in reason(0)
    assert "fewer than 1000" in reason(1)  # the same question again is free
    assert "fewer than 1000" in reason(2, variables=["year"])
    assert "2 questions were refused" in reason(3, variables=["income"])
    assert "fewer than 1000" in reason(4)
    events = [e["event"] for e in agency.ledger.entries()]
    assert events.count("withheld") == 4


def test_the_operator_is_asked(parts):
    base = agencies(parts)[0]
    answers = iter([False, True])
    shown = []

    def decide(wanted):
        shown.append(wanted.purpose)
        return next(answers)

    agency = Agency(
        base.identity, parts[base.name], base.roster, policy=Policy(ask=True), decide=decide
    )
    wanted = m.Propose(proposal=proposal(tuple(parts), purpose="a study"))
    assert asked(agency, wanted).reason == "the operator said no"
    assert isinstance(asked(agency, wanted), m.Accepted)
    assert shown == ["a study", "a study"]


def test_without_an_operator_the_answer_is_no(parts):
    base = agencies(parts)[0]
    agency = Agency(base.identity, parts[base.name], base.roster, policy=Policy(ask=True))
    reply = asked(agency, m.Propose(proposal=proposal(tuple(parts))))
    assert reply.reason == "the operator said no"


def test_somebody_else_cannot_ask_in_the_name_of_the_coordinator(members):
    wanted = m.Propose(proposal=proposal(tuple(a.name for a in members))).encode()
    assert isinstance(m.decode(members[0].handle(wanted, "agency-01")), m.Refused)
    assert isinstance(m.decode(members[0].handle(wanted, "coordinator")), m.Accepted)


def test_a_restart_keeps_the_log_and_forgets_the_computation(parts, tmp_path):
    base = agencies(parts)[0]

    def started():
        return Agency(base.identity, parts[base.name], base.roster, ledger=Ledger(tmp_path / "log"))

    first = started()
    asked(first, m.Propose(proposal=proposal(tuple(parts))))
    again = started()
    assert again.ledger.entries()[0]["event"] == "joined"
    assert "restarted" in asked(again, m.AskKeys(computation=ID, step=0)).reason


def test_a_closed_computation_is_forgotten(members):
    joined(members)
    asked(members[0], m.Close(computation=ID))
    assert "no such computation" in asked(members[0], m.AskKeys(computation=ID, step=0)).reason


def test_old_computations_make_room(members):
    for k in range(40):
        joined(members, computation=f"{k:032x}")
    oldest = asked(members[0], m.AskKeys(computation=f"{0:032x}", step=0))
    assert isinstance(oldest, m.Refused)
    newest = asked(members[0], m.AskKeys(computation=f"{39:032x}", step=0))
    assert isinstance(newest, m.Keys)


def test_data_are_not_changed(parts):
    before = {n: p.clone() for n, p in parts.items()}
    joined(agencies(parts))
    for name, part in parts.items():
        assert part.equals(before[name])
    assert analysis_from({"analysis": "count"}).columns() == ()
    assert np.isfinite(parts["agency-00"]["age"].to_numpy()).all()

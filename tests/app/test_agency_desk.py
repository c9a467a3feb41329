"""What waits on the desk of an agency."""

import threading
import time

import pytest

from tacit.app.agency_desk import FIRST_POLICY, Desk, policy_of
from tacit.app.permissions import NotFoundError
from tacit.core.errors import ParameterError, ReadError
from tacit.federated.messages import Proposal


def proposal(number: int) -> Proposal:
    return Proposal(
        computation=f"{number:032x}", analysis={"analysis": "count"},
        participants=("a", "b", "c"), threshold=3, purpose="für wen?",
    )  # fmt: skip


def test_nobody_there_means_no(tmp_path):
    desk = Desk(tmp_path)
    assert not desk.ask(proposal(1), seconds=0.0, goes_on=lambda: True)
    assert not desk.ask(proposal(1), seconds=60.0, goes_on=lambda: False)
    assert desk.waiting() == []


@pytest.mark.parametrize("join", [True, False])
def test_a_person_answers_once(tmp_path, join):
    desk, answers = Desk(tmp_path), []
    thread = threading.Thread(
        target=lambda: answers.append(desk.ask(proposal(1), seconds=60, goes_on=lambda: True))
    )
    thread.start()
    while not desk.waiting():
        time.sleep(0.01)
    assert desk.waiting()[0]["purpose"] == "für wen?"
    assert desk.decide(f"{1:032x}", join=join)["participants"] == ["a", "b", "c"]
    thread.join(60)
    assert answers == [join]
    with pytest.raises(NotFoundError):
        desk.decide(f"{1:032x}", join=True)


def test_an_old_yes_is_not_the_answer_to_a_new_question(tmp_path):
    desk = Desk(tmp_path)
    (tmp_path / "decided").mkdir()
    (tmp_path / "decided" / f"{2:032x}.json").write_text("true")
    assert not desk.ask(proposal(2), seconds=0.3, goes_on=lambda: True)


def test_rules_are_checked_before_they_are_kept(tmp_path):
    desk = Desk(tmp_path)
    assert desk.policy().ask
    for wrong in ("min_agencies = 2", "no toml", 'unknown = "x"'):
        with pytest.raises(ParameterError):
            desk.set_policy(wrong)
    assert desk.policy_text == FIRST_POLICY
    desk.set_policy("min_cell = 5")
    assert desk.policy() == policy_of("min_cell = 5")


def test_a_log_that_was_changed_is_not_shown(tmp_path):
    desk = Desk(tmp_path)
    desk.ledger().add("refused", reason="no")
    assert desk.log()[0]["reason"] == "no"
    path = tmp_path / "agency.log"
    path.write_text(path.read_text().replace('"no"', '"yes"'))
    with pytest.raises(ReadError, match="changed"):
        desk.log()

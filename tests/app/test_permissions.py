"""The table of permissions."""

import pytest

from tacit.app.permissions import (
    CAPACITIES,
    HOUSE,
    IN_PROJECT,
    Action,
    NotAllowedError,
    NotFoundError,
    Role,
    allowed,
    require_in_project,
)

_RECORDS = {Action.SEE_ORIGINAL, Action.SEE_MASKED}


def test_every_action_is_decided_somewhere():
    decided = set(HOUSE).union(*IN_PROJECT.values())
    assert decided == set(Action)


def test_reviewers_and_analysts_see_no_records():
    for capacity in ("reviewer", "analyst"):
        assert not _RECORDS & IN_PROJECT[capacity]


def test_no_role_gives_reviewers_or_analysts_a_capacity_that_sees_records():
    for role in (Role.REVIEWER, Role.ANALYST):
        for capacity in CAPACITIES[role]:
            assert not _RECORDS & IN_PROJECT[capacity]


def test_analysts_may_do_nothing_but_ask():
    assert IN_PROJECT["analyst"] == {Action.ASK}


def test_what_one_cannot_see_does_not_exist_what_one_can_is_refused():
    with pytest.raises(NotFoundError):
        require_in_project(None, Action.SEE_PROJECT)
    with pytest.raises(NotFoundError):
        require_in_project("analyst", Action.SEE_ORIGINAL)
    with pytest.raises(NotAllowedError):
        require_in_project("reviewer", Action.SEE_ORIGINAL)
    assert allowed("owner", Action.DELETE_PROJECT)
    assert not allowed("custodian", Action.DELETE_PROJECT)

"""Who may do what: one table, asked by the REST interface, the pages and the workers alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tacit.core.errors import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    NotLoggedInError,
    TooManyError,
)

__all__ = [
    "CAPACITIES",
    "HOUSE",
    "IN_PROJECT",
    "Action",
    "Actor",
    "ConflictError",
    "NotAllowedError",
    "NotFoundError",
    "NotLoggedInError",
    "Role",
    "TooManyError",
    "allowed",
    "require_in_project",
]


class Role(StrEnum):
    """What a person is in the house."""

    ADMINISTRATOR = "administrator"
    """Keeps accounts and settings; sees the data of own projects only."""
    CUSTODIAN = "custodian"
    """Protects data: sees originals in own projects."""
    REVIEWER = "reviewer"
    """Sees measurements and approves releases; never a record."""
    ANALYST = "analyst"
    """Asks questions of query servers; never a record."""


class Action(StrEnum):
    """Something a person may or may not do."""

    MANAGE_ACCOUNTS = "manage accounts"
    CREATE_PROJECT = "create a project"
    SEE_PROJECT = "see a project"
    SEE_ORIGINAL = "see original records"
    EDIT_PROJECT = "change a project"
    DELETE_PROJECT = "delete a project"
    SEE_MEASUREMENTS = "see measurements"
    SEE_MASKED = "see masked records"
    DECIDE = "approve or reject a release"
    SEE_HISTORY = "see the history"
    SET_POLICY = "set the policy of a query server"
    ASK = "ask a query server"


HOUSE: dict[Action, frozenset[Role]] = {
    Action.MANAGE_ACCOUNTS: frozenset({Role.ADMINISTRATOR}),
    Action.CREATE_PROJECT: frozenset({Role.ADMINISTRATOR, Role.CUSTODIAN}),
}
"""What a role allows without any project."""

_CUSTODIAN = frozenset(set(Action) - set(HOUSE) - {Action.DELETE_PROJECT, Action.DECIDE})
IN_PROJECT: dict[str, frozenset[Action]] = {
    "owner": _CUSTODIAN | {Action.DELETE_PROJECT, Action.DECIDE},
    "custodian": _CUSTODIAN | {Action.DECIDE},
    "reviewer": frozenset(
        {Action.SEE_PROJECT, Action.SEE_MEASUREMENTS, Action.DECIDE, Action.SEE_HISTORY}
    ),
    "analyst": frozenset({Action.ASK}),
}
"""What a capacity in a project allows; with four eyes nobody decides on what they made."""

CAPACITIES: dict[Role, frozenset[str]] = {
    Role.ADMINISTRATOR: frozenset({"custodian", "reviewer", "analyst"}),
    Role.CUSTODIAN: frozenset({"custodian", "reviewer", "analyst"}),
    Role.REVIEWER: frozenset({"reviewer", "analyst"}),
    Role.ANALYST: frozenset({"analyst"}),
}
"""Capacities that a person of each role can be given: an analyst never sees records."""


@dataclass(frozen=True)
class Actor:
    """The person on whose behalf something is done."""

    id: str
    name: str
    role: Role

    def require(self, action: Action) -> None:
        """Refuse what the role does not allow."""
        if self.role not in HOUSE[action]:
            raise NotAllowedError(
                f"a person with the role {self.role} may not {action}",
                do="ask an administrator",
            )


def allowed(capacity: str | None, action: Action) -> bool:
    """Whether a capacity in a project allows an action.

    Examples
    --------
    >>> allowed("reviewer", Action.SEE_MEASUREMENTS), allowed("reviewer", Action.SEE_ORIGINAL)
    (True, False)
    """
    return capacity is not None and action in IN_PROJECT[capacity]


def require_in_project(capacity: str | None, action: Action) -> None:
    """Refuse what a capacity does not allow; a project one cannot see does not exist."""
    if allowed(capacity, action):
        return
    if allowed(capacity, Action.SEE_PROJECT):
        raise NotAllowedError(f"you may not {action} here", do="ask the owner of the project")
    raise NotFoundError("there is no such project")

"""People: passwords, sessions, keys, locks."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from tacit.app.accounts import digest
from tacit.app.permissions import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    NotLoggedInError,
    Role,
    TooManyError,
)
from tacit.app.store.records import Event, Session, Token, User, now
from tacit.core.errors import ParameterError

PASSWORD = "correct horse battery"  # noqa: S105


def test_the_first_person_is_administrator_and_only_the_first(parts):
    assert not parts.accounts.are_there()
    assert parts.accounts.create_first("Root", PASSWORD).role is Role.ADMINISTRATOR
    with pytest.raises(ConflictError, match="there is an administrator"):
        parts.accounts.create_first("Other", PASSWORD)


@pytest.mark.parametrize(
    ("password", "why"),
    [("short", "at least"), ("aaaaaaaaaaaaaaaa", "easy"), ("I am Root, hello", "easy")],
)
def test_weak_passwords_are_refused(parts, password, why):
    with pytest.raises(ParameterError, match=why):
        parts.accounts.create_first("Root", password)
    assert not parts.accounts.are_there()


def test_passwords_and_tokens_are_stored_as_hashes(parts, people):
    session = parts.accounts.log_in("the custodian", PASSWORD)
    key = parts.accounts.create_token(people["custodian"], "script")
    with parts.store.read() as connection:
        stored = [u.password for u in connection.scalars(select(User))]
        tokens = [s.token for s in connection.scalars(select(Session))]
        secrets = [t.secret for t in connection.scalars(select(Token))]
        said = [str(e.about) for e in connection.scalars(select(Event))]
    assert all(s.startswith("$argon2id$") for s in stored)
    assert session.token not in tokens
    assert digest(session.token) in tokens
    assert key not in secrets
    assert not any(PASSWORD in text or key in text for text in said)


def test_names_that_differ_in_case_or_form_are_one(parts, people):
    with pytest.raises(ConflictError, match="there is an account"):
        parts.accounts.create(people["administrator"], "  sTRANGER ", "analyst", PASSWORD)
    assert parts.accounts.log_in("STRANGER", PASSWORD).actor.name == "Stranger"


def test_only_administrators_manage_accounts(parts, people):
    for role in ("custodian", "reviewer", "analyst"):
        with pytest.raises(NotAllowedError):
            parts.accounts.create(people[role], "New", "administrator", PASSWORD)
        with pytest.raises(NotAllowedError):
            parts.accounts.people(people[role])
        with pytest.raises(NotAllowedError):
            parts.accounts.change(people[role], people[role].id, role="administrator")


def test_an_account_is_locked_after_wrong_passwords_even_for_the_right_one(parts, people, settings):
    for _ in range(settings.failures):
        with pytest.raises(NotLoggedInError):
            parts.accounts.log_in("stranger", "wrong password 1")
    with pytest.raises(TooManyError):
        parts.accounts.log_in("stranger", PASSWORD)
    parts.accounts.change(people["administrator"], people["stranger"].id, unlock=True)
    assert parts.accounts.log_in("stranger", PASSWORD).actor.name == "Stranger"


def test_unknown_names_are_told_the_same_as_wrong_passwords(parts, people):
    messages = []
    for name in ("nobody", "stranger"):
        with pytest.raises(NotLoggedInError) as caught:
            parts.accounts.log_in(name, "wrong password 1")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_names_that_nobody_has_are_locked_like_others(parts, people, settings):
    """Else five wrong passwords would tell whether somebody has an account."""
    told = {"nobody": [], "stranger": []}
    for name, messages in told.items():
        for _ in range(settings.failures + 2):
            with pytest.raises((NotLoggedInError, TooManyError)) as caught:
                parts.accounts.log_in(name, "wrong password 1")
            messages.append((caught.type, str(caught.value)))
    assert told["nobody"] == told["stranger"]
    assert told["nobody"][-1][0] is TooManyError


def test_sessions_end_by_log_out_age_and_closing(parts, people, settings):
    session = parts.accounts.log_in("stranger", PASSWORD)
    assert parts.accounts.find_session(session.token).csrf == session.csrf
    parts.accounts.log_out(session.token)
    with pytest.raises(NotLoggedInError):
        parts.accounts.find_session(session.token)

    old = parts.accounts.log_in("stranger", PASSWORD)
    with parts.store.begin() as connection:
        long_ago = now() - timedelta(hours=settings.session_hours + 1)
        connection.execute(update(Session).values(seen=long_ago))
    with pytest.raises(NotLoggedInError):
        parts.accounts.find_session(old.token)

    closed = parts.accounts.log_in("stranger", PASSWORD)
    parts.accounts.change(people["administrator"], people["stranger"].id, active=False)
    for attempt in (
        lambda: parts.accounts.find_session(closed.token),
        lambda: parts.accounts.log_in("stranger", PASSWORD),
    ):
        with pytest.raises(NotLoggedInError):
            attempt()


def test_a_changed_password_ends_all_sessions(parts, people):
    session = parts.accounts.log_in("stranger", PASSWORD)
    with pytest.raises(NotAllowedError):
        parts.accounts.change_password(people["stranger"], "not the password", "another sentence")
    parts.accounts.change_password(people["stranger"], PASSWORD, "another long sentence")
    with pytest.raises(NotLoggedInError):
        parts.accounts.find_session(session.token)
    assert parts.accounts.log_in("stranger", "another long sentence")


def test_keys_act_for_their_person_until_revoked(parts, people):
    key = parts.accounts.create_token(people["custodian"], "script")
    assert parts.accounts.find_token(key) == people["custodian"]
    (listed,) = parts.accounts.tokens(people["custodian"])
    with pytest.raises(NotFoundError):
        parts.accounts.revoke_token(people["stranger"], listed["id"])
    parts.accounts.revoke_token(people["custodian"], listed["id"])
    with pytest.raises(NotLoggedInError):
        parts.accounts.find_token(key)


def test_administrators_cannot_lock_themselves_out(parts, people):
    root = people["administrator"]
    with pytest.raises(ConflictError):
        parts.accounts.change(root, root.id, active=False)
    with pytest.raises(ConflictError):
        parts.accounts.change(root, root.id, role="analyst")


def test_people_from_a_provider_come_in_as_analysts_and_cannot_take_a_name(parts, people):
    made = parts.accounts.log_in_subject("https://id.example|7", "Eve")
    assert made.actor.role is Role.ANALYST
    assert parts.accounts.log_in_subject("https://id.example|7", "Eve").actor == made.actor
    with pytest.raises(ConflictError):
        parts.accounts.log_in_subject("https://id.example|8", "Root")
    with pytest.raises(NotLoggedInError):
        parts.accounts.log_in("Eve", "")

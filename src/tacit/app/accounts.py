"""People: passwords, sessions, keys for programs, and locks against guessing."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select, update

from tacit.app.permissions import (
    Action,
    Actor,
    ConflictError,
    NotAllowedError,
    NotFoundError,
    NotLoggedInError,
    Role,
    TooManyError,
)
from tacit.app.store.database import Connection, Store, record
from tacit.app.store.records import Session, Token, User, now
from tacit.core.errors import ParameterError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from tacit.app.settings import Settings

SHORTEST_PASSWORD = 12
_LONGEST_PASSWORD = 1000
_MOST_UNKNOWN = 10_000
TOKEN_PREFIX = "tacit_"  # noqa: S105 - tells people and scanners what a leaked key is


@dataclass(frozen=True)
class LoggedIn:
    """A session that has just begun or been found again."""

    actor: Actor
    token: str
    """The cookie; only its hash is stored."""
    csrf: str
    """To be sent back with every change."""


class Accounts:
    """The people of one store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._unknown: dict[str, tuple[int, datetime | None]] = {}
        """Wrong passwords of names that nobody has, and until when they are locked."""

    # -- people ------------------------------------------------------------------------------------

    def are_there(self) -> bool:
        """Whether anybody has an account yet."""
        with self.store.read() as connection:
            return bool(connection.scalar(select(func.count()).select_from(User)))

    def create_first(self, name: str, password: str) -> Actor:
        """Create the administrator of a new house, once."""
        with self.store.begin() as connection:
            if connection.scalar(select(func.count()).select_from(User)):
                raise ConflictError("there is an administrator already", do="log in")
            user = _add(connection, name, Role.ADMINISTRATOR, password)
            record(connection, "account created", user=user.id, name=user.name, role=user.role)
            return _actor(user)

    def create(self, actor: Actor, name: str, role: Role | str, password: str) -> Actor:
        """Create an account."""
        actor.require(Action.MANAGE_ACCOUNTS)
        with self.store.begin() as connection:
            user = _add(connection, name, _role(role), password)
            record(connection, "account created", user=actor.id, name=user.name, role=user.role)
            return _actor(user)

    def people(self, actor: Actor) -> list[dict[str, object]]:
        """List all accounts."""
        actor.require(Action.MANAGE_ACCOUNTS)
        with self.store.read() as connection:
            found = connection.scalars(select(User).order_by(User.folded))
            return [
                {"id": u.id, "name": u.name, "role": u.role, "active": u.active,
                 "locked": bool(u.locked_until and u.locked_until > now()),
                 "created": u.created.isoformat()}
                for u in found
            ]  # fmt: skip

    def change(
        self,
        actor: Actor,
        user_id: str,
        *,
        role: Role | str | None = None,
        active: bool | None = None,
        unlock: bool = False,
    ) -> None:
        """Change the role of an account, close, open or unlock it."""
        actor.require(Action.MANAGE_ACCOUNTS)
        with self.store.begin() as connection:
            user = _existing(connection, user_id)
            if user.id == actor.id and (active is False or role not in (None, user.role)):
                raise ConflictError("administrators cannot take their own rights away")
            if role is not None:
                user.role = str(_role(role))
            if active is not None:
                user.active = active
            if unlock:
                user.failures, user.locked_until = 0, None
            if active is False or role is not None:
                connection.execute(delete(Session).where(Session.user_id == user.id))
            record(
                connection, "account changed", user=actor.id,
                name=user.name, role=user.role, active=user.active,
            )  # fmt: skip

    def change_password(self, actor: Actor, old: str, new: str) -> None:
        """Change the own password; all sessions end."""
        with self.store.begin() as connection:
            user = _existing(connection, actor.id)
            if not user.password or not _verify(user.password, old):
                raise NotAllowedError("the present password is not right")
            user.password = _hash(_checked_password(new, user.name))
            connection.execute(delete(Session).where(Session.user_id == user.id))
            record(connection, "password changed", user=user.id)

    def reset_password(self, actor: Actor, user_id: str, new: str) -> None:
        """Set somebody's password, who is then asked to change it."""
        actor.require(Action.MANAGE_ACCOUNTS)
        with self.store.begin() as connection:
            user = _existing(connection, user_id)
            user.password = _hash(_checked_password(new, user.name))
            user.failures, user.locked_until = 0, None
            connection.execute(delete(Session).where(Session.user_id == user.id))
            record(connection, "password reset", user=actor.id, name=user.name)

    # -- logging in --------------------------------------------------------------------------------

    def log_in(self, name: str, password: str) -> LoggedIn:
        """Begin a session; a wrong name and a wrong password look, last and are locked alike."""
        folded = _folded(name)
        with self.store.read() as connection:
            user = connection.scalar(select(User).where(User.folded == folded))
        locked = user.locked_until if user else self._unknown.get(folded, (0, None))[1]
        if locked is not None and locked > now():
            raise TooManyError("too many wrong passwords", do="wait, or ask an administrator")
        right = _verify(user.password if user and user.password else _decoy(), password)
        if user is None:
            self._count_unknown(folded)
        elif not right or not user.active or not user.password:
            self._count_failure(user)
        else:
            return self._begin(user)
        raise NotLoggedInError("name or password is not right")

    def log_in_subject(self, subject: str, name: str) -> LoggedIn:
        """Begin a session of somebody an OpenID Connect provider vouches for."""
        with self.store.begin() as connection:
            user = connection.scalar(select(User).where(User.subject == subject))
            if user is None:
                user = User(name=name, folded=_folded(name), role=Role.ANALYST, subject=subject)
                if connection.scalar(select(User.id).where(User.folded == user.folded)):
                    raise ConflictError("somebody else has this name here", got=name)
                connection.add(user)
                connection.flush()
                record(connection, "account created", user=user.id, name=name, role=user.role)
        if not user.active:
            raise NotLoggedInError("this account is closed")
        return self._begin(user)

    def _begin(self, user: User) -> LoggedIn:
        token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        with self.store.begin() as connection:
            connection.execute(
                update(User).where(User.id == user.id).values(failures=0, locked_until=None)
            )
            connection.execute(delete(Session).where(Session.seen < now() - self._idle))
            connection.add(Session(token=digest(token), user_id=user.id, csrf=csrf))
            record(connection, "logged in", user=user.id)
        return LoggedIn(_actor(user), token, csrf)

    def _count_failure(self, user: User) -> None:
        with self.store.begin() as connection:
            found = _existing(connection, user.id)
            found.failures += 1
            if found.failures >= self.settings.failures:
                found.locked_until = now() + timedelta(minutes=self.settings.lock_minutes)
                found.failures = 0
                record(connection, "account locked", user=user.id)

    def _count_unknown(self, folded: str) -> None:
        """Lock a name that nobody has as if somebody had it: else the lock tells who is here."""
        if len(self._unknown) >= _MOST_UNKNOWN:
            self._unknown.clear()
        failures = self._unknown.get(folded, (0, None))[0] + 1
        until = now() + timedelta(minutes=self.settings.lock_minutes)
        full = failures >= self.settings.failures
        self._unknown[folded] = (0, until) if full else (failures, None)

    @property
    def _idle(self) -> timedelta:
        return timedelta(hours=self.settings.session_hours)

    def find_session(self, token: str) -> LoggedIn:
        """Return the session of a cookie."""
        with self.store.read() as connection:
            found = connection.get(Session, digest(token))
            user = None if found is None else found.user
        if found is None or user is None or not user.active or found.seen < now() - self._idle:
            raise NotLoggedInError("you are not logged in", do="log in")
        if found.seen < now() - self._idle / 60:
            with self.store.begin() as connection:
                connection.execute(
                    update(Session).where(Session.token == found.token).values(seen=now())
                )
        return LoggedIn(_actor(user), token, found.csrf)

    def log_out(self, token: str) -> None:
        """End the session of a cookie."""
        with self.store.begin() as connection:
            connection.execute(delete(Session).where(Session.token == digest(token)))

    # -- keys for programs -------------------------------------------------------------------------

    def create_token(self, actor: Actor, name: str) -> str:
        """Return a new key for programs; it is shown once and stored as a hash."""
        key = TOKEN_PREFIX + secrets.token_urlsafe(32)
        with self.store.begin() as connection:
            connection.add(Token(user_id=actor.id, name=_checked_name(name), secret=digest(key)))
            record(connection, "key created", user=actor.id, name=name)
        return key

    def tokens(self, actor: Actor) -> list[dict[str, object]]:
        """List the own keys."""
        with self.store.read() as connection:
            found = connection.scalars(
                select(Token)
                .where(Token.user_id == actor.id, ~Token.revoked)
                .order_by(Token.created)
            )
            return [
                {"id": t.id, "name": t.name, "created": t.created.isoformat(),
                 "used": t.used.isoformat() if t.used else None}
                for t in found
            ]  # fmt: skip

    def revoke_token(self, actor: Actor, token_id: str) -> None:
        """Make a key useless."""
        with self.store.begin() as connection:
            found = connection.get(Token, token_id)
            if found is None or found.user_id != actor.id or found.revoked:
                raise NotFoundError("there is no such key")
            found.revoked = True
            record(connection, "key revoked", user=actor.id, name=found.name)

    def find_token(self, key: str) -> Actor:
        """Return the person whose key this is."""
        with self.store.read() as connection:
            found = connection.scalar(select(Token).where(Token.secret == digest(key)))
            user = None if found is None else found.user
        if found is None or found.revoked or user is None or not user.active:
            raise NotLoggedInError("this key is not known", do="create a new one in your account")
        if found.used is None or found.used < now() - timedelta(minutes=1):
            with self.store.begin() as connection:
                connection.execute(update(Token).where(Token.id == found.id).values(used=now()))
        return _actor(user)


def digest(secret: str) -> str:
    """Return the hash under which a secret of ours is stored; it is long and random already."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _add(connection: Connection, name: str, role: Role, password: str) -> User:
    name = _checked_name(name)
    if connection.scalar(select(User.id).where(User.folded == _folded(name))):
        raise ConflictError("there is an account of this name", got=name, do="choose another")
    password = _hash(_checked_password(password, name))
    user = User(name=name, folded=_folded(name), role=role, password=password)
    connection.add(user)
    connection.flush()
    return user


def _existing(connection: Connection, user_id: str) -> User:
    user = connection.get(User, user_id)
    if user is None:
        raise NotFoundError("there is no such account")
    return user


def _actor(user: User) -> Actor:
    return Actor(user.id, user.name, Role(user.role))


def _role(given: Role | str) -> Role:
    try:
        return Role(given)
    except ValueError:
        raise ParameterError(
            "there is no such role", got=repr(given), do=f"known: {', '.join(Role)}"
        ) from None


def _folded(name: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKC", name).strip().casefold()


def _checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise ParameterError("a name has 1 to 100 printable characters", got=repr(name[:120]))
    return name


def _checked_password(password: str, name: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise ParameterError(
            f"a password has at least {SHORTEST_PASSWORD} characters", do="use a sentence"
        )
    names_itself = len(name) > 3 and _folded(name) in password.casefold()
    if names_itself or len(set(password)) < 5:
        raise ParameterError("this password is easy to guess", do="use a sentence")
    return password


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()


def _hash(password: str) -> str:
    return _hasher().hash(password)


@cache
def _decoy() -> str:
    """Return the hash of nobody's password, so that unknown names take as long as known ones."""
    return _hash(secrets.token_urlsafe(16))


def _verify(stored: str, password: str) -> bool:
    from argon2.exceptions import Argon2Error

    try:
        return _hasher().verify(stored, password[: _LONGEST_PASSWORD + 1])
    except Argon2Error:
        return False

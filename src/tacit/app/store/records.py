"""The tables of the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import JSON, DateTime, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import TypeDecorator


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """Return a name nobody can guess."""
    return uuid4().hex


class _Time(TypeDecorator[datetime]):
    """A time in UTC, also in SQLite, which knows no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Record(DeclarativeBase):
    """A row of the store."""

    type_annotation_map = {  # noqa: RUF012 - read by SQLAlchemy
        datetime: _Time,
        dict[str, Any]: JSON,
        list[Any]: JSON,
    }


class User(Record):
    """A person who may log in."""

    __tablename__ = "user_account"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    """As typed; names that differ in case only are the same."""
    folded: Mapped[str] = mapped_column(String(200), unique=True)
    password: Mapped[str | None] = mapped_column(String(200))
    """Argon2 hash; none for people who come through OpenID Connect."""
    subject: Mapped[str | None] = mapped_column(String(300), unique=True)
    """Issuer and name at an OpenID Connect provider."""
    role: Mapped[str] = mapped_column(String(20))
    active: Mapped[bool] = mapped_column(default=True)
    failures: Mapped[int] = mapped_column(default=0)
    locked_until: Mapped[datetime | None]
    created: Mapped[datetime] = mapped_column(default=now)


class Session(Record):
    """A browser that is logged in."""

    __tablename__ = "session"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the cookie."""
    user_id: Mapped[str] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    csrf: Mapped[str] = mapped_column(String(64))
    created: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    user: Mapped[User] = relationship()


class Token(Record):
    """A key for programs."""

    __tablename__ = "api_token"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    secret: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the key."""
    created: Mapped[datetime] = mapped_column(default=now)
    used: Mapped[datetime | None]
    revoked: Mapped[bool] = mapped_column(default=False)
    user: Mapped[User] = relationship()


class Project(Record):
    """Data to protect, the plan being made, and what came of it."""

    __tablename__ = "project"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(String(100))
    folded: Mapped[str] = mapped_column(String(200), unique=True)
    description: Mapped[str] = mapped_column(String(2000), default="")
    owner_id: Mapped[str] = mapped_column(ForeignKey("user_account.id"))
    created: Mapped[datetime] = mapped_column(default=now)
    edition: Mapped[int] = mapped_column(default=0)
    """Goes up with every change of roles or plan; an edit must name the one it was made on."""
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """Name, digest, records, columns and source of the data; empty before they are there."""
    roles: Mapped[str] = mapped_column(default="")
    """Schema of the data as TOML."""
    plan: Mapped[list[Any]] = mapped_column(default=list)
    """Steps of the plan being made."""
    owner: Mapped[User] = relationship()


class Member(Record):
    """What a person may do in somebody else's project."""

    __tablename__ = "member"

    project_id: Mapped[str] = mapped_column(
        ForeignKey("project.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[str] = mapped_column(
        ForeignKey("user_account.id", ondelete="CASCADE"), primary_key=True
    )
    capacity: Mapped[str] = mapped_column(String(20))
    """custodian, reviewer or analyst."""
    user: Mapped[User] = relationship()


class Version(Record):
    """A masked version of the data, or a protected table."""

    __tablename__ = "version"
    __table_args__ = (UniqueConstraint("project_id", "kind", "folded"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20), default="masked")
    """masked or table."""
    name: Mapped[str] = mapped_column(String(100))
    folded: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(20), default="made")
    """made, approved or rejected."""
    plan: Mapped[str] = mapped_column(default="")
    """TOML of what was done; parameters stay inside."""
    measurements: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """The scorecard, or the audit of a table."""
    made_by: Mapped[str] = mapped_column(ForeignKey("user_account.id"))
    created: Mapped[datetime] = mapped_column(default=now)
    decided_by: Mapped[str | None] = mapped_column(ForeignKey("user_account.id"))
    decided: Mapped[datetime | None]
    remark: Mapped[str] = mapped_column(String(2000), default="")


class Job(Record):
    """Long work, done by a worker."""

    __tablename__ = "job"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id", ondelete="CASCADE"))
    user_id: Mapped[str] = mapped_column(ForeignKey("user_account.id"))
    kind: Mapped[str] = mapped_column(String(20))
    request: Mapped[dict[str, Any]] = mapped_column(default=dict)
    submitted: Mapped[str | None] = mapped_column(String(100), unique=True)
    """Key of a submission; the same key twice is one job."""
    state: Mapped[str] = mapped_column(String(20), default="queued", index=True)
    """queued, running, done, failed or cancelled."""
    progress: Mapped[float] = mapped_column(default=0.0)
    message: Mapped[str] = mapped_column(String(2000), default="")
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    attempts: Mapped[int] = mapped_column(default=0)
    cancelling: Mapped[bool] = mapped_column(default=False)
    worker: Mapped[str | None] = mapped_column(String(100))
    heartbeat: Mapped[datetime | None]
    created: Mapped[datetime] = mapped_column(default=now)
    ended: Mapped[datetime | None]


class Service(Record):
    """The query server of a project."""

    __tablename__ = "service"

    project_id: Mapped[str] = mapped_column(
        ForeignKey("project.id", ondelete="CASCADE"), primary_key=True
    )
    policy: Mapped[str] = mapped_column(default="")
    """TOML of the policy."""
    open_to_all: Mapped[bool] = mapped_column(default=False)
    """Whether everybody with an account may ask, or invited people only."""
    active: Mapped[bool] = mapped_column(default=False)
    changed: Mapped[datetime] = mapped_column(default=now)


class Event(Record):
    """Who did what, and when."""

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[datetime] = mapped_column(default=now)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("user_account.id"))
    project_id: Mapped[str | None] = mapped_column(
        ForeignKey("project.id", ondelete="SET NULL"), index=True
    )
    what: Mapped[str] = mapped_column(String(100))
    about: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """Names and numbers; never a value of a record."""
    user: Mapped[User | None] = relationship()

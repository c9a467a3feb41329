"""Settings of the app, from the environment and a file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import Ge
from pydantic import Field

from tacit.core.errors import ParameterError, nearest
from tacit.core.value import Value

PREFIX = "TACIT_"


class Settings(Value):
    """How the app runs; each setting is also an environment variable, ``TACIT_`` and its name."""

    folder: Path = Path("tacit-app")
    """Folder of the data files and, unless `database` says otherwise, of the store."""
    database: str = ""
    """URL of a PostgreSQL store; empty for SQLite in the folder."""
    host: str = "127.0.0.1"
    """Address to listen on; behind a reverse proxy leave it at this machine."""
    port: Annotated[int, Ge(0)] = 8080
    """Port to listen on; 0 takes a free one."""
    https: bool = False
    """Whether browsers reach the app by https, so that cookies are sent over nothing else."""
    allowed_hosts: tuple[str, ...] = ("127.0.0.1", "localhost")
    """Names under which the app may be reached; others are refused."""
    workers: Annotated[int, Ge(0)] = 1
    """Processes that do long jobs; 0 where they are started on their own."""
    largest_upload: Annotated[int, Ge(1)] = 4 * 2**30
    """Largest file that may be uploaded, in bytes."""
    uploads: Annotated[int, Ge(1)] = 4
    """Files that one process takes at the same time; others are asked to wait."""
    databases: tuple[str, ...] = Field(default=(), repr=False)
    """Beginnings of the addresses of databases whose tables may be read and made; none is.
    A name and a password in them are used by the workers and shown to nobody."""
    agency_keys: str = ""
    """Folder with the certificate and keys of this house as an agency, as `tacit certificates`
    makes it; empty where it is none."""
    agency_listen: str = "127.0.0.1:7400"
    """Where the agency listens, host:port; port 0 takes a free one."""
    coordinator_keys: str = ""
    """Folder with the certificate and key with which this house asks agencies; empty if never."""
    agencies: tuple[str, ...] = ()
    """Agencies that may be asked, each as name=host:port."""
    session_hours: Annotated[float, Ge(0.01)] = 12.0
    """Hours after which an idle session ends."""
    failures: Annotated[int, Ge(1)] = 5
    """Wrong passwords in a row after which an account is locked for a while."""
    lock_minutes: Annotated[float, Ge(0.01)] = 15.0
    """How long it is locked."""
    four_eyes: bool = True
    """Whether a release must be approved by somebody who did not make it."""
    target: str = "k >= 5; at most 20 % linkable"
    """What a masked version must meet to be called safe enough: as the wizard is told."""
    job_attempts: Annotated[int, Ge(1)] = 2
    """How often a job is tried when its worker dies."""
    heartbeat_seconds: Annotated[float, Ge(0.1)] = 2.0
    """How often a worker says that it is alive; after five silences it counts as dead."""
    demo_records: Annotated[int, Ge(50)] = 5000
    """Made-up people in the project to try."""
    oidc_issuer: str = ""
    """Address of an OpenID Connect provider; empty for passwords only."""
    oidc_client: str = ""
    """Name of this app at the provider."""
    oidc_secret: str = Field(default="", repr=False)
    """Secret of this app at the provider."""

    @property
    def store_url(self) -> str:
        """Address of the store as SQLAlchemy reads it."""
        if not self.database:
            return f"sqlite:///{(self.folder / 'store.sqlite').absolute()}"
        return self.database.replace("postgresql://", "postgresql+psycopg://", 1)

    @property
    def projects(self) -> Path:
        """Folder of the files of all projects."""
        return self.folder / "projects"

    @classmethod
    def load(cls, file: Path | None = None, **given: Any) -> Self:
        """Return the settings of a file, overridden by the environment and by what is given.

        Examples
        --------
        >>> Settings.load(port=9000).port
        9000
        """
        found = {**_from_file(file), **_from_environment(cls), **given}
        return cls(**{name: value for name, value in found.items() if value is not None})


_LISTS = ("allowed_hosts", "databases", "agencies")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _from_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParameterError("the settings could not be read", got=f"{file}: {error}") from error


def _from_environment(cls: type[Settings]) -> dict[str, Any]:
    """Read the variables that are set; an unknown one is most likely misspelt."""
    found: dict[str, Any] = {}
    for variable, text in os.environ.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in cls.model_fields:
            raise ParameterError(
                f"there is no setting {variable}",
                do=nearest(variable, (PREFIX + n.upper() for n in cls.model_fields)),
            )
        found[name] = _listed(text) if name in _LISTS else text
    return found

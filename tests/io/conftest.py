"""Fixtures of the reading and writing tests: a frame of every type, and a real PostgreSQL."""

import datetime as dt
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

_PASSWORD = "s3cret+/@ ü"  # noqa: S105 - of a server that lives as long as the tests


@pytest.fixture
def people() -> pl.DataFrame:
    """Records of every type, with missing values, dates before 1970 and text of all scripts."""
    return pl.DataFrame(
        {
            "number": [1, None, 3, -4],
            "amount": [1.5, None, 1 / 3, -2e-7],
            "name": ["Ångström", None, '日本, "語"', "007"],
            "employed": [True, None, False, True],
            "born": [dt.date(1950, 1, 2), None, dt.date(2020, 12, 31), dt.date(1931, 5, 6)],
            "seen": [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1999, 12, 31), None],
            "code": ["01234", "00000", None, "99999"],
        }
    )


@pytest.fixture
def text_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of the given text or bytes and return its path."""

    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL."""

    port: int
    password: str

    @property
    def url(self) -> str:
        return self.url_with(self.password)

    def url_with(self, password: str, database: str = "postgres") -> str:
        return f"postgresql://postgres:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a PostgreSQL of our own in a temporary folder, with a password."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="tacit-pg-"))
    try:
        yield from _running(programs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    reason = "PostgreSQL is not installed (apt-get install postgresql)"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _version(initdb: Path) -> int:
    return int(initdb.parts[-3]) if initdb.parts[-3].isdigit() else 0


def _running(programs: Path, folder: Path) -> Iterator[Server]:
    password = folder / "password"
    password.write_text(_PASSWORD, encoding="utf-8")
    if os.geteuid() == 0:
        for path in (folder, password):
            shutil.chown(path, "postgres")
    data = str(folder / "data")
    _as_owner(
        programs / "initdb", "-D", data, "-U", "postgres", "-A", "scram-sha-256",
        f"--pwfile={password}", "-E", "UTF8", "--locale=C", "--no-sync",
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = programs / "pg_ctl"
    _as_owner(control, "-D", data, "-w", "-l", str(folder / "log"), "-o", settings, "start")
    try:
        yield Server(port, _PASSWORD)
    finally:
        _as_owner(control, "-D", data, "-m", "immediate", "stop")


def _as_owner(program: Path, *arguments: str) -> None:
    """Run a program as a user PostgreSQL accepts: anybody but root."""
    switch = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*switch, str(program), *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        cwd="/", text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.fail(f"{program.name} failed: {done.stderr}")

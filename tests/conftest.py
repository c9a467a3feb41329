"""Fixtures shared by all tests: reference data, a real PostgreSQL and a real Spark session.

On a build machine (``CI`` is set) every run is the same: Hypothesis repeats its examples, and seeds
and keys that nobody chose follow from the name of the test. Elsewhere both are new in every run.
"""

import itertools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

REPEATED = bool(os.environ.get("CI"))
"""Whether this run is to be the same as the last."""

# Machines are shared and first calls compile: time says nothing about an example.
settings.register_profile(
    "tacit", deadline=None, suppress_health_check=[HealthCheck.too_slow],
    **({"derandomize": True, "database": None} if REPEATED else {}),
)  # fmt: skip
settings.load_profile("tacit")
if REPEATED:
    # Examples also hold constants of the modules imported so far; which these are depends on the
    # tests that happened to run before in the same process.
    providers._get_local_constants = lambda: providers._local_constants

# Programs that tests start keep what Python compiles: without it each compiles all of tacit anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
_PASSWORD = "s3cret+/@ ü"  # noqa: S105 - of a server that lives as long as the tests


@pytest.hookimpl(tryfirst=True)  # before xdist, which reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that need one heavy component in one process, so that it starts once."""
    for item in items:
        for component in ("spark", "postgres"):
            if component in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group(component))
                break


class Lots:
    """Takes the place of `secrets`: what it gives follows from the name of a test or fixture."""

    def __init__(self) -> None:
        self._random = Random(0)  # noqa: S311 - of tests

    def begin(self, name: str) -> None:
        self._random = Random(name)  # noqa: S311 - of tests

    def randbits(self, k: int) -> int:
        return self._random.getrandbits(k)

    def token_bytes(self, n: int = 32) -> bytes:
        return self._random.randbytes(n)

    def token_hex(self, n: int = 32) -> str:
        return self.token_bytes(n).hex()


LOTS = Lots()


def pytest_sessionstart() -> None:
    """Draw the seeds of releases and the keys of query servers from lots that come again."""
    if REPEATED:
        from tacit.core import rng
        from tacit.query import keys

        rng.secrets = keys.secrets = LOTS


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    LOTS.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """Give a fixture lots of its own: which test needs it first differs from run to run."""
    before = LOTS._random
    LOTS.begin(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', 0)}")
    try:
        return (yield)
    finally:
        LOTS._random = before


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """Return a function that finds a port for a program that is still to be started.

    It is below those which the system hands out by itself, so that no connection of another
    process gets it in between.
    """
    return _free_port


_CANDIDATES = itertools.count(os.getpid() * 97)


def _free_port() -> int:
    for number in _CANDIDATES:
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", 20_000 + number % 12_000))
            except OSError:
                continue
            return int(tried.getsockname()[1])
    raise AssertionError


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of public reference data, which a user's clone does not have."""
    if not _SHARED.is_dir():
        pytest.skip(f"reference data are not here: {_SHARED}")
    return _SHARED


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start a Spark session on two cores of this machine."""
    if not shutil.which("java"):
        _missing("Java is not installed (apt-get install default-jre-headless)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas 3, which we do not use there
            from pyspark.sql import SparkSession
    except ImportError:
        _missing("pyspark is not installed (pip install 'tacit[spark]')")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need tacit too
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    yield session
    session.stop()


def _missing(reason: str) -> None:
    """Skip where a component is not installed; a build machine must have it."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


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
    _missing("PostgreSQL is not installed (apt-get install postgresql)")
    raise AssertionError


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
    port = _free_port()
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

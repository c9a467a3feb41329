"""A run on a build machine is the same as the last, whatever ran before in the same process."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

_CASES = """
import pytest
from hypothesis import given, strategies as st

from tacit.core.rng import fresh_seed
from tacit.query import keys

DRAWN = []


@given(st.integers(), st.text())
def draw(number, text):
    DRAWN.append((number, text))


@pytest.fixture(scope="module")
def shared():
    return fresh_seed()


def test_examples_do_not_depend_on_what_was_imported():
    draw()
    before = DRAWN.copy()
    DRAWN.clear()
    import imported_later
    draw()
    assert DRAWN == before


@pytest.mark.parametrize("name", ["first", "second"])
def test_lots(name, shared, tmp_path):
    assert fresh_seed() != fresh_seed()
    with open(f"{name}.lots", "w") as file:
        print(shared, fresh_seed(), keys.secrets.token_hex(), file=file)
"""


def _lots(folder: Path, *chosen: str) -> dict[str, str]:
    """Run the cases as on a build machine and return what two of them drew."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "CI": "true"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.stem: path.read_text() for path in folder.glob("*.lots")}


def test_runs_on_a_build_machine_are_the_same(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_cases.py").write_text(_CASES, encoding="utf-8")
    numbers = ", ".join(str(7919 * n) for n in range(500))
    (tmp_path / "imported_later.py").write_text(f"NUMBERS = [{numbers}]\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    whole = _lots(tmp_path)
    assert whole["first"].split()[0] == whole["second"].split()[0]
    assert whole["first"].split()[1:] != whole["second"].split()[1:]
    (tmp_path / "second.lots").unlink()
    assert _lots(tmp_path, "test_cases.py::test_lots[second]") == whole


def test_a_free_port_can_be_used_and_is_handed_out_once(free_port):
    ports = [free_port() for _ in range(20)]
    assert len(set(ports)) == 20
    for port in ports:
        with socket.create_server(("127.0.0.1", port)):
            pass
    assert max(ports) < 32_768, "the system hands these out by itself"


def test_a_port_that_is_taken_is_left_out(free_port, monkeypatch):
    first = free_port()
    monkeypatch.setitem(
        free_port.__globals__, "_CANDIDATES", iter([first - 20_000, first - 19_999])
    )
    with socket.create_server(("127.0.0.1", first)):
        assert free_port() == first + 1

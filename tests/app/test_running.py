"""Running the app: workers that are replaced, settings that are handed on."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tacit.app.running import Supervisor, _listener, environment
from tacit.app.settings import Settings
from tacit.core.errors import ParameterError


def test_another_process_gets_the_same_settings(settings, monkeypatch):
    given = settings.replace(databases=("postgresql://a/", "postgresql://b/"), https=True)
    for name, value in environment(given).items():
        monkeypatch.setenv(name, value)
    assert Settings.load() == given


def test_a_worker_that_dies_is_replaced(parts, settings):
    supervisor = Supervisor(settings.replace(workers=1))
    supervisor.start()
    try:
        first = supervisor._processes[0].pid
        os.kill(first, signal.SIGKILL)
        end = time.monotonic() + 60
        while supervisor._processes[0].pid == first:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert supervisor._processes[0].poll() is None
    finally:
        supervisor.stop()
    assert supervisor._processes[0].poll() is not None


def test_none_is_started_once_all_are_to_end(settings):
    found_dead = threading.Event()

    class Dead:
        pid = returncode = 1
        stdin = None

        def poll(self):
            found_dead.set()
            return 1

        def terminate(self):
            pass

        def wait(self, _seconds):
            return 1

    supervisor = Supervisor(settings.replace(workers=1))
    supervisor._new = lambda _module: Dead()
    supervisor.start()
    assert found_dead.wait(60)
    supervisor.stop()
    assert not supervisor._thread.is_alive()


_HOUSE = """
import sys, time
from tacit.app.running import Supervisor
from tacit.app.settings import Settings
supervisor = Supervisor(Settings.load())
supervisor.start()
print(supervisor._processes[0].pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="needs /proc")
def test_a_server_that_is_killed_leaves_no_worker_behind(parts, settings):
    """A worker that outlived its server would take jobs with settings and code of yesterday."""
    given = environment(settings.replace(workers=1))
    server = subprocess.Popen(
        [sys.executable, "-c", _HOUSE], env=given, stdout=subprocess.PIPE, text=True
    )
    worker = int(server.stdout.readline())
    server.kill()
    server.wait()
    server.stdout.close()
    end = time.monotonic() + 60
    while _is_running(worker):
        assert time.monotonic() < end, "the worker goes on without its server"
        time.sleep(0.05)


def _is_running(process):
    """Whether a process is there and has not ended; one that nobody waits for stays listed."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] != "Z"


def test_an_address_in_use_is_named(settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=str(port)):
            _listener(settings.replace(port=port))

"""tacit worker: a process that does jobs until told to stop."""

import json
import signal
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(signal, "SIGTERM"), reason="needs POSIX signals")
def test_it_prepares_the_store_works_and_stops_when_told_to(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit.cli", "worker", "--folder", "house", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    from tacit.app.accounts import Accounts
    from tacit.app.jobs import Jobs
    from tacit.app.projects import Projects
    from tacit.app.settings import Settings
    from tacit.app.store.database import Store

    settings = Settings(folder=folder / "house")
    try:
        _wait(lambda: (folder / "house" / "store.sqlite").is_file() and _is_ready(settings))
        store = Store(settings.store_url)
        root = Accounts(store, settings).create_first("Root", "correct horse battery")
        project = Projects(store, settings).create(root, "P")
        jobs = Jobs(store, settings)
        job = jobs.submit(root, project, "import", {"name": "x.csv", "file": "none.csv"})
        _wait(lambda: jobs.show(root, job)["state"] == "failed")
        store.close()
    finally:
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert json.loads(out)["stopped"] is True
    lines = [json.loads(line) for line in err.splitlines()]
    assert any("import failed" in line["message"] for line in lines)


def _is_ready(settings):
    from tacit.app.store.database import Store
    from tacit.app.store.dump import revision, snapshot

    store = Store(settings.store_url)
    with snapshot(store) as connection:
        found = revision(connection)
    store.close()
    return bool(found)


def _wait(condition, seconds=60.0):
    import time

    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)

"""tacit serve: from nothing to an app that answers."""

import json
import re
import subprocess
import sys
import urllib.request

import pytest


@pytest.fixture
def started(folder):
    """Start the app as `make run` does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit.cli", "serve", "--demo", "--folder", "tacit-demo",
         "--port", "0", "--workers", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_it_prints_its_address_answers_and_stops_when_told_to(started, folder):
    line = started.stdout.readline()
    address, code = re.fullmatch(r"tacit is at (http://[^/]+)/setup\?code=(\S+)\n", line).groups()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{address}/health", timeout=60) as answer:
        assert json.loads(answer.read()) == {"ok": True}
    with opener.open(f"{address}/metrics", timeout=60) as answer:
        assert b"tacit_jobs" in answer.read()
    started.terminate()
    _out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    lines = [json.loads(text) for text in err.splitlines()]
    assert any(logged.get("route") == "/health" for logged in lines)
    assert code not in err
    assert (folder / "tacit-demo" / "store.sqlite").is_file()


def test_options_that_make_no_sense_are_refused(run, folder, refusal):
    (folder / "settings.toml").write_text("prot = 5")
    assert "port" in refusal(run("serve", "--settings", "settings.toml"))
    assert "settings could not be read" in refusal(run("serve", "--settings", "none.toml"))

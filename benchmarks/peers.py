"""Calls of the peers in their own environment, so that a benchmark runs with or without them."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOT_INSTALLED = "not installed"
_PYTHON = Path(__file__).resolve().parents[1] / ".venv-peers" / "bin" / "python"


@dataclass(frozen=True)
class Run:
    """What came of one call: figures, or the reason why there are none."""

    seconds: float | None
    peak: float | None = None
    answer: Any = None
    why: str = ""

    def __str__(self) -> str:
        return self.why if self.seconds is None else f"{self.seconds:.2f}"


def version(package: str) -> str:
    """Return the installed version of a peer, or say that it is not installed."""
    if not _PYTHON.is_file():
        return NOT_INSTALLED
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([_PYTHON, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or NOT_INSTALLED


def command(case: str, path: str, folder: Path, limit: int) -> list[str]:
    """Return the command that runs a case of peer_cases.py."""
    script = Path(__file__).with_name("peer_cases.py")
    return [str(_PYTHON), "-W", "ignore", str(script), case, path, str(folder), str(limit)]


def run(case: str, path: Path, folder: Path, limit: int) -> Run:
    """Run a case of peer_cases.py for at most `limit` CPU seconds."""
    if version(case) == NOT_INSTALLED:
        return Run(None, why=NOT_INSTALLED)
    line = command(case, str(path), folder, limit)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Run(None, why=f"over {limit}, stopped")
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return Run(None, why=f"fails: {reason[:60]}")
    return Run(**json.loads(done.stdout.splitlines()[-1]))

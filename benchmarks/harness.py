"""The benchmark harness: every capability beside its peers and its limit, written to the docs.

    python benchmarks/harness.py                     everything (make bench)
    python benchmarks/harness.py --only mdav suda    some; the others keep their figures
    python benchmarks/harness.py --quick             tiny files, one run, no peers
    python benchmarks/harness.py --render            only write the pages again

Our side, each peer and the limit take turns, so that a busy minute of the machine hits all of
them; the median of the turns counts. Seconds are CPU seconds of all threads, because machines are
shared. The file is in memory and compiled code is warm on both sides. Figures are kept in
``results.json`` beside the pages.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import pages
import peers
from capabilities import BY_KEY, CAPABILITIES, Capability

_HERE = Path(__file__).resolve().parent
_HIERARCHIES = _HERE.parents[1] / "shared" / "data" / "adult"
DOCS = _HERE.parent / "docs" / "benchmarks"


class Process:
    """A worker that runs one task per line."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line and return the answer, or the reason why there is none."""
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"why": "stopped before"}
        answer = self._process.stdout.readline()
        if answer:
            return json.loads(answer)
        errors = self._process.stderr.read().strip().splitlines()
        code = self._process.wait()
        over = code in (-24, -9)  # SIGXCPU, SIGKILL
        return {"why": "over LIMIT, stopped" if over else f"fails: {(errors or [code])[-1]}"[:90]}

    def close(self) -> None:
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()


class Sides:
    """All processes of one capability: ours, which also runs the limit, and one per peer."""

    def __init__(self, capability: Capability, limit_s: int, with_peers: bool) -> None:
        self._capability, self._limit_s = capability, limit_s
        self._ours = Process([sys.executable, "-W", "ignore", str(_HERE / "worker.py")])
        self._folder = tempfile.TemporaryDirectory()
        self._peers = {
            name: Process(peers.command(name, "-", _HIERARCHIES, limit_s))
            for name in (capability.peers if with_peers else ())
            if peers.version(name) != peers.NOT_INSTALLED
        }
        self._late: dict[str, str] = {}

    def turn(self, n: int) -> dict[str, dict[str, Any]]:
        """Run each side once on n records."""
        key = self._capability.key
        found = {side: self._ours.ask(json.dumps([side, key, n])) for side in ("ours", "limit")}
        for name, process in self._peers.items():
            if name in self._late:
                found[name] = {"why": self._late[name]}
                continue
            found[name] = process.ask(str(self._file(n)))
            if self._capability.judge is not None and "answer" in found[name]:
                question = ["judge", key, n, found[name]["answer"]]
                found[name]["answer"] = self._ours.ask(json.dumps(question)).get("answer")
            if "why" in found[name]:
                found[name]["why"] = found[name]["why"].replace("LIMIT", f"{self._limit_s} s")
                self._late[name] = "not tried: a smaller file was too much"
        return found

    def _file(self, n: int) -> Path:
        path = Path(self._folder.name) / f"{n}.parquet"
        if not path.exists():
            self._capability.data(n).write_parquet(path)
        return path

    def close(self) -> None:
        for process in (self._ours, *self._peers.values()):
            process.close()
        self._folder.cleanup()


def median(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Bring the turns of one side at one size together; a failure outweighs figures."""
    reasons = [turn["why"] for turn in turns if "why" in turn]
    if reasons:
        return {"why": reasons[0]}
    seconds = [turn["seconds"] for turn in turns]
    peaks = [turn["peak"] for turn in turns if turn["peak"] is not None]
    return {
        "seconds": statistics.median(seconds),
        "spread": max(seconds) / max(min(seconds), 1e-9),
        "turns": len(seconds),
        "peak": max(peaks, default=None),
        "answer": turns[-1]["answer"],
    }


def measure(capability: Capability, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one capability at all its sizes."""
    sizes = (capability.tiny,) if options.quick else capability.sizes
    if capability.peers and not options.quick:
        sizes = tuple(sorted({*sizes, *capability.peer_sizes}))
    sides = Sides(capability, options.limit, with_peers=not options.quick)
    rows = {}
    for n in sizes:
        taken, turns = time.perf_counter(), []
        n_turns = 1 if options.quick else options.turns
        while len(turns) < n_turns and (
            not turns or time.perf_counter() - taken < options.patience
        ):
            turns.append(sides.turn(n))
        rows[str(n)] = {side: median([turn[side] for turn in turns]) for side in turns[0]}
        print(capability.key, n, rows[str(n)], file=sys.stderr, flush=True)
    sides.close()
    return {
        "title": capability.title,
        "limit": capability.limit[0],
        "sizes": rows,
        "versions": {name: peers.version(name) for name in capability.peers},
        "date": date.today().isoformat(),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=list(BY_KEY), default=list(BY_KEY))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--render", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60, help="seconds of turns at one size")
    parser.add_argument("--limit", type=int, default=100, help="CPU seconds a peer may take")
    parser.add_argument("--out", type=Path, default=DOCS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    store = options.out / "results.json"
    results = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    for capability in CAPABILITIES if not options.render else ():
        if capability.key in options.only:
            results[capability.key] = measure(capability, options)
            store.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    pages.write(options.out, results)


if __name__ == "__main__":
    main()

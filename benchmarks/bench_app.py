"""Many analysts at once on one query server: throughput, waiting times, errors, memory over time.

A house with one project of made-up people is served by `tacit serve` in a process of its own; each
analyst is a thread of another process with a key of its own, who asks one cross-tab after the
other. Run with the numbers wanted::

    python benchmarks/bench_app.py --analysts 200 --seconds 600 --records 1000000
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from itertools import combinations
from pathlib import Path

from measuring import markdown

NAMES = ("sex", "marital", "region", "job", "band")


def people(n: int):
    """Return made-up records with five categorical variables."""
    import numpy as np
    import polars as pl

    draw = np.random.default_rng(7)
    sizes = {"sex": 2, "marital": 4, "region": 20, "job": 17, "band": 3}
    columns = {
        name: pl.Series(draw.integers(0, size, n)).cast(pl.String).str.pad_start(2, "0")
        for name, size in sizes.items()
    }
    return pl.DataFrame(columns).with_columns(income=pl.Series(draw.lognormal(10, 1, n).round(0)))


def furnished(folder: Path, records: int, analysts: int, policy: str) -> tuple[str, list[str]]:
    """Make a house with a project that all may ask; return the project and a key per analyst."""
    import tacit
    from tacit.app.permissions import Role
    from tacit.app.services import Services
    from tacit.app.settings import Settings
    from tacit.app.store.records import Project
    from tacit.app.tasks.import_task import stored
    from tacit.query import Policy

    parts = Services.start(Settings(folder=folder))
    root = parts.accounts.create_first("Root", "correct horse battery")
    project = parts.projects.create(root, "People")
    data = tacit.read(people(records)).with_roles(keys=list(NAMES), confidential=["income"])
    digest = stored(data, parts.projects.folder(project) / "data")
    with parts.store.begin() as connection:
        row = connection.get_one(Project, project)
        row.data = {"name": "people", "digest": digest, "records": records, "columns": data.columns}
        row.roles, row.edition = data.schema.to_toml(), 1
    text = Policy.named(policy).to_toml()
    parts.queries.set_up(root, project, policy=text, active=True, open_to_all=True)
    keys = []
    for number in range(analysts):  # an account each: policies limit the requests of a person
        name = f"Analyst {number}"
        made = parts.accounts.create(root, name, Role.ANALYST, "a long new sentence")
        keys.append(parts.accounts.create_token(made, "load"))
    parts.close()
    return project, keys


def requests() -> list[dict]:
    """Return cross-tabs of one, two and three variables."""
    return [
        {"method": "crosstab", "by": list(by)}
        for size in (1, 2, 3)
        for by in combinations(NAMES, size)
    ]


class Load:
    """Analysts who ask until the time is over."""

    def __init__(self, address: str, project: str, keys: list[str], seconds: float) -> None:
        self.address, self.project, self.keys = address, project, keys
        self.end = time.monotonic() + seconds
        self.times: list[float] = []
        self.errors: list[str] = []
        self.refusals = 0

    def run(self) -> None:
        threads = [
            threading.Thread(target=self._analyst, args=(number, key))
            for number, key in enumerate(self.keys)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _analyst(self, number: int, key: str) -> None:
        from tacit.client import Client

        client, asked = Client(self.address, key, timeout=120), requests()
        while time.monotonic() < self.end:
            started = time.perf_counter()
            try:
                given = client.ask(self.project, asked[number % len(asked)])
                self.refusals += given.is_refusal
                self.times.append(time.perf_counter() - started)
            except Exception as error:  # every kind counts
                self.errors.append(f"{type(error).__name__}: {error}")
            number += 1


def resident(pid: int) -> float:
    """Return the memory of a process in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def processor_seconds(pid: int) -> float:
    """Return the CPU time that a process has used, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watched(pid: int, load: Load, every: float) -> list[float]:
    """Run the load; return the memory of the server at regular times."""
    memory: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(every):
            memory.append(resident(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    load.run()
    done.set()
    watcher.join()
    return memory


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--analysts", type=int, default=20)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--records", type=int, default=1_000_000)
    options.add_argument("--policy", default="strict")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="tacit-load-") as place:
        folder = Path(place) / "house"
        project, keys = furnished(folder, given.records, given.analysts, given.policy)
        server = subprocess.Popen(
            [sys.executable, "-m", "tacit.cli", "serve", "--folder", str(folder), "--port", "0",
             "--workers", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            address = re.search(r"http://[^/\s]+", server.stdout.readline())[0]
            opened, memory, load, used = measured(server.pid, address, project, keys, given.seconds)
        finally:
            server.terminate()
            server.wait(30)
    print(report(given, opened, memory, load, used))


def measured(pid, address, project, keys, seconds):
    """Open the query server, warm it, and let the analysts in."""
    from tacit.client import Client

    first, started = Client(address, keys[0], timeout=600), time.perf_counter()
    for request in requests():
        first.ask(project, request)
    opened = time.perf_counter() - started
    load = Load(address, project, keys, seconds)
    before = processor_seconds(pid)
    memory = watched(pid, load, max(seconds / 20, 1.0))
    return opened, memory, load, processor_seconds(pid) - before


def report(given, opened: float, memory: list[float], load: Load, used: float) -> str:
    times = sorted(load.times) or [float("nan")]
    p95 = times[int(0.95 * (len(times) - 1))]
    third = max(len(memory) // 3, 1)
    rows = [
        ("analysts at once", given.analysts),
        ("records", f"{given.records:,}"),
        ("opening the server and 25 first cross-tabs", f"{opened:.1f} s"),
        ("answers", f"{len(load.times):,} in {given.seconds:.0f} s"),
        ("answers per second", f"{len(load.times) / given.seconds:.1f}"),
        ("median, p95, longest wait", f"{statistics.median(times):.3f}, {p95:.3f}, "
                                      f"{times[-1]:.3f} s"),
        ("CPU of the server per answer", f"{1000 * used / len(times):.1f} ms"),
        ("refusals by rule", load.refusals),
        ("errors", f"{len(load.errors)} {load.errors[:1] or ''}"),
        ("memory, first third, last third",
         f"{statistics.mean(memory[:third]):.0f}, {statistics.mean(memory[-third:]):.0f} MB"),
    ]  # fmt: skip
    return markdown(("load", "figure"), rows)


if __name__ == "__main__":
    main()

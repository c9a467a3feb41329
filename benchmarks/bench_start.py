"""Start-up: what a program and a first call cost, with nothing compiled and with all of it kept.

Each figure is of a process of its own, in CPU seconds. ``cold`` starts with an empty folder for
compiled code, ``kept`` finds what the cold one left there, ``again`` is a second call in the same
process: what the work itself costs on a tiny file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from measuring import markdown

COMMANDS = {
    "import tacit": "import tacit",
    "import tacit, masks and risks": "import tacit; [tacit.methods(f) for f in ('mask', 'risk')]",
    "tacit --help": "--help",
    "tacit methods": "methods",
    "tacit inspect": "inspect {file}",
    "tacit apply": "apply {file} --suggested-roles --step 'mdav columns=income k=3' -o {out}",
}
HOT = ["mdav", "refined", "frequencies", "local-suppression", "suda", "distance-linkage",
       "probabilistic-linkage", "log-linear-risk", "suppression-of-cells", "safe",
       "synthesis"]  # fmt: skip
"""Capabilities of the harness whose kernels are compiled."""


def first_call(key: str) -> dict[str, float]:
    """Run a capability on its tiny file twice, and say what each call cost."""
    from capabilities import BY_KEY

    work = BY_KEY[key].ours(BY_KEY[key].tiny)
    taken = []
    for _ in range(2):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return {"first": taken[0], "again": taken[1]}


def in_new_process(command: list[str], folder: str) -> tuple[float, str]:
    """Return the CPU seconds of a process and its children, and what it printed."""
    before = os.times()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system, done.stdout


def kernels(keys: list[str]) -> str:
    """Return the table of first calls."""
    rows = []
    for key in keys:
        with tempfile.TemporaryDirectory(prefix="tacit-start-") as folder:
            line = [sys.executable, __file__, "--call", key]
            cold, kept = (json.loads(in_new_process(line, folder)[1]) for _ in range(2))
        from capabilities import BY_KEY

        rows.append((BY_KEY[key].title, *(f"{s:.2f}" for s in (
            cold["first"], kept["first"], min(cold["again"], kept["again"])
        ))))  # fmt: skip
        print(rows[-1], file=sys.stderr)
    return markdown(("first call of", "cold, CPU s", "kept, CPU s", "again, CPU s"), rows)


def commands() -> str:
    """Return the table of programs, medians of three."""
    import shlex
    from pathlib import Path

    import tacit

    rows = []
    with tempfile.TemporaryDirectory(prefix="tacit-start-") as folder:
        file = Path(folder) / "people.csv"
        tacit.write(tacit.datasets.census(1000), file)
        for name, text in COMMANDS.items():
            taken = []
            for turn in range(4):  # the first fills the folder of compiled code
                filled = text.format(file=file, out=f"{folder}/out{turn}")
                is_command = name.startswith("tacit")
                line = ["-m", "tacit.cli", *shlex.split(filled)] if is_command else ["-c", filled]
                taken.append(in_new_process([sys.executable, *line], folder)[0])
            rows.append((f"`{name}`", f"{sorted(taken[1:])[1]:.2f}"))
            print(rows[-1], file=sys.stderr)
    return markdown(("program", "CPU s"), rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--call")
    parser.add_argument("--only", nargs="+", choices=["commands", *HOT])
    given = parser.parse_args()
    if given.call:
        print(json.dumps(first_call(given.call)))
        return
    chosen = given.only or ["commands", *HOT]
    if "commands" in chosen:
        print(commands(), end="\n\n")
    if keys := [key for key in chosen if key != "commands"]:
        print(kernels(keys))


if __name__ == "__main__":
    main()

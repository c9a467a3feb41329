"""Attack every masking method at its example parameters, and time an audit of many records.

The table goes to docs/explanation/attacks.md, between its marks. ``--large`` times the audit of
100 000 records too.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from measuring import markdown

import tacit
from tacit import attack
from tacit.core.errors import TacitError

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "attacks.md"
START, END = "<!-- table: start -->", "<!-- table: end -->"
N_RECORDS, SECONDS = 5_000, 60.0


def main() -> None:
    """Print the tables, and put the first one on its page."""
    table = method_table()
    print(table)
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(START)
    PAGE.write_text(f"{head}{START}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    if "--large" in sys.argv:
        print(large_table())


def method_table() -> str:
    """Return success over guessing for every method and attack; leaks are bold."""
    both = tacit.datasets.census(2 * N_RECORDS, seed=1)
    data, holdout = both.take(range(N_RECORDS)), both.take(range(N_RECORDS, 2 * N_RECORDS))
    known = attack.Knowledge(holdout=holdout)
    attacks = [a for a in chosen_attacks() if a.kind is attack.MicrodataTarget]
    rows = []
    for name, steps in [
        ("nothing", []),
        *((m.key, [m(**m.example)]) for m in tacit.methods("mask")),
    ]:
        started = time.perf_counter()
        try:
            release = tacit.Plan(steps).apply(data, seed=1)
            report = attack.audit(release, known, seconds=SECONDS, attacks=attacks)
        except TacitError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        found = {f.key: f for f in report}
        rows.append([name, *(cell(found.get(a.key)) for a in attacks)])
        print(f"{name}: {time.perf_counter() - started:.1f} s", file=sys.stderr)
    used = [k for k in range(len(attacks)) if any(row[k + 1] != "" for row in rows)]
    head = ["method", *(attacks[k].key for k in used)]
    return markdown(head, [[row[0], *(row[k + 1] for k in used)] for row in rows])


def chosen_attacks() -> list[attack.Attack]:
    """Return every attack, the trained model with fewer people, so that all methods get a turn."""
    smaller = attack.AttributeInference(most=500, training=5_000)
    made = [m(**m.example) for m in tacit.methods("attack")]
    return [smaller if a.key == smaller.key else a for a in made]


def cell(finding: attack.Finding | None) -> str:
    """Return the gain in percentage points, bold where it leaks; a dash where nothing was tried."""
    if finding is None:
        return ""
    if not finding.success.n:
        return "–"
    text = f"{100 * finding.gain:+.1f}"
    return f"**{text}**" if finding.leaked else text


def large_table() -> str:
    """Time the audit of 100 000 records."""
    data = tacit.datasets.census(100_000)
    columns = ["age", "hours", "income", "taxes"]
    rows = []
    for step in (tacit.mask.RankSwap(columns=columns, p=5), tacit.mask.Mdav(columns=columns, k=5)):
        release = tacit.Plan([step]).apply(data, seed=1)
        started = time.perf_counter()
        report = attack.audit(release, seconds=300)
        rows.append([step.key, "100,000", len(report), f"{time.perf_counter() - started:.0f}"])
    return markdown(["method", "records", "attacks", "seconds"], rows)


if __name__ == "__main__":
    main()

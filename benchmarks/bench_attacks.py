"""Attack every masking method, table protection and policy, and time an audit of many records.

The tables go to docs/explanation/attacks.md, between their marks. Names after the script make
only those parts (masks, tables, policies); ``--large`` times the audit of 100 000 records too.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

from measuring import markdown

import tacit
from tacit import attack, query, tables
from tacit.core.errors import TacitError

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "attacks.md"
N_RECORDS, SECONDS = 5_000, 60.0
POLICIES = ("strict", "mas", "blocks", "exact", "camouflage", "dp")


def main() -> None:
    """Print the tables, and put them on their page."""
    parts = {"masks": method_table, "tables": protection_table, "policies": policy_table}
    wanted = [name for name in sys.argv[1:] if name in parts] or list(parts)
    for name in wanted:
        table = parts[name]()
        print(table)
        put(name, table)
    if "--large" in sys.argv:
        print(large_table())


def put(name: str, table: str) -> None:
    """Put a table on the page, between its marks."""
    start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(start)
    PAGE.write_text(f"{head}{start}\n{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def protection_table() -> str:
    """Attack every protection of tables, and SAFE, of counts and of sums."""
    data = tacit.datasets.census(N_RECORDS, seed=1)
    keyed = tables.with_record_keys(data.local, "the secret of the red team")
    by = ["education", "occupation"]
    count = tacit.tabulate(keyed, by, keys="rk1")
    total = tacit.tabulate(keyed, by, "income", keys="rk1")
    rules = {"count": tables.MinFrequency(n=3), "sum": tables.PPercent(p=10)}
    targets = {
        "only the sensitive cells hidden": primary_only,
        **{m.key: protected_by(m) for m in tacit.methods("protection")},
        "suppress-modular with singletons": with_singletons,
        "safe": partial(safe_counts, data, by),
    }
    rows = []
    for name, protect in targets.items():
        for kind, table in (("count", count), ("sum", total)):
            rows += attacked(
                f"{name} ({kind})", partial(protect, table, rules[kind]), "TableTarget"
            )
    return drawn("protection", rows, "TableTarget")


def protected_by(method):
    """Return a function that protects a table by a method at its default parameters."""
    return lambda table, rule: table.protect(method(), rule)


def with_singletons(table, rule):
    """Suppress so that respondents who are alone in a cell learn nothing either."""
    return table.protect(tables.SuppressModular(singletons=True), rule)


def primary_only(table, rule):
    """Hide the sensitive cells and no other."""
    sensitive = table.sensitive(rule)
    return tables.ProtectedTable.suppressing(table, sensitive, sensitive.cells, "primary only")


def safe_counts(data, by, table, rule):
    """Tabulate what SAFE makes of the records."""
    if not table.is_count:
        raise TacitError("SAFE is for counts")
    import numpy as np

    changed = tables.Safe(columns=by).apply(data.with_roles(keys=by), np.random.default_rng(1))
    other = tacit.tabulate(changed.local, by)
    found = dict(zip(other.frame.select(by).iter_rows(), other.value, strict=True))
    values = [found.get(cell, 0.0) for cell in table.frame.select(by).iter_rows()]
    return tables.ProtectedTable(table, table.sensitive(rule), np.array(values, dtype=float))


def policy_table() -> str:
    """Attack every policy that comes with tacit, and none."""
    data = tacit.datasets.census(N_RECORDS, seed=1)
    made = [query.Policy(name="no rules"), *(query.Policy.named(n) for n in POLICIES)]
    rows = []
    for policy in made:
        rows += attacked(policy.name, partial(attack.QueryTarget, data, policy), "QueryTarget")
    return drawn("policy", rows, "QueryTarget")


def attacked(name, make, kind) -> list[list]:
    """Return one row: what every attack of a kind found, or none where a target cannot be made."""
    started = time.perf_counter()
    chosen = [a for a in chosen_attacks() if a.kind.__name__ == kind]
    try:
        report = attack.audit(make(), seconds=SECONDS, attacks=chosen)
    except TacitError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return []
    print(f"{name}: {time.perf_counter() - started:.1f} s {report.unfinished}", file=sys.stderr)
    found = {f.key: f for f in report}
    return [[name, *(cell(found.get(a.key)) for a in chosen)]]


def drawn(head, rows, kind) -> str:
    """Return the table, without attacks that applied to nothing."""
    chosen = [a for a in chosen_attacks() if a.kind.__name__ == kind]
    used = [k for k in range(len(chosen)) if any(row[k + 1] != "" for row in rows)]
    names = [head, *(chosen[k].key for k in used)]
    return markdown(names, [[row[0], *(row[k + 1] for k in used)] for row in rows])


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

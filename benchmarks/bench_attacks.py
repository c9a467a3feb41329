"""Attack every masking method, table protection and policy, and time an audit of many records.

The tables go to docs/explanation/attacks.md, between their marks. Names after the script make only
those parts (masks, tables, blocks, policies); names of methods or policies after them make only
their rows and leave the others as they are. ``--large`` times the audit of 100 000 records.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from measuring import markdown

import tacit
from tacit import attack, query, tables
from tacit.core.errors import TacitError

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "attacks.md"
N_RECORDS, SECONDS = 5_000, 600.0
POLICIES = ("strict", "mas", "blocks", "exact", "camouflage", "dp")
Row = dict[str, str]
Rows = dict[str, Row]


def main() -> None:
    """Print the tables, and put them on their page."""
    parts: dict[str, tuple[str, Callable[[set[str]], Rows]]] = {
        "masks": ("method", masks), "tables": ("protection", protections),
        "blocks": ("published", blocks), "policies": ("policy", policies),
    }  # fmt: skip
    words = {word for word in sys.argv[1:] if not word.startswith("--")}
    only = words - set(parts)
    for name, (head, made) in parts.items():
        if name in words or len(sys.argv) == 1:
            rows = made(only)
            table = drawn(head, shown(name) | rows if only else rows)
            print(table)
            put(name, table)
    if "--large" in sys.argv:
        print(large())


# -- the page -------------------------------------------------------------------------------------


def drawn(head: str, rows: Rows) -> str:
    """Return the table, without attacks that applied to nothing."""
    used = sorted({column for row in rows.values() for column, cell in row.items() if cell})
    lines = [[name, *(row.get(c, "") for c in used)] for name, row in rows.items()]
    return markdown([head, *used], lines)


def shown(name: str) -> Rows:
    """Return the rows of a table on the page."""
    inside = PAGE.read_text(encoding="utf-8").split(_mark(name, "start"))[1]
    lines = [x for x in inside.split(_mark(name, "end"))[0].splitlines() if x.startswith("|")]
    cells = [[c.strip() for c in line.strip().strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(cells[0][1:], row[1:], strict=True)) for row in cells[2:]}


def put(name: str, table: str) -> None:
    """Put a table on the page, between its marks."""
    start, end = _mark(name, "start"), _mark(name, "end")
    head, rest = PAGE.read_text(encoding="utf-8").split(start)
    PAGE.write_text(f"{head}{start}\n{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def _mark(name: str, end: str) -> str:
    return f"<!-- {name}: {end} -->"


# -- the targets ----------------------------------------------------------------------------------


def masks(only: set[str]) -> Rows:
    """Attack what every masking method releases, each with the parameters of its example."""
    both = tacit.datasets.census(2 * N_RECORDS, seed=1)
    data, holdout = both.take(range(N_RECORDS)), both.take(range(N_RECORDS, 2 * N_RECORDS))
    steps = {"nothing": [], **{m.key: [m(**m.example)] for m in tacit.methods("mask")}}
    made = {
        name: partial(tacit.Plan(chosen).apply, data, seed=1)
        for name, chosen in steps.items()
        if not only or name in only
    }
    return attacked(made, "MicrodataTarget", attack.Knowledge(holdout=holdout))


def protections(only: set[str]) -> Rows:
    """Attack every protection of tables, and SAFE, of counts and of sums."""
    data = tacit.datasets.census(N_RECORDS, seed=1)
    keyed = tables.with_record_keys(data.local, "the secret of the red team")
    by = ["region", "occupation"]
    targets = {
        "only the sensitive cells hidden": primary_only,
        **{m.key: protected_by(m) for m in tacit.methods("protection")},
        "safe": partial(safe_counts, data, by),
    }
    kinds = {
        "count": (tacit.tabulate(keyed, by, keys="rk1"), tables.MinFrequency(n=3)),
        "sum": (tacit.tabulate(keyed, by, "income", keys="rk1"), tables.PPercent(p=10)),
    }
    made = {
        f"{name} ({kind})": partial(protect, *given)
        for name, protect in targets.items()
        for kind, given in kinds.items()
        if not only or name in only
    }
    return attacked(made, "TableTarget")


def protected_by(method: Any) -> Callable[..., Any]:
    """Return a function that protects a table by a method at its defaults, always alike."""
    seed = {"seed": 1} if "seed" in method.model_fields else {}
    return lambda table, rule: table.protect(method(**seed), rule)


def primary_only(table: Any, rule: Any) -> Any:
    """Hide the sensitive cells and no other."""
    sensitive = table.sensitive(rule)
    return tables.ProtectedTable.suppressing(table, sensitive, sensitive.cells, "primary only")


def safe_counts(data: Any, by: list[str], table: Any, rule: Any) -> Any:
    """Tabulate what SAFE makes of the records."""
    if not table.is_count:
        raise TacitError("SAFE is for counts")
    changed = tables.Safe(columns=by).apply(data.with_roles(keys=by), np.random.default_rng(1))
    other = tacit.tabulate(changed.local, by)
    found = dict(zip(other.frame.select(by).iter_rows(), other.value, strict=True))
    values = [found.get(cell, 0.0) for cell in table.frame.select(by).iter_rows()]
    return tables.ProtectedTable(table, table.sensitive(rule), np.array(values, dtype=float))


def blocks(only: set[str]) -> Rows:
    """Rebuild the records of a block from all tables of three of its four variables."""
    people = tacit.datasets.census(N_RECORDS, seed=1).local
    names = ["sex", "education", "marital", "occupation"]
    block = people.filter(people["region"] == people["region"][0]).select(names)
    made = {
        name: partial(_block_target, block, protect)
        for name, protect in _block_protections(block).items()
        if not only or name in only
    }
    return attacked(made, "TableTarget", chosen=[attack.MarginReconstruction()])


def _block_target(block: Any, protect: Callable[[], list[Any]]) -> Any:
    return attack.TableTarget(tuple(protect()), tacit.Microdata.of(block))


def _block_protections(block: Any) -> dict[str, Callable[[], list[Any]]]:
    def margins(frame: Any) -> dict[str, Any]:
        keyed = tables.with_record_keys(frame, "the secret of the red team")
        found = combinations(block.columns, 3)
        return {"-".join(by): tacit.tabulate(keyed, list(by), keys="rk1") for by in found}

    def bare(frame: Any) -> list[Any]:
        made = margins(frame).values()
        return [tables.ProtectedTable(t, t.sensitive(), t.value) for t in made]

    def safe() -> list[Any]:
        data = tacit.Microdata.of(block).with_roles(keys=block.columns)
        changed = tables.Safe(columns=block.columns).apply(data, np.random.default_rng(1))
        return bare(changed.local.select(block.columns))

    def suppressed(rule: Any) -> list[Any]:
        method = tables.SuppressModular(singletons=False)
        return list(tables.link(margins(block)).protect(method, rule).split().values())

    few = tables.MinFrequency(n=3)
    return {
        "exact counts": partial(bare, block),
        "cell keys": lambda: [t.protect(tables.CellKey()) for t in margins(block).values()],
        "SAFE": safe,
        "counts below 3 suppressed, zeros open": partial(suppressed, few),
        "counts below 3 and zeros suppressed": partial(
            suppressed, few | tables.ZeroUnsafe(empty=True)
        ),
    }


def policies(only: set[str]) -> Rows:
    """Attack every policy that comes with tacit, and none."""
    data = tacit.datasets.census(N_RECORDS, seed=1)
    known = [query.Policy(name="no rules"), *(query.Policy.named(n) for n in POLICIES)]
    made = {
        p.name: partial(attack.QueryTarget, data, p)
        for p in known
        if not only or p.name in only
    }  # fmt: skip
    return attacked(made, "QueryTarget")


# -- the attacks ----------------------------------------------------------------------------------


def attacked(
    targets: dict[str, Callable[[], Any]],
    kind: str,
    knowledge: attack.Knowledge | None = None,
    chosen: Iterable[attack.Attack] | None = None,
) -> Rows:
    """Return what every attack of a kind found, by target; without those that cannot be made."""
    rows: Rows = {}
    attacks = [a for a in chosen or every_attack() if a.kind.__name__ == kind]
    for name, make in targets.items():
        started = time.process_time()
        try:
            report = attack.audit(make(), knowledge, seconds=SECONDS, attacks=attacks)
        except TacitError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        rows[name] = {column(f): cell(f) for f in report}
        took = time.process_time() - started
        print(f"{name}: {took:.1f} CPU s {report.unfinished or ''}", file=sys.stderr, flush=True)
    return rows


def every_attack() -> list[attack.Attack]:
    """Return every attack, the trained model with fewer people, so that all methods get a turn."""
    smaller = attack.AttributeInference(most=500, training=5_000)
    made = [way for m in tacit.methods("attack") for way in m.in_audit()]
    return [smaller if a.key == smaller.key else a for a in made]


def column(finding: attack.Finding) -> str:
    """Return the key of the attack, with the way it was carried out."""
    usual = tacit.find(finding.key, "attack").title
    way = finding.title.removeprefix(usual).removeprefix(", ")
    return f"{finding.key} ({way})" if way else finding.key


def cell(finding: attack.Finding) -> str:
    """Return the gain in percentage points, bold where it leaks; a dash where nothing was tried.

    A question mark says that the gain is large and the attempts too few to tell it from chance.
    """
    if not finding.success.n:
        return "–"
    text = f"{100 * finding.gain:+.1f}"
    unsure = any("neither a leak nor safety" in warning for warning in finding.warnings)
    return f"**{text}**" if finding.leaked else text + "?" * unsure


def large() -> str:
    """Time the audit of 100 000 records."""
    data = tacit.datasets.census(100_000)
    columns = ["age", "hours", "income", "taxes"]
    rows = []
    for step in (tacit.mask.RankSwap(columns=columns, p=5), tacit.mask.Mdav(columns=columns, k=5)):
        release = tacit.Plan([step]).apply(data, seed=1)
        wall, started = time.perf_counter(), time.process_time()
        report = attack.audit(release, seconds=SECONDS)
        took, wall = time.process_time() - started, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append([step.key, len(report), f"{took:.0f}", f"{wall:.0f}", f"{peak:,.0f}"])
        for f in sorted(report, key=lambda f: -f.seconds)[:5]:
            print(f"{step.key} {f.key}: {f.seconds:.1f} s", file=sys.stderr)
        print(f"{step.key}: unfinished {report.unfinished}", file=sys.stderr, flush=True)
    return markdown(["method", "attacks", "CPU s", "wall s", "peak MB"], rows)


if __name__ == "__main__":
    main()

"""The report of a protected table: one HTML file that asks nothing from outside."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.bundle import versions

if TYPE_CHECKING:
    from tacit.tables import Audit, ProtectedTable, Verification
    from tacit.tables.rule import Rule

_NARROWEST = 25
"""Cells listed by how little their protection exceeds what is required."""
_STATUSES = {
    "safe": "published", "empty": "empty", "frozen": "must be published", "waived": "waived",
    "primary": "sensitive", "forced": "must be suppressed", "secondary": "secondary",
    "changed": "changed", "perturbed": "perturbed",
}  # fmt: skip


def table_report(
    protected: ProtectedTable,
    verification: Verification | None = None,
    *,
    rule: Rule | None = None,
    plan: str = "",
    title: str | None = None,
    again: str = "",
    remarks: tuple[str, ...] = (),
) -> str:
    """Return the report of a protected table, a page for the house.

    It shows original values in colours, so it must not be published. It holds no seed unless the
    text of the plan does.

    Parameters
    ----------
    protected
        The table.
    verification
        The outcome of ``protected.verify()``; made here unless given.
    rule
        What was sensitive, to be described in words.
    plan
        Text of the plan.
    title
        Heading; what the table holds unless given.
    again
        The command that makes the release again.
    remarks
        What the house must know beside the outcome of the check.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNSSEE"), "x": [90, 1, 20, 25, 30, 33]})
    >>> table = tacit.tabulate(frame, "region", "x")
    >>> made = table.protect(tables.SuppressModular(), tables.Dominance(n=1, k=80))
    >>> table_report(made)[:15]
    '<!doctype html>'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from tacit.report._bins import number
    from tacit.report._charts import percent

    environment = Environment(
        loader=PackageLoader("tacit.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"number": number, "percent": percent}
    checked = protected.verify() if verification is None else verification
    content = _content(protected, checked, rule, plan, title)
    content |= {"again": again, "remarks": remarks}
    page = environment.get_template("table.html.j2").render(content)
    return f"{page.rstrip()}\n"


def _content(
    protected: ProtectedTable,
    checked: Verification,
    rule: Rule | None,
    plan: str,
    title: str | None,
) -> dict[str, Any]:
    from tacit.report._table_charts import change_figures, interval_figures
    from tacit.report._table_view import table_view
    from tacit.tables.publication import heading

    today = datetime.now(UTC)
    figures = [] if checked.audit is None else interval_figures(checked.audit)
    if protected.changed.any():
        figures += change_figures(protected)
    return {
        "title": title or heading(protected),
        "date": f"{today.day} {today:%B %Y}",
        "summary": protected.summary(),
        "overview": _overview(protected),
        "checked": checked,
        "audit_lines": [] if checked.audit is None else checked.audit.summary().splitlines(),
        "rules": _rules(protected, rule),
        "narrowest": [] if checked.audit is None else _narrowest(checked.audit),
        "figures": figures,
        "view": table_view(protected),
        "statuses": {s: w for s, w in _STATUSES.items() if (protected.status == s).any()},
        "plan": plan,
        "versions": versions(),
    }  # fmt: skip


def _overview(protected: ProtectedTable) -> dict[str, Any]:
    table, hidden = protected.original, protected.suppressed
    leaf = ~table.is_total
    size = np.abs(table.value)
    return {
        "cells": table.n_cells,
        "empty": int(table.is_empty.sum()),
        "sensitive": len(protected.sensitive),
        "suppressed": int(hidden.sum()),
        "lost": float(size[hidden & leaf].sum() / max(size[leaf].sum(), 1e-300)),
        "relations": int(table.relations.shape[0]),
    }


def _rules(protected: ProtectedTable, rule: Rule | None) -> list[dict[str, Any]]:
    """Return each rule with what it means and how many cells it found."""
    meanings = {} if rule is None else {part.short(): part.summary() for part in _single(rule)}
    found = protected.sensitive
    return [
        {"name": name, "meaning": meanings.get(name, ""), "cells": int((hit & found.cells).sum())}
        for name, hit in found.hits.items()
    ]


def _single(rule: Rule) -> list[Rule]:
    """Return the rules that a rule is joined from."""
    parts = getattr(rule, "rules", None)
    return [rule] if parts is None else [one for part in parts for one in _single(part)]


def _narrowest(audit: Audit) -> list[dict[str, Any]]:
    """Return the cells whose protection exceeds the required one least."""
    width = audit.high - audit.low
    required = np.maximum(audit.below + audit.above, audit.width)
    ratio = np.divide(width, required, out=np.full(len(width), np.inf), where=required > 0)
    first = np.argsort(ratio, kind="stable")[:_NARROWEST]
    return [
        {
            "cell": ", ".join(code.strip() for code in audit.table.labels(int(audit.cells[k]))),
            "value": float(audit.table.value[audit.cells[k]]),
            "low": float(audit.low[k]),
            "high": float(audit.high[k]),
            "required": float(required[k]),
            "exact": bool(audit.exact[k]),
            "verdict": str(audit.verdict[k]),
        }
        for k in first
    ]

"""A protected table as the house sees it: cells coloured by what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.app.pages.frame import hint, section
from tacit.app.pages.tabs.file_links import file_links
from tacit.app.pages.visitor import Visitor

if TYPE_CHECKING:
    import polars as pl

_LOOKS = {
    "safe": ("#ffffff", "published"),
    "primary": ("#f6c6c2", "sensitive by a rule"),
    "secondary": ("#fde7b8", "withheld to protect others"),
    "forced": ("#e3d3f4", "must be withheld"),
    "frozen": ("#cfe3f6", "must be published"),
    "waived": ("#e0f0f7", "sensitive, but its contributors agreed"),
    "changed": ("#d7efd6", "changed"),
    "perturbed": ("#d7efd6", "may have been changed"),
    "empty": ("#f1f3f5", "empty"),
}
"""Colour and words of each status."""
_FACTS = ("original", "published", "status", "rules", "required_below", "required_above", "records")
_MOST = 1000


def table_view(visitor: Visitor, project: str, version: dict[str, Any]) -> None:
    """Draw a table with its files, its check and its cells; linked ones below each other."""
    folder = visitor.parts.versions.folder(project, version["id"]) / "dossier"
    with ui.expansion(f"Table “{version['name']}”", value=True).classes("w-full border rounded"):
        file_links(visitor, version)
        for said in _outcome(version["measurements"]):
            ui.label(said)
        _cells(folder, version["plan"])


def _outcome(measured: dict[str, Any]) -> list[str]:
    """Say how the check went, and why it may say less than one would think."""
    check = measured["check"]
    verdict = f"Check: {'passed' if check['passed'] else 'failed'} ({check['how']})"
    return [verdict, *measured.get("remarks", [])]


def _cells(folder: Path, plan: str) -> None:
    import polars as pl

    cells = pl.read_parquet(folder / "cells.parquet")
    spanning = [name for name in cells.columns if name not in _FACTS]
    intervals = _intervals(folder, spanning)
    _legend(cells["status"].unique(maintain_order=True))
    hint("Point at a cell, press it, or move to it with the Tab key, to see what became of it.")
    for title, part, by in _tables(cells, spanning, plan):
        if title:
            section(title)
        with ui.element("div").classes("w-full overflow-x-auto max-h-[40rem]"):
            ui.html(_grid(part.head(_MOST), spanning, by, intervals), sanitize=False)
        if part.height > _MOST:
            hint(f"The first {_MOST:,} of {part.height:,} cells; all are in the files.")


def _tables(
    cells: pl.DataFrame, spanning: Sequence[str], plan: str
) -> Iterator[tuple[str, pl.DataFrame, list[str]]]:
    """Yield each table with the name of its files and its columns; alone it needs no name.

    Linked tables are kept as one, in which a table stands where other columns are at their total.
    """
    import polars as pl

    from tacit.tables import TablePlan

    made = TablePlan.from_toml(plan)
    if len(made.by) == 1:
        yield "", cells, list(spanning)
        return
    for number, by in enumerate(made.by, 1):
        others = [pl.col(name) == made.total for name in spanning if name not in by]
        yield f"table-{number}: {' by '.join(by)}", cells.filter(*others), list(by)


def _legend(present: Iterable[str]) -> None:
    with ui.row().classes("gap-3"):
        for status in present:
            colour, words = _LOOKS.get(status, ("#ffffff", status))
            with ui.row().classes("items-center gap-1"):
                ui.element("span").style(
                    f"background: {colour}; width: 1rem; height: 1rem; border: 1px solid #71808f"
                )
                ui.label(words).classes("text-sm")


def _intervals(folder: Path, spanning: list[str]) -> dict[tuple[Any, ...], tuple[Any, Any]]:
    """Return what an intruder can work out of the sensitive cells, by their codes."""
    import polars as pl

    path = folder / "intervals.csv"
    if not path.is_file():
        return {}
    found = pl.read_csv(path, infer_schema=False)
    if not {*spanning, "low", "high"} <= set(found.columns):
        return {}
    codes, bounds = found.select(spanning).rows(), found.select("low", "high").rows()
    return {code: (low, high) for code, (low, high) in zip(codes, bounds, strict=True)}


def _grid(
    cells: pl.DataFrame,
    spanning: Sequence[str],
    by: Sequence[str],
    intervals: dict[tuple[Any, ...], tuple[Any, Any]],
) -> str:
    """Write the table: the last of its columns across, the others down."""
    down, across = by[:-1], by[-1]
    heads = cells[across].cast(str).unique(maintain_order=True).to_list()
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in cells.iter_rows(named=True):
        codes = tuple(str(row[name]) for name in by)
        bounds = intervals.get(tuple(str(row[name]) for name in spanning))
        lines.setdefault(codes[:-1], {})[codes[-1]] = _cell(row, codes, bounds)
    top = "".join(f'<th scope="col">{escape(str(h))}</th>' for h in (*down, *heads))
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{escape(code)}</th>' for code in codes)
        + "".join(line.get(head, "<td></td>") for head in heads)
        + "</tr>"
        for codes, line in lines.items()
    )
    return f'<table class="cells"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _cell(row: dict[str, Any], codes: tuple[str, ...], bounds: tuple[Any, Any] | None) -> str:
    colour = _LOOKS.get(row["status"], ("#ffffff",))[0]
    value = "×" if row["published"] is None else _number(row["published"])
    told = escape(_told(row, codes, bounds), quote=True)
    return (
        f'<td tabindex="0" title="{told}" aria-label="{value}. {told}" '
        f'style="background: {colour}">{value}</td>'
    )


def _told(row: dict[str, Any], codes: tuple[str, ...], bounds: tuple[Any, Any] | None) -> str:
    """Say all there is to know about a cell."""
    status = _LOOKS.get(row["status"], ("", row["status"]))[1]
    rules = f" ({row['rules']})" if row["rules"] else ""
    parts = [", ".join(codes), f"{status}{rules}", f"original {_number(row['original'])}"]
    if row["records"] is not None:
        parts.append(f"{row['records']:,} records")
    if bounds is not None:
        low, high = (_number(b) for b in bounds)
        parts.append(f"an intruder can tell: {low} to {high}")
    return "; ".join(parts)


def _number(value: Any) -> str:
    """Write a number as a person would; a bound that is not known is infinite."""
    if value in (None, ""):
        return "unlimited"
    return f"{float(value):,.10g}"

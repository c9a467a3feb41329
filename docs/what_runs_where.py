"""The page "What runs where", derived from what each method declares about data beyond memory."""

from __future__ import annotations

FAMILIES = {"mask": "Masking methods", "risk": "Risk measures", "utility": "Utility measures"}
"""Families that work on records, in reading order."""
CELLS = {
    "native": ("in the engine", "in the engine", "in the engine"),
    "blocks": ("per block", "per block", "per block, through DuckDB"),
    "collect": ("collected", "collected", "collected"),
}
"""How a method works in DuckDB, Spark and a database, by what it declares."""
ORDER = list(CELLS)
INTRODUCTION = """\
Data that come as pandas, Polars or Arrow are in memory already, and every method takes them. Data
that live in an engine stay there as far as the method allows:

*in the engine*
    the engine does the work; nothing but counts, categories and cut points leaves it;
*per block*
    with ``plan.apply(data, blocks=10_000)`` similar records are brought together in blocks, and the
    method works on one block at a time. What it promises of each block (groups of k, say) holds of
    the whole file;
*collected*
    the records come into memory, up to a limit of 100 million values (records times columns) and
    of the memory that is free. Beyond it the method is refused, and the message says what to do.
    The variable ``TACIT_COLLECT_LIMIT`` sets another limit.

Measures collect only the columns that they need. How to run a plan on such data:
:doc:`../../how-to/scale`.
"""
OTHERS = """\
**Tables.** Counts, totals, largest contributors and cell keys of ``tacit.tabulate`` are added up in
the engine, and only the table leaves it. Rules, protections and audits then work on the table.

**Queries.** The server counts, sums and fits inside the engine; units dropped at random and cell
keys follow from the stored keys of the records, and are the same in every engine.

**Attacks and reports** collect what they need, up to the limit; beyond it a report is drawn from a
sample of the records.
"""


def page(found, heading, table, page_name) -> str:
    """Return the page; the drawing of headings and tables is that of the other reference pages."""
    parts = [heading("What runs where", "="), INTRODUCTION]
    for family, title in FAMILIES.items():
        members = sorted(
            (m for m in found if m.family == family), key=lambda m: (ORDER.index(m.at_scale), m.key)
        )
        rows = [
            (f":doc:`{m.title} <{page_name(m).removesuffix('.rst')}>`", *CELLS[m.at_scale])
            for m in members
        ]
        parts += [heading(title, "-"), table(("Method", "DuckDB", "Spark", "Databases"), rows)]
    return "\n\n".join([*parts, heading("All else", "-"), OTHERS])

"""JJ files: the cells and sums of a table as solvers of cell suppression take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.core.atomic import write_text
from tacit.core.errors import nearest
from tacit.io.argus._numbered_cells import (
    Lines,
    made_table,
    numbers,
    read_relations,
    written_relations,
)
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

_N_WORDS = 9
_FLAG = {"s": None, "u": "unsafe", "z": "frozen", "p": "frozen", "m": "forced", "x": "forced"}
_BEYOND = 1e3
"""An infinite bound is written as the largest absolute value times this."""


def read_jj(path: str | Path) -> Table:
    r"""Read a table from a JJ file.

    A line per cell (number, value, cost, status, lower and upper bound, lower, upper and sliding
    protection level), then a line per sum. Status ``u`` is a cell declared unsafe, ``z`` one that
    must be published, ``m`` one that must be suppressed, ``s`` any other. A table asks for levels
    below and above only: where the sliding level is more than their sum, both are raised to meet
    it.

    Parameters
    ----------
    path
        The file, plain or ending in ``.gz``.

    Raises
    ------
    ReadError
        With the line that is wrong.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "small.jj")
    >>> text = "0 9 9 s 0 99 0 0 0\n1 4 4 u 0 99 1 1 0\n2 5 5 s 0 99 0 0 0\n"
    >>> _ = path.write_text(f"0\n3\n{text}1\n0 3 : 0 (-1) 1 (1) 2 (1)\n")
    >>> read_jj(path).value.tolist()
    [9.0, 4.0, 5.0]
    """
    path = Path(path)
    lines = Lines(path, "a JJ file")
    n_cells = _n_cells(lines)
    start = lines.place
    cells = lines.take(n_cells, "cells")
    for k, words in enumerate(cells):
        if len(words) != _N_WORDS:
            raise lines.error(f"a cell has {_N_WORDS} entries", got=len(words), line=start + k)  # type: ignore[arg-type]
    columns = [list(column) for column in zip(*cells, strict=True)] or [[]] * _N_WORDS
    value, cost, lower, upper, below, above, width = (
        numbers(columns[j], lines, start) for j in (1, 2, 4, 5, 6, 7, 8)
    )
    short = np.maximum(width - below - above, 0.0) / 2
    below, above = below + short, above + short
    place = {name: k for k, name in enumerate(columns[0])}
    if len(place) < n_cells:
        raise lines.error("a cell has its number twice", line=start)
    relations = read_relations(lines, lines.number("relations"), place, has_side=True)
    flags = _flags([word.lower() for word in columns[3]], lines, start)
    unsafe = flags.get("unsafe", np.zeros(n_cells, dtype=bool))
    return made_table(
        path, value=value, relations=relations, cost=cost, lower=np.minimum(lower, value),
        upper=np.maximum(upper, value), level_below=np.where(unsafe, below, np.nan),
        level_above=np.where(unsafe, above, np.nan), names=tuple(columns[0]),
        variable="value", **flags,
    )  # fmt: skip


def _n_cells(lines: Lines) -> int:
    """Return the number of cells; a line with a 0 may stand before it."""
    first = lines.number("cells")
    after = lines.lines[lines.place].split() if lines.place < len(lines.lines) else []
    return lines.number("cells") if len(after) == 1 else first


def _flags(words: list[str], lines: Lines, start: int) -> dict[str, np.ndarray]:
    unknown = next((k for k, word in enumerate(words) if word not in _FLAG), None)
    if unknown is not None:
        raise lines.error(
            f"no such status; {nearest(words[unknown], _FLAG)}",
            got=words[unknown],
            line=start + unknown,
        )
    meant = np.array([_FLAG[word] or "" for word in words], dtype=object)
    return {flag: meant == flag for flag in sorted(set(meant) - {""})}


def write_jj(table: Table, path: str | Path, sensitive: Sensitive | None = None) -> None:
    """Write a table to a JJ file, with its sensitive cells and the protection each requires.

    The file holds the original values: it stays inside. Cells are numbered by position. A bound
    that is infinite becomes a thousand times the largest value.

    Parameters
    ----------
    table
        The table.
    path
        The file.
    sensitive
        The sensitive cells, as ``table.sensitive(rule)`` finds them; without it those that the
        user declared.
    """
    found = table.sensitive() if sensitive is None else sensitive
    beyond = _BEYOND * max(float(np.abs(table.value).max(initial=0.0)), 1.0)
    lower, upper = (np.clip(bound, -beyond, beyond) for bound in table.bounds)
    cost = np.abs(table.value) if table.cost is None else table.cost
    status = np.select(
        [found.cells, table.flags("forced"), table.flags("frozen")], ["u", "m", "z"], "s"
    )
    columns = (table.value, cost, status, lower, upper, found.below, found.above, found.width)
    cells = [
        f"{k} {v:.15g} {c:.12g} {s} {lo:.12g} {up:.12g} {b:.12g} {a:.12g} {w:.12g}"
        for k, (v, c, s, lo, up, b, a, w) in enumerate(zip(*columns, strict=True))
    ]
    sums = written_relations(table.relations, has_side=True)
    lines = ["0", str(table.n_cells), *cells, str(len(sums)), *sums]
    write_text(Path(path), "\n".join(lines) + "\n")

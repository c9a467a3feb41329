"""The instances of controlled tabular adjustment that J. Castro has collected, as text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.io.argus._numbered_cells import Lines, made_table, numbers, read_relations
from tacit.tables.table import Table

_N_WORDS = 6


def read_castro(path: str | Path) -> Table:
    """Read a table from a text instance of controlled tabular adjustment.

    The first line is ``NAME cells m relations k``; then a line per cell (number, value, status,
    limits of its change, weight) and one per sum. Status ``u`` is sensitive, the first limit being
    its protection level; ``z`` stays as it is; for others the limits bound the cell.

    Parameters
    ----------
    path
        The file, plain or ending in ``.gz``.

    Raises
    ------
    ReadError
        With the line that is wrong.
    """
    path = Path(path)
    lines = Lines(path, "an instance of tabular adjustment")
    head = lines.take(1, "lines")[0]
    if len(head) != 5 or (head[1], head[3]) != ("cells", "relations"):
        raise lines.error("expected NAME cells m relations k", got=" ".join(head)[:40], line=0)
    n_cells, n_relations = (int(n) for n in numbers(head[2::2], lines, 0))
    start = lines.place
    cells = lines.take(n_cells, "cells")
    for k, words in enumerate(cells):
        if len(words) != _N_WORDS or words[2] not in ("s", "u", "z"):
            raise lines.error(
                f"a cell has {_N_WORDS} entries, the third s, u or z",
                got=" ".join(words)[:40],
                line=start + k,
            )
    columns = [list(column) for column in zip(*cells, strict=True)] or [[]] * _N_WORDS
    value, low, high, weight = (numbers(columns[j], lines, start) for j in (1, 3, 4, 5))
    place = {name: k for k, name in enumerate(columns[0])}
    status = np.array(columns[2], dtype=object)
    unsafe, frozen = status == "u", status == "z"
    least = -np.inf if (value < 0).any() else 0.0
    level = np.where(unsafe, low, np.nan)
    return made_table(
        path, value=value,
        relations=read_relations(lines, n_relations, place, has_side=False),
        lower=np.where(unsafe, least, np.minimum(value + low, value)),
        upper=np.maximum(value + high, value), cost=weight, unsafe=unsafe, frozen=frozen,
        level_below=level, level_above=level, names=tuple(columns[0]), variable=head[0].lower(),
    )  # fmt: skip

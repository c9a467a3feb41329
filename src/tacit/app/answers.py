"""Answers of a query server as files that people open."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

_CALCULATES = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would calculate."""


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Write the columns of an answer as CSV; what is withheld is empty, numbers have all digits.

    Examples
    --------
    >>> print(as_csv({"sex": ["f", "m"], "count": [3, None]}))
    sex,count
    f,3
    m,
    <BLANKLINE>
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_harmless, columns))
    writer.writerows(map(_harmless, row) for row in zip(*columns.values(), strict=True))
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would calculate."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_CALCULATES) else cell

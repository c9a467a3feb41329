"""Linked tables as people write them: a line for each, its columns with commas between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from tacit.core.errors import ParameterError, nearest

_NAME = re.compile(r'\s*(?:"([^"]*)"|([^,]*))\s*(?:,|$)')


def linked_tables(first: Sequence[str], text: str, known: Collection[str]) -> list[list[str]]:
    """Return the columns of every table: the first one, and one for each line of a text.

    Parameters
    ----------
    first
        Columns that span the first table.
    text
        A line for each further table: its columns with commas between them. A name that holds a
        comma stands in double quotes.
    known
        Columns that can span a table.

    Examples
    --------
    >>> linked_tables(["region", "sex"], "region, age", ["region", "sex", "age"])
    [['region', 'sex'], ['region', 'age']]
    """
    if not first:
        raise ParameterError("no column spans the table", do="choose one or more")
    tables = [list(first)]
    for line, names in _lines(text):
        _check_names(names, known, line)
        if any(set(names) == set(other) for other in tables):
            raise ParameterError("two tables are spanned by the same columns", got=line[:200])
        tables.append(names)
    return tables


def columns_of(text: str, known: Collection[str]) -> list[str]:
    r"""Return the columns that a text names so far, while it is still being written.

    Examples
    --------
    >>> columns_of("region, age\nage, employ", ["region", "sex", "age"])
    ['region', 'age']
    """
    named = [name for _, names in _lines(text) for name in names if name in known]
    return list(dict.fromkeys(named))


def _lines(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in filter(None, map(str.strip, text.splitlines())):
        names = [(quoted or plain).strip() for quoted, plain in _NAME.findall(line)]
        yield line, [name for name in names if name]


def _check_names(names: Sequence[str], known: Collection[str], line: str) -> None:
    for name in names:
        if name not in known:
            raise ParameterError(
                f"no column {name!r} can span a further table", got=line[:200],
                do=nearest(name, known),
            )  # fmt: skip
    if not names or len(set(names)) < len(names):
        raise ParameterError("a line names one or more columns, each once", got=line[:200])

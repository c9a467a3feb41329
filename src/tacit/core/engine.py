"""Where work is done: inside the engine that holds the records, per block, or in memory.

Data that live in an engine (DuckDB, Spark, a database) are brought into memory only up to a limit.
Beyond it a step either works where the data are, or says so and refuses: nothing big is ever
collected in silence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from tacit.core.errors import DataError, ParameterError

AtScale = Literal["native", "blocks", "collect"]
"""How a method works on data beyond memory: in the engine, block by block, or not at all."""
LIMIT_VARIABLE = "TACIT_COLLECT_LIMIT"
"""Environment variable with the number of values that may be collected from an engine."""
DEFAULT_LIMIT = 100_000_000
"""Values (records times columns): ten columns of ten million records, about 2 GB in transit."""
_BYTES_PER_VALUE = 24
"""Rough size of one value while a frame is collected: the copy in transit and the result."""
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
_limit: ContextVar[int | None] = ContextVar("tacit_collect_limit", default=None)


def collect_limit() -> int:
    """Return how many values (records times columns) may be collected from an engine.

    Examples
    --------
    >>> with collecting_at_most(1000):
    ...     collect_limit()
    1000
    """
    held = _limit.get()
    if held is not None:
        return held
    given = os.environ.get(LIMIT_VARIABLE, "").replace("_", "")
    if not given:
        return DEFAULT_LIMIT
    if not given.isdecimal():
        raise ParameterError(
            f"the variable {LIMIT_VARIABLE} must be a whole number of values", got=repr(given)
        )
    return int(given)


@contextmanager
def collecting_at_most(values: int) -> Iterator[None]:
    """Collect at most this many values (records times columns) inside the block."""
    if isinstance(values, bool) or not isinstance(values, int) or values < 0:
        raise ParameterError("a limit is a whole number of values, 0 or above", got=repr(values))
    token = _limit.set(values)
    try:
        yield
    finally:
        _limit.reset(token)


def check_collectable(n_records: int, n_columns: int) -> None:
    """Refuse to bring records into memory beyond the limit, or beyond what is free."""
    n_values, limit = n_records * n_columns, collect_limit()
    got = f"{n_records:,} records, {n_values:,} values"
    if n_values > limit:
        raise DataError(
            "this step needs the records in memory and they are more than may be collected",
            got=f"{got}, limit {limit:,}",
            do="use methods that work per block with plan.apply(data, blocks=10_000), select the "
            f"columns you need, work on a sample, or raise the limit with {LIMIT_VARIABLE}",
        )
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n_values * _BYTES_PER_VALUE > available:
        raise DataError(
            "this step needs the records in memory and they do not fit",
            got=f"{got}, {available / 2**30:.1f} GiB free",
            do="use methods that work per block with plan.apply(data, blocks=10_000), select the "
            "columns you need, work on a sample, or use a machine with more memory",
        )


def memory_in_bytes(text: str) -> int:
    """Read an amount of memory such as ``2GB`` or ``512 MiB``.

    Examples
    --------
    >>> memory_in_bytes("2GB"), memory_in_bytes("1.5 KiB")
    (2000000000, 1536)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = None if found is None else _UNITS.get(found[2].upper())
    if found is None or unit is None or float(found[1]) * unit < 1:
        raise ParameterError(
            "an amount of memory is a number with a unit", got=repr(text), do="write it like 2GB"
        )
    return int(float(found[1]) * unit)

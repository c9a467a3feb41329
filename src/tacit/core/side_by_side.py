"""Compiled work done side by side, with the same results whatever the number of cores.

What is done together is fixed beforehand and sees nothing of each other, so that one core gives
what many give.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")
Together = Callable[[Callable[[Item, int], Found], Sequence[Item]], list[Found]]

AT_ONCE = 4
"""How many pieces of work are done together, on any machine."""


def in_groups(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Give items in groups to be done together; neighbours are in different groups.

    Examples
    --------
    >>> list(in_groups("abcdefgh"))
    ['aceg', 'bdfh']
    """
    step = -(-len(items) // AT_ONCE)
    yield from (items[k::step] for k in range(step))


@contextmanager
def side_by_side() -> Iterator[Together]:
    """Give a function that does work on up to `AT_ONCE` items together, and returns its results.

    The work is called with the item and its place in the group, for what threads cannot share.

    Examples
    --------
    >>> with side_by_side() as together:
    ...     together(lambda item, place: item * 10 + place, [3, 1])
    [30, 11]
    """
    n_threads = min(AT_ONCE, _n_cores())
    if n_threads == 1:
        yield lambda work, items: [work(item, place) for place, item in enumerate(items)]
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield lambda work, items: list(pool.map(work, items, range(len(items))))


def _n_cores() -> int:
    """Return how many cores this process may use, as far as the system says."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""Redesign of a table: collapse categories until few or no cells are sensitive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from tacit.core.errors import ParameterError, SchemaError, nearest
from tacit.core.progress import track
from tacit.tables._merge import merged_code, paired_cells, sum_of_pairs, with_codes_merged
from tacit.tables.rule import Rule
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

_LOOK_AROUND = ("group_disclosure", "user_rule")
"""Modules of rules that look at other cells than the one judged."""

Pair = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Redesign:
    """A table with fewer categories, and what became of the old ones."""

    table: Table
    """The new table."""
    sensitive: Sensitive
    """Its sensitive cells."""
    merged: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """For each dimension the new codes with the old codes each stands for."""
    n_sensitive_before: int = 0
    """Sensitive cells of the table as it was."""
    information_lost: float = 0.0
    """Share of the information in the table that the merging took away."""

    def __repr__(self) -> str:
        n = sum(len(codes) for codes in self.merged.values())
        return (
            f"Redesign({self.n_sensitive_before} -> {len(self.sensitive)} sensitive cells, "
            f"{n} merged codes, {self.information_lost:.1%} of the information lost)"
        )


def redesign(
    table: Table,
    rule: Rule,
    *,
    dimensions: Iterable[str] | None = None,
    allow: int = 0,
    most_merges: int | None = None,
) -> Redesign:
    r"""Collapse neighbouring categories at the smallest loss until few cells are sensitive.

    Parameters
    ----------
    table
        A table spanned by dimensions.
    rule
        What is sensitive.
    dimensions
        Names of the dimensions that may be collapsed; all unless given.
    allow
        Sensitive cells that may remain, to be suppressed afterwards.
    most_merges
        Stop after this many merges.

    Returns
    -------
    Redesign
        The new table, what remains sensitive, and which codes were merged.

    Notes
    -----
    Codes that add up to the same code and are not themselves broken down are merged two by two. The
    pair is taken that removes most sensitive cells per unit of information lost,

    .. math:: \sum_k x_k \log\frac{x_k + y_k}{x_k} + y_k \log\frac{x_k + y_k}{y_k},

    over the cells :math:`x_k, y_k` of the two codes: how much worse their values are known from
    their sums. Codes merged into all there is below a code leave that code alone. Cells that must
    be published are not merged.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import tables
    >>> t = tables.tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y", "z"]}), "a")
    >>> redesign(t, tables.MinFrequency(n=2)).merged
    {'a': {'y+z': ('y', 'z')}}
    """
    _check(table, dimensions, allow)
    axes = [
        k for k, d in enumerate(table.dimensions) if dimensions is None or d.name in set(dimensions)
    ]
    sensitive = rule.sensitive(table)
    before, lost, steps = len(sensitive), 0.0, 0
    history: dict[str, dict[str, tuple[str, ...]]] = {}
    with track("collapsing categories", before) as advance:
        while len(sensitive) > allow and (most_merges is None or steps < most_merges):
            best = _best_pair(table, rule, sensitive, axes)
            if best is None:
                break
            pair, loss = best
            _remember(history, table, pair)
            table = with_codes_merged(table, *pair)
            was, sensitive = len(sensitive), rule.sensitive(table)
            advance(was - len(sensitive))
            lost, steps = lost + loss, steps + 1
    total = _information(table) + lost
    share = lost / total if total > 0 else 0.0
    return Redesign(table, sensitive, history, before, share)


def _check(table: Table, dimensions: Iterable[str] | None, allow: int) -> None:
    if not table.dimensions or table.codes.shape[0] != table.n_cells:
        raise SchemaError("only a table spanned by dimensions can be collapsed", got=repr(table))
    known = [d.name for d in table.dimensions]
    for name in dimensions or ():
        if name not in known:
            raise SchemaError(f"there is no dimension {name!r}", do=nearest(name, known))
    if allow < 0:
        raise ParameterError("allow must not be negative", got=allow)


def _best_pair(
    table: Table, rule: Rule, sensitive: Sensitive, axes: list[int]
) -> tuple[Pair, float] | None:
    """Return the pair that removes most sensitive cells per information lost, and what it loses."""
    pairs = [(axis, a, b) for axis in axes for a, b in _siblings(table, axis)]
    if not pairs:
        return None
    sides = [paired_cells(table, *pair) for pair in pairs]
    owner = np.repeat(np.arange(len(pairs)), [len(left) for left, _ in sides])
    left, right = (np.concatenate(part) for part in zip(*sides, strict=True))
    loss = np.bincount(owner, _lost(table, left, right), len(pairs))
    removed = _removed(table, rule, sensitive, pairs, owner, left, right)
    blocked = np.bincount(owner, _frozen(table, left, right), len(pairs)) > 0
    score = np.where((removed > 0) & ~blocked, removed / (loss + 1e-9 * loss.max() + 1e-12), -1.0)
    best = int(np.argmax(score))
    return (pairs[best], float(loss[best])) if score[best] > 0 else None


def _siblings(table: Table, axis: int) -> list[tuple[int, int]]:
    """Return pairs of codes without codes below that are children of the same codes."""
    dimension = table.dimensions[axis]
    leaf = set(dimension.leaves)
    below: dict[str, list[int]] = {code: [] for code in leaf}
    for number, (_, children) in enumerate(dimension.groups):
        for child in children:
            if child in leaf:
                below[child].append(number)
    alike: dict[tuple[int, ...], list[int]] = {}
    for code, groups in below.items():
        if groups:
            alike.setdefault(tuple(groups), []).append(dimension.index[code])
    return [pair for codes in alike.values() for pair in combinations(sorted(codes), 2)]


def _removed(
    table: Table,
    rule: Rule,
    sensitive: Sensitive,
    pairs: list[Pair],
    owner: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """Return how many sensitive cells fewer there are after each merge."""
    flags = sensitive.cells
    if _looks_around(rule):
        after = [len(rule.sensitive(with_codes_merged(table, *pair))) for pair in pairs]
        return len(sensitive) - np.array(after)
    was = np.where(left >= 0, flags[left], 0).astype(int) + np.where(right >= 0, flags[right], 0)
    from scipy.sparse import csr_array

    cells = Table(
        relations=csr_array((0, len(left))),
        variable=table.variable,
        **sum_of_pairs(table, left, right),
    )
    now = rule.sensitive(cells).cells
    return np.bincount(owner, was - now, len(pairs))


def _looks_around(rule: Rule) -> bool:
    """Return whether a rule, or one it is joined from, judges a cell by others."""
    parts = getattr(rule, "rules", None)
    if parts is not None:
        return any(_looks_around(part) for part in parts)
    return type(rule).__module__.rsplit(".", 1)[-1] in _LOOK_AROUND


def _lost(table: Table, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the information lost by adding up pairs of cells."""
    size = np.abs(table.value)
    x = np.where(left >= 0, size[left], 0.0)
    y = np.where(right >= 0, size[right], 0.0)
    both = _x_log_x(x + y)
    return np.asarray(both - _x_log_x(x) - _x_log_x(y))


def _x_log_x(x: np.ndarray) -> np.ndarray:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _information(table: Table) -> float:
    """Return how much the cells say beyond each total of theirs."""
    sums = table.relations
    inner = _x_log_x(np.abs(table.value))
    return max(-float(np.asarray(sums @ inner).sum()), 0.0)


def _frozen(table: Table, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if table.frozen is None:
        return np.zeros(len(left))
    return np.where(left >= 0, table.frozen[left], 0) + np.where(right >= 0, table.frozen[right], 0)


def _remember(history: dict[str, dict[str, tuple[str, ...]]], table: Table, pair: Pair) -> None:
    """Note which old codes a new code stands for."""
    axis, one, two = pair
    dimension = table.dimensions[axis]
    known = history.setdefault(dimension.name, {})
    old = [known.pop(code, (code,)) for code in (dimension.codes[one], dimension.codes[two])]
    parents = [p for p, children in dimension.groups if len(children) == 2 and
               set(children) == {dimension.codes[one], dimension.codes[two]}]  # fmt: skip
    name = parents[0] if parents else merged_code(dimension, one, two)
    known[name] = (*old[0], *old[1])

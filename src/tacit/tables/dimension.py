"""A dimension of a table: its codes, its total, and which codes add up to which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import model_validator

from tacit.core.errors import ParameterError, SchemaError
from tacit.core.hierarchy import ANY, Intervals, Prefixes, Tree
from tacit.core.value import Value

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOTAL = "Total"
"""The code of the grand total of a dimension, unless another is given."""

Group = tuple[str, tuple[str, ...]]


class Dimension(Value):
    """The codes of one classification and the sums that hold among them.

    A group says that a code is the sum of others. Several groups may share a parent or a child, so
    a classification may be broken down in two ways at once (non-nested hierarchies).

    Examples
    --------
    >>> region = Dimension.nested("region", {"Total": ["N", "S"], "N": ["N1", "N2"]})
    >>> region.codes
    ('Total', 'N', 'N1', 'N2', 'S')
    >>> region.leaves
    ('N1', 'N2', 'S')
    """

    name: str
    """Name of the variable."""
    codes: tuple[str, ...]
    """Every code, the total first, each after its parent."""
    groups: tuple[Group, ...] = ()
    """Sums: a parent and the codes that add up to it."""
    labels: Mapping[str, str] = {}
    """Words for codes, for publication."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ParameterError as error:
            raise SchemaError(error.what) from error

    @model_validator(mode="after")
    def _check(self) -> Dimension:
        if not self.codes:
            raise SchemaError(f"{self.name!r} needs at least the code of its total")
        twice = [code for code, times in Counter(self.codes).items() if times > 1]
        if twice:
            raise SchemaError(f"{self.name!r} has a code twice", got=", ".join(twice[:5]))
        known = set(self.codes)
        for parent, children in self.groups:
            _check_group(self.name, known, parent, children)
        _parents_first(self)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dimension):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Dimension.model_fields)

    def __hash__(self) -> int:
        return hash((self.name, self.codes, self.groups))

    @classmethod
    def flat(cls, name: str, leaves: Iterable[str], total: str = TOTAL) -> Dimension:
        """Return codes that add up to one total."""
        leaves = tuple(leaves)
        return cls(name=name, codes=(total, *leaves), groups=((total, leaves),) if leaves else ())

    @classmethod
    def nested(
        cls,
        name: str,
        *children_of: Mapping[str, Sequence[str]],
        total: str = TOTAL,
        labels: Mapping[str, str] | None = None,
    ) -> Dimension:
        """Return a classification from one or more breakdowns, parent by parent."""
        groups: dict[Group, None] = {}
        for breakdown in children_of:
            _check_parents(name, breakdown)
            for parent, children in breakdown.items():
                groups[(parent, tuple(children))] = None
        codes = _in_order(name, total, list(groups))
        return cls(name=name, codes=codes, groups=tuple(groups), labels=labels or {})

    @classmethod
    def from_trees(cls, name: str, *trees: Tree, total: str = TOTAL) -> Dimension:
        """Return the classification of one value hierarchy, or of several over the same leaves.

        The root ``*`` is the total; a label that repeats itself up a path is one code.
        """
        return cls.nested(name, *(_children_of(name, tree, total) for tree in trees), total=total)

    # -- looking --------------------------------------------------------------------------------

    @property
    def total(self) -> str:
        """The code of the grand total."""
        return self.codes[0]

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each code."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Codes that are not the sum of others."""
        parents = {parent for parent, _ in self.groups}
        return tuple(code for code in self.codes if code not in parents)

    @cached_property
    def sums(self) -> list[tuple[int, np.ndarray]]:
        """The groups by position: parent and children."""
        at = self.index
        return [(at[p], np.array([at[c] for c in children])) for p, children in self.groups]

    @cached_property
    def breakdowns(self) -> dict[int, list[np.ndarray]]:
        """For each code that is a sum, by position, its breakdowns into other codes."""
        below: dict[int, list[np.ndarray]] = {}
        for parent, children in self.sums:
            below.setdefault(parent, []).append(children)
        return below

    @cached_property
    def contains(self) -> csr_array:
        """Which leaves each code holds: codes by leaves, ones and zeros."""
        from scipy.sparse import csr_array

        held = self._held()
        rows = np.repeat(np.arange(len(self.codes)), [len(leaves) for leaves in held])
        columns = np.concatenate(held) if held else np.empty(0, np.int64)
        shape = (len(self.codes), len(self.leaves))
        return csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=shape)

    def _held(self) -> list[np.ndarray]:
        """Return the leaves below each code, by their position among the leaves."""
        held = [np.empty(0, np.int64)] * len(self.codes)
        for j, leaf in enumerate(self.leaves):
            held[self.index[leaf]] = np.array([j])
        for parent in reversed(_parents_first(self)):
            held[parent] = self._held_below(parent, held)
        return held

    def _held_below(self, parent: int, held: Sequence[np.ndarray]) -> np.ndarray:
        """Return the leaves of a code; all its breakdowns must agree on them."""
        sets = [np.concatenate([held[c] for c in group]) for group in self.breakdowns[parent]]
        first = np.unique(sets[0])
        for leaves in sets:
            if len(np.unique(leaves)) < len(leaves):
                raise SchemaError(
                    f"codes of {self.name!r} that add up to {self.codes[parent]!r} overlap",
                    do="give each of them its own codes below",
                )
            odd = np.setxor1d(leaves, first)
            if len(odd):
                raise SchemaError(
                    f"the breakdowns of {self.codes[parent]!r} in {self.name!r} do not agree",
                    got=f"{self.leaves[odd[0]]!r} is in one and not in another",
                )
        return first

    @cached_property
    def depth(self) -> np.ndarray:
        """Steps from the total down to each code, by the longest way."""
        depth = np.zeros(len(self.codes), dtype=np.int64)
        for parent in _parents_first(self):
            for children in self.breakdowns[parent]:
                depth[children] = np.maximum(depth[children], depth[parent] + 1)
        return depth

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """Ways to read a leaf: arrays that give each leaf the code it stands for, or -1.

        The first is the leaves themselves. Every code stands in exactly one array, and codes in
        the same array share no leaf, so that grouping records once per array gives every code.
        """
        levels = [np.array([self.index[leaf] for leaf in self.leaves], dtype=np.int64)]
        for parent in sorted(self.breakdowns, key=lambda code: (-self.depth[code], code)):
            leaves = self.contains.indices[slice(*self.contains.indptr[parent : parent + 2])]
            home = next((one for one in levels[1:] if np.all(one[leaves] == -1)), None)
            if home is None:
                home = np.full(len(self.leaves), -1, dtype=np.int64)
                levels.append(home)
            home[leaves] = parent
        return levels


def _check_group(name: str, known: set[str], parent: str, children: tuple[str, ...]) -> None:
    strangers = [c for c in (parent, *children) if c not in known]
    if strangers:
        raise SchemaError(
            f"a sum of {name!r} names a code that is not in the list of codes", got=strangers[0]
        )
    if not children or len(set(children)) < len(children):
        raise SchemaError(f"a sum of {name!r} must name each of its codes once", got=parent)


def _parents_first(dimension: Dimension) -> list[int]:
    """Return the codes that are sums, each before the sums below it; a circle is an error."""
    below = {
        parent: {int(c) for group in groups for c in group if int(c) in dimension.breakdowns}
        for parent, groups in dimension.breakdowns.items()
    }
    open_above = Counter(child for children in below.values() for child in children)
    ready = sorted((p for p in below if not open_above[p]), reverse=True)
    order: list[int] = []
    while ready:
        parent = ready.pop()
        order.append(parent)
        for child in sorted(below[parent], reverse=True):
            open_above[child] -= 1
            if not open_above[child]:
                ready.append(child)
    if len(order) < len(below):
        circular = min(set(below) - set(order))
        raise SchemaError(
            f"a code of {dimension.name!r} is part of itself", got=dimension.codes[circular]
        )
    return order


def _in_order(name: str, total: str, groups: list[Group]) -> tuple[str, ...]:
    """Return the codes from the total down, each below its first parent."""
    below: dict[str, list[str]] = {}
    for parent, children in groups:
        known = below.setdefault(parent, [])
        known.extend(c for c in children if c not in set(known))
    if groups and total not in below:
        raise SchemaError(
            f"the breakdown of {name!r} does not start at its total", got=f"total = {total!r}"
        )
    codes: dict[str, None] = {}
    stack = [total]
    while stack:
        code = stack.pop()
        if code not in codes:
            codes[code] = None
            stack.extend(reversed(below.get(code, [])))
    loose = [parent for parent in below if parent not in codes]
    if loose:
        raise SchemaError(
            f"a code of {name!r} is not reached from the total {total!r}", got=loose[0]
        )
    return tuple(codes)


def _check_parents(name: str, breakdown: Mapping[str, Sequence[str]]) -> None:
    """Refuse a breakdown in which a code stands twice."""
    parent_of: dict[str, str] = {}
    for parent, children in breakdown.items():
        if isinstance(children, str):
            raise SchemaError(
                f"the parts of {parent!r} in {name!r} must be a list of codes", got=repr(children)
            )
        for child in children:
            if child in parent_of:
                raise SchemaError(
                    f"{name!r} has a code twice",
                    got=f"{child!r} below {parent_of[child]!r} and {parent!r}",
                    do="give it one parent; a second breakdown is a mapping of its own",
                )
            parent_of[child] = parent


def _children_of(name: str, tree: Tree, total: str) -> dict[str, list[str]]:
    """Return the children of each label of a tree, a repeated label being one code."""
    below: dict[str, dict[str, None]] = {}
    parent_of: dict[str, str] = {}
    for path in tree.paths:
        way = [total if label == ANY else label for label in path]
        if way[-1] != total:
            way.append(total)
        for child, parent in pairwise(way):
            if child == parent:
                continue
            if parent_of.setdefault(child, parent) != parent:
                raise SchemaError(
                    f"a code of {name!r} has two parents",
                    got=f"{child!r} below {parent_of[child]!r} and {parent!r}",
                    do="rename one of the two codes",
                )
            below.setdefault(parent, {})[child] = None
    return {parent: list(children) for parent, children in below.items()}


def as_dimension(name: str, given: Any, observed: Iterable[str], total: str = TOTAL) -> Dimension:
    """Read a classification from what a user may give for it.

    A `Dimension`, a `Tree` or a list of trees (several breakdowns), `Prefixes` or `Intervals` of
    the observed codes, a mapping from parents to children or a list of such mappings; nothing means
    that the observed codes add up to the total.
    """
    if isinstance(given, Dimension):
        return given if given.name == name else given.replace(name=name)
    if given is None:
        return _flat(name, observed, total)
    several = list(given) if isinstance(given, list | tuple) else [given]
    if several and all(isinstance(one, Mapping) for one in several):
        return Dimension.nested(name, *several, total=total)
    if several and all(isinstance(one, Tree | Prefixes | Intervals) for one in several):
        leaves = list(observed)
        if not leaves and not all(isinstance(one, Tree) for one in several):
            return _flat(name, leaves, total)
        trees = [one if isinstance(one, Tree) else _grown(one, leaves) for one in several]
        _check_no_heading(name, trees, leaves)
        return Dimension.from_trees(name, *trees, total=total)
    raise SchemaError(
        f"the hierarchy of {name!r} must be a Tree, a Dimension or parents with their children",
        got=type(given).__name__,
    )


def _check_no_heading(name: str, trees: Sequence[Tree], observed: Sequence[str]) -> None:
    """Refuse a code named like the column that nobody has: a line of headings read as codes."""
    if name not in observed and any(name == path[0] for tree in trees for path in tree.paths):
        raise SchemaError(
            f"the hierarchy of {name!r} has a code named like the column, which no record has",
            got=repr(name),
            do="take the line of headings out of its file",
        )


def _flat(name: str, observed: Iterable[str], total: str) -> Dimension:
    """Return the observed codes, in their order, below a total that must not be one of them."""
    leaves = dict.fromkeys(observed)
    if total in leaves:
        raise SchemaError(
            f"{name!r} has a code that is also the name of the total",
            got=repr(total),
            do="leave totals out of the records, or name the total otherwise",
        )
    return Dimension.flat(name, leaves, total)


def _grown(rule: Prefixes | Intervals, leaves: list[str]) -> Tree:
    """Return the tree that prefixes or intervals make of the codes there are."""
    import narwhals as nw
    import polars as pl

    column = nw.col("code").cast(nw.Float64) if isinstance(rule, Intervals) else nw.col("code")
    frame = nw.from_native(pl.DataFrame({"code": leaves}, schema={"code": pl.String}))
    above = [rule.generalise(column, k).alias(str(k)) for k in range(1, rule.n_levels)]
    paths = frame.select(nw.col("code"), *above).rows()
    return Tree(paths=tuple(tuple(map(str, path)) for path in paths))

"""A dimension of a table: its codes, its total, and which codes add up to which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import model_validator

from tacit.core.errors import SchemaError
from tacit.core.hierarchy import ANY, Tree
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

    @model_validator(mode="after")
    def _check(self) -> Dimension:
        twice = (
            sorted({c for c in self.codes if self.codes.count(c) > 1})
            if len(set(self.codes)) < len(self.codes)
            else []
        )
        if twice:
            raise SchemaError(f"{self.name!r} has a code twice", got=", ".join(twice[:5]))
        known = set(self.codes)
        for parent, children in self.groups:
            strangers = [c for c in (parent, *children) if c not in known]
            if strangers:
                raise SchemaError(
                    f"a sum of {self.name!r} names a code that is not in the list of codes",
                    got=strangers[0],
                )
            if not children or len(set(children)) < len(children):
                raise SchemaError(
                    f"a sum of {self.name!r} must name each of its codes once", got=parent
                )
        return self

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
    def contains(self) -> csr_array:
        """Which leaves each code holds: codes by leaves, ones and zeros."""
        from scipy.sparse import csr_array

        place = {self.index[leaf]: j for j, leaf in enumerate(self.leaves)}
        held: dict[int, frozenset[int]] = {i: frozenset([j]) for i, j in place.items()}
        for parent in reversed(_bottom_last(self)):
            held[parent] = self._held_below(parent, held)
        rows = [i for i in range(len(self.codes)) for _ in held[i]]
        columns = [j for i in range(len(self.codes)) for j in sorted(held[i])]
        shape = (len(self.codes), len(self.leaves))
        return csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=shape)

    def _held_below(self, parent: int, held: Mapping[int, frozenset[int]]) -> frozenset[int]:
        """Return the leaves of a code; all its breakdowns must agree on them."""
        sets = []
        for p, children in self.sums:
            if p == parent:
                parts = [held[int(c)] for c in children]
                union = frozenset().union(*parts)
                if sum(map(len, parts)) > len(union):
                    raise SchemaError(
                        f"codes of {self.name!r} that add up to {self.codes[p]!r} overlap",
                        do="give each of them its own codes below",
                    )
                sets.append(union)
        if any(other != sets[0] for other in sets[1:]):
            odd = self.leaves[min(min(other ^ sets[0]) for other in sets[1:] if other ^ sets[0])]
            raise SchemaError(
                f"the breakdowns of {self.codes[parent]!r} in {self.name!r} do not agree",
                got=f"{odd!r} is in one and not in another",
            )
        return sets[0]

    @cached_property
    def depth(self) -> np.ndarray:
        """Steps from the total down to each code, by the longest way."""
        depth = np.zeros(len(self.codes), dtype=np.int64)
        for parent in _bottom_last(self):
            for p, children in self.sums:
                if p == parent:
                    depth[children] = np.maximum(depth[children], depth[p] + 1)
        return depth


def _bottom_last(dimension: Dimension) -> list[int]:
    """Return the parents, each before the parents below it; a circle is an error."""
    children: dict[int, set[int]] = {}
    for parent, below in dimension.sums:
        children.setdefault(parent, set()).update(map(int, below))
    order: list[int] = []
    state: dict[int, int] = {}

    def visit(start: int) -> None:
        stack = [(start, iter(sorted(children.get(start, ()))))]
        state[start] = 1
        while stack:
            node, rest = stack[-1]
            step = next((c for c in rest if c in children and state.get(c) != 2), None)
            if step is None:
                state[node] = 2
                order.append(node)
                stack.pop()
            elif state.get(step) == 1:
                raise SchemaError(
                    f"a code of {dimension.name!r} is part of itself",
                    got=dimension.codes[step],
                )
            else:
                state[step] = 1
                stack.append((step, iter(sorted(children[step]))))

    for parent in sorted(children):
        if parent not in state:
            visit(parent)
    return order[::-1]


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


def _children_of(name: str, tree: Tree, total: str) -> dict[str, list[str]]:
    """Return the children of each label of a tree, a repeated label being one code."""
    below: dict[str, dict[str, None]] = {}
    parent_of: dict[str, str] = {}
    for path in tree.paths:
        way = [total if label == ANY else label for label in path]
        if way[-1] != total:
            way.append(total)
        for child, parent in zip(way, way[1:], strict=False):
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

    A `Dimension`, a `Tree` or a list of trees (several breakdowns), a mapping from parents to
    children or a list of such mappings; nothing means that the observed codes add up to the total.
    """
    if isinstance(given, Dimension):
        return given if given.name == name else given.replace(name=name)
    if given is None:
        return Dimension.flat(name, sorted(set(observed) - {total}), total)
    several = list(given) if isinstance(given, list | tuple) else [given]
    if all(isinstance(one, Tree) for one in several):
        return Dimension.from_trees(name, *several, total=total)
    if all(isinstance(one, Mapping) for one in several):
        return Dimension.nested(name, *several, total=total)
    raise SchemaError(
        f"the hierarchy of {name!r} must be a Tree, a Dimension or parents with their children",
        got=type(given).__name__,
    )

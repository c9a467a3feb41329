"""Value hierarchies: how a category or number becomes coarser, level by level.

Level 0 is the value as it is; the last level is the coarsest. Three forms, one interface:
an explicit tree, nested intervals of a number, and prefixes of a code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

import narwhals as nw
from pydantic import Field, model_validator

from tacit.core.errors import ParameterError
from tacit.core.replacing import replaced
from tacit.core.value import Tagged

ANY = "*"
"""The label of a value about which nothing is said."""
_LARGEST = 1e15


class Tree(Tagged):
    """An explicit tree: one path per leaf, from the leaf up to the root."""

    tag: ClassVar[str] = "form"

    form: Literal["tree"] = "tree"
    paths: tuple[tuple[str, ...], ...]
    """For each leaf its labels at level 0, 1, ...; all paths have the same length."""

    @model_validator(mode="after")
    def _check(self) -> Tree:
        if not self.paths:
            raise ValueError("should hold at least one leaf")
        if len({len(path) for path in self.paths}) > 1:
            raise ValueError("should give every leaf the same number of levels")
        leaves = [path[0] for path in self.paths]
        if len(set(leaves)) < len(leaves):
            twice = sorted(leaf for leaf, times in Counter(leaves).items() if times > 1)
            raise ValueError(f"should name each leaf once; twice: {', '.join(twice[:5])}")
        for level in range(1, self.n_levels - 1):
            parents: dict[str, str] = {}
            for path in self.paths:
                if parents.setdefault(path[level], path[level + 1]) != path[level + 1]:
                    raise ValueError(f"should be a tree; {path[level]!r} has two parents")
        return self

    @property
    def n_levels(self) -> int:
        """Number of levels, level 0 included."""
        return len(self.paths[0])

    def mapping(self, level: int) -> dict[str, str]:
        """Return the label of each leaf at `level`."""
        _check_level(level, self.n_levels)
        return {path[0]: path[level] for path in self.paths}

    def generalise(self, column: nw.Expr, level: int, *, by_conditions: bool = False) -> nw.Expr:
        """Replace each value by its label at `level`; above level 0 an unknown value is ``*``."""
        mapping = self.mapping(level)
        if level == 0:
            return column
        # Whole numbers beside missing values often come as floats: 12.0 is the leaf 12.
        mapping = {
            f"{leaf}.0": label for leaf, label in mapping.items() if leaf.isdecimal()
        } | mapping
        text = column.cast(nw.String)
        coarse = replaced(text, mapping, nw.lit(ANY), by_conditions=by_conditions)
        return nw.when(~text.is_null()).then(coarse)


class Intervals(Tagged):
    """Nested intervals of a number; each width is a multiple of the one before it."""

    tag: ClassVar[str] = "form"

    form: Literal["intervals"] = "intervals"
    widths: tuple[float, ...]
    """Width of the intervals at level 1, 2, ...; the level after the last is ``*``."""
    origin: float = 0.0
    """A number at which an interval starts."""

    @model_validator(mode="after")
    def _check(self) -> Intervals:
        if not self.widths or min(self.widths) <= 0 or not all(map(isfinite, self.widths)):
            raise ValueError("should have widths above 0")
        if not isfinite(self.origin):
            raise ValueError("should have a finite origin")
        for fine, coarse in pairwise(self.widths):
            if coarse <= fine or abs(coarse / fine - round(coarse / fine)) > 1e-9:
                raise ValueError("should have widths that are multiples of the ones before")
        return self

    @property
    def n_levels(self) -> int:
        """Number of levels, level 0 and the final ``*`` included."""
        return len(self.widths) + 2

    def generalise(self, column: nw.Expr, level: int) -> nw.Expr:
        """Replace each number by the label ``[a, b)`` of its interval; infinity becomes ``*``."""
        _check_level(level, self.n_levels)
        if level == 0:
            return column
        if level == self.n_levels - 1:
            return nw.when(~column.is_null()).then(nw.lit(ANY))
        width = self.widths[level - 1]
        number = column.cast(nw.Float64)
        # Beyond this size neighbouring bounds are the same number, and infinity has none.
        has_bounds = number.abs() < _LARGEST
        number = nw.when(has_bounds).then(number)
        start = ((number - self.origin) / width).floor() * width + self.origin
        whole = float(width).is_integer() and float(self.origin).is_integer()
        bounds = [start, start + width]
        if whole:
            bounds = [bound.cast(nw.Int64) for bound in bounds]
        low, high = (bound.cast(nw.String) for bound in bounds)
        label = nw.concat_str([nw.lit("["), low, nw.lit(", "), high, nw.lit(")")])
        return (
            nw.when(has_bounds).then(label).otherwise(nw.when(~column.is_null()).then(nw.lit(ANY)))
        )


class Prefixes(Tagged):
    """Prefixes of a code: 81667, 8166*, 816**, ..."""

    tag: ClassVar[str] = "form"

    form: Literal["prefixes"] = "prefixes"
    length: Annotated[int, Field(ge=1)]
    """Number of characters of the codes."""
    keep: tuple[int, ...] | None = None
    """Characters kept at level 1, 2, ...; by default one fewer at each level, down to none."""

    @model_validator(mode="after")
    def _check(self) -> Prefixes:
        kept = (self.length, *self._kept())
        if any(b >= a for a, b in pairwise(kept)) or kept[-1] < 0:
            raise ValueError("should keep fewer characters at each level")
        return self

    def _kept(self) -> tuple[int, ...]:
        return self.keep if self.keep is not None else tuple(range(self.length - 1, -1, -1))

    @property
    def n_levels(self) -> int:
        """Number of levels, level 0 included."""
        return len(self._kept()) + 1

    def generalise(self, column: nw.Expr, level: int) -> nw.Expr:
        """Keep the first characters of each code and mask the rest with ``*``.

        A code of another length than declared (a zip code that lost its zero) becomes ``*``: its
        first characters would say more than those of the others.
        """
        _check_level(level, self.n_levels)
        if level == 0:
            return column
        keep = self._kept()[level - 1]
        if keep == 0:
            return nw.when(~column.is_null()).then(nw.lit(ANY))
        text = column.cast(nw.String)
        masked = nw.concat_str([text.str.slice(0, keep), nw.lit(ANY * (self.length - keep))])
        other = nw.when(~text.is_null()).then(nw.lit(ANY))
        return nw.when(text.str.len_chars() == self.length).then(masked).otherwise(other)


Hierarchy = Annotated[Tree | Intervals | Prefixes, Field(discriminator="form")]


def as_hierarchy(given: Any) -> Tree | Intervals | Prefixes:
    """Read a hierarchy from a value, its dict form, or a list of leaf-to-root paths."""
    if isinstance(given, Tree | Intervals | Prefixes):
        return given
    if isinstance(given, Mapping):
        forms: dict[str, type[Tree | Intervals | Prefixes]] = {
            "tree": Tree,
            "intervals": Intervals,
            "prefixes": Prefixes,
        }
        form = str(given.get("form", "tree"))
        if form in forms:
            return forms[form](**given)
    elif isinstance(given, list | tuple):
        return Tree(paths=given)
    raise ParameterError(
        "a hierarchy is a Tree, Intervals or Prefixes value, or a list of leaf-to-root paths",
        got=type(given).__name__,
    )


def _check_level(level: int, n_levels: int) -> None:
    if not 0 <= level < n_levels:
        raise ParameterError(
            "the hierarchy has no such level", got=level, do=f"choose 0 to {n_levels - 1}"
        )

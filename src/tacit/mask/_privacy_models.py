"""l-diversity, t-closeness and p-sensitivity: what a class's confidential values must show.

Every condition speaks of the classes of records that share their keys. Diversity of every kind and
p-sensitivity look at the known confidential values only: a missing one is not a value, and a class
that has no known value fails. t-closeness compares whole distributions, in which missing is a value
of its own, ranked lowest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import AllowInfNan, model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError, SchemaError
from tacit.core.families import Mask
from tacit.core.frame import collect
from tacit.core.keys import encode_series
from tacit.core.method import Columns, Try
from tacit.core.schema import Kind, Variable
from tacit.mask._generalise_domains import domains

DiversityKind = Literal["distinct", "entropy", "recursive"]
Distance = Literal["equal", "ordered", "hierarchical"]
_DISTANCES = {"equal": 0, "ordered": 1, "hierarchical": 2}


class ConditionedMask(Mask):
    """A method that makes classes of records with the same keys, each of which meets conditions."""

    keys: Columns | None = None
    """Variables an intruder may know; by default all keys of the schema."""
    k: Annotated[int, Ge(2), Try(3, 5, 10)] = 3
    """Smallest number of records that share their keys; larger is safer and coarser."""
    confidential: Columns | None = None
    """Variables whose values the conditions below protect; by default the confidential ones."""
    diversity: Annotated[Annotated[float, Ge(1), AllowInfNan(False)] | None, Try(2, 3)] = None
    """Diversity l of the confidential values in each class; none by default."""
    diversity_kind: DiversityKind = "distinct"
    """What l counts: distinct values, the effective number by entropy, or recursive (c, l)."""
    recursive_c: Annotated[float, Gt(0), AllowInfNan(False)] = 3.0
    """The c of recursive diversity; smaller is safer."""
    closeness: Annotated[Annotated[float, Ge(0), Le(1)] | None, Try(0.2, 0.5)] = None
    """Largest distance t of a class's confidential values from those of the whole file."""
    distance: Distance = "equal"
    """How far two confidential values are apart: all equally, by rank, or by hierarchy."""
    sensitivity: Annotated[Annotated[int, Ge(1)] | None, Try(2, 3)] = None
    """Smallest number p of different values of each confidential variable in each class."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.models.check()
        return self

    @property
    def models(self) -> PrivacyModels:
        """The conditions on classes."""
        return PrivacyModels(
            self.k, self.confidential, self.diversity, self.diversity_kind, self.recursive_c,
            self.closeness, self.distance, self.sensitivity,
        )  # fmt: skip

    def key_names(self, data: Microdata) -> list[str]:
        """Return the keys, none of which may be protected by a condition as well."""
        names = list(self.keys) if self.keys is not None else data.schema.keys
        if not names:
            raise SchemaError(
                "no column has the role of a key", do="name the keys with with_roles(keys=[...])"
            )
        data.schema.require(names)
        confidential = self.confidential or data.schema.confidential
        both = [n for n in names if n in confidential] if self.models.speaks_of_values else []
        if both:
            raise SchemaError(f"{both[0]!r} cannot be a key and protected by a condition at once")
        return names


@dataclass(frozen=True)
class PrivacyModels:
    """The conditions that every class of a release must meet."""

    k: int
    confidential: tuple[str, ...] | None = None
    diversity: float | None = None
    diversity_kind: DiversityKind = "distinct"
    recursive_c: float = 3.0
    closeness: float | None = None
    distance: Distance = "equal"
    sensitivity: int | None = None

    def check(self) -> None:
        """Refuse parameters that contradict each other, in a pydantic validator's way."""
        if not self.speaks_of_values and self.confidential is not None:
            raise ValueError("takes 'confidential' only with a diversity, closeness or sensitivity")
        if self.diversity_kind != "entropy" and (self.diversity or 1) % 1:
            raise ValueError("needs a whole 'diversity' unless it is of the entropy kind")

    @property
    def speaks_of_values(self) -> bool:
        """Whether anything is asked of the confidential values."""
        asked = (self.diversity, self.closeness, self.sensitivity)
        return any(limit is not None for limit in asked)

    def limits(self) -> np.ndarray:
        """Return the limits in the order of the kernel; -1 where nothing is asked."""
        limits = np.full(7, -1.0)
        distinct = [self.sensitivity or 0]
        if self.diversity is not None:
            # Whatever the kind, a class without any known value is not diverse.
            distinct.append(
                int(np.ceil(self.diversity)) if self.diversity_kind == "distinct" else 1
            )
            if self.diversity_kind == "entropy":
                limits[1] = self.diversity
            elif self.diversity_kind == "recursive":
                limits[2:4] = self.recursive_c, self.diversity
        limits[0] = max(distinct)
        limits[4] = -1.0 if self.closeness is None else self.closeness
        limits[5] = _DISTANCES[self.distance]
        return limits

    def bound_to(self, data: Microdata) -> Conditions:
        """Return the conditions with the confidential values of these data."""
        if data.n_records < self.k:
            raise DataError(
                f"k = {self.k} needs at least {self.k} records",
                got=f"{data.n_records} records",
                do="lower k",
            )
        if not self.speaks_of_values:
            return Conditions(self, ())
        names = self.confidential or tuple(data.schema.confidential)
        if not names:
            raise SchemaError(
                "no column has the role of a confidential one",
                do="name some with with_roles(confidential=[...]) or in 'confidential'",
            )
        return Conditions(self, tuple(_confidential(data, name, self) for name in names))

    def describe(self) -> str:
        """Say in plain words what every class must meet."""
        parts = [f"at least {self.k} records share their keys"]
        if self.diversity is not None:
            parts.append(f"{self.diversity_kind} {self.diversity:g}-diversity")
        if self.closeness is not None:
            parts.append(f"{self.closeness:g}-closeness ({self.distance} distance)")
        if self.sensitivity is not None:
            parts.append(f"{self.sensitivity}-sensitivity")
        return ", ".join(parts)


@dataclass(frozen=True)
class ConfidentialValues:
    """The values of one confidential column and their distribution in the whole file."""

    name: str
    codes: np.ndarray
    """Value of each record, in order; value 0 stands for missing where there is any."""
    limits: np.ndarray
    q: np.ndarray
    """Share of each value."""
    parents: np.ndarray
    """Node above each node, level by level from the values up to one root."""
    widths: np.ndarray
    """Number of nodes of each level above the values."""

    @cached_property
    def arguments(self) -> tuple[np.ndarray, ...]:
        """What the kernels take: limits, shares, their cumulative sums, the tree."""
        Q = np.cumsum(self.q)
        return self.limits, self.q, Q, np.cumsum(Q), self.parents, self.widths

    @property
    def n_values(self) -> int:
        """Number of distinct values, missing included."""
        return len(self.q)


def _confidential(data: Microdata, name: str, models: PrivacyModels) -> ConfidentialValues:
    variable = data.schema[name]
    if models.closeness is not None:
        _check_distance(variable, models.distance)
    series = collect(data.lazy.select(name))[name]
    codes, has_missing = _in_order(series, variable)
    limits = models.limits()
    limits[6] = float(has_missing)
    n_values = int(codes.max(initial=0)) + 1
    q = np.bincount(codes, minlength=n_values) / len(codes)
    parents, widths = np.zeros((1, n_values), dtype=np.int64), np.ones(1, dtype=np.int64)
    if models.closeness is not None and models.distance == "hierarchical":
        parents, widths = _tree(data, name, codes, n_values)
    return ConfidentialValues(name, codes, limits, q, parents, widths)


def _check_distance(variable: Variable, distance: Distance) -> None:
    if distance == "ordered" and variable.kind is Kind.NOMINAL:
        raise SchemaError(
            "the ordered distance needs a column whose values have an order",
            got=f"{variable.name!r}, which is {variable.kind}",
            do="declare its categories with with_categories, or use the equal distance",
        )
    if distance == "hierarchical" and variable.hierarchy is None:
        raise SchemaError(
            f"the hierarchical distance needs a hierarchy of {variable.name!r}",
            do="attach one with with_hierarchies, or use the equal distance",
        )


def _in_order(series: Any, variable: Variable) -> tuple[np.ndarray, bool]:
    """Give numbers to the values that occur, in the order of an ordinal column's categories."""
    import polars as pl

    codes = encode_series(series)
    if variable.kind is Kind.ORDINAL and variable.categories:
        present = series.drop_nulls().unique().sort().cast(pl.String).to_list()
        place = {text: i for i, text in enumerate(variable.categories)}
        rank = np.argsort(
            np.argsort([place.get(text, len(place)) for text in present], kind="stable")
        )
        codes = np.where(codes < 0, -1, rank[codes] if len(rank) else -1)
    has_missing = bool((codes < 0).any())
    return np.asarray(codes + has_missing, dtype=np.int64), has_missing


def _tree(
    data: Microdata, name: str, codes: np.ndarray, n_values: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the parent of each node of the hierarchy, padded to the widest level, and one root."""
    domain = domains(data, [name])[0]
    value_of = np.zeros(n_values, dtype=np.int64)
    value_of[codes] = domain.codes
    labels = domain.labels[:, value_of]
    rows = [labels[level] for level in range(1, domain.n_levels)]
    if not rows or rows[-1].max(initial=0) > 0:
        rows.append(np.zeros(n_values, dtype=np.int32))
    parents = np.zeros((len(rows), n_values), dtype=np.int64)
    below = np.arange(n_values)
    for level, above in enumerate(rows):
        parents[level, below] = above
        below = above
    return parents, np.array([int(row.max()) + 1 for row in rows], dtype=np.int64)


@dataclass(frozen=True)
class Conditions:
    """The conditions on classes of the records of one file."""

    models: PrivacyModels
    columns: tuple[ConfidentialValues, ...]
    _scratch: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def k(self) -> int:
        """Smallest class."""
        return self.models.k

    def failing(self, groups: np.ndarray, n_groups: int) -> np.ndarray:
        """Return for each group of records whether it fails some condition."""
        from tacit.mask._privacy_models_kernel import mark_failing

        sizes = np.bincount(groups, minlength=n_groups)
        forced = np.where(sizes < self.k, sizes, 0).astype(np.float64)
        for column in self.columns:
            order = np.argsort(column.codes, kind="stable")
            ones = np.ones(len(order), dtype=np.int64)
            mark_failing(groups[order], column.codes[order], ones, sizes, column.arguments, forced)
        return np.asarray(forced > 0)

    def hold(self, rows: np.ndarray) -> bool:
        """Whether these records could form a class."""
        from tacit.mask._privacy_models_kernel import meets_all

        if len(rows) < self.k:
            return False
        return all(meets_all(c.codes[rows], c.arguments, self._zeros(c)) for c in self.columns)

    def _zeros(self, column: ConfidentialValues) -> np.ndarray:
        return self._scratch.setdefault(column.name, np.zeros(column.n_values, dtype=np.int64))

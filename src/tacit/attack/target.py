"""Targets: what is attacked, brought into one of three forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.pairing import Pair, pair
from tacit.core.release import Release

if TYPE_CHECKING:
    from tacit.core.families import Mask
    from tacit.query.policy import Policy
    from tacit.query.server import Server
    from tacit.tables import ProtectedTable

_NOT_A_CATEGORY = "missing"


@dataclass(frozen=True, eq=False)
class MicrodataTarget:
    """A release beside the original it was made from, and other releases of the same data."""

    original: Microdata
    released: Microdata
    steps: tuple[Mask, ...] | None = None
    """The masking methods, where they are known."""
    others: tuple[Microdata, ...] = ()
    """Further releases of the same original."""

    @cached_property
    def pair(self) -> Pair:
        """The two files, and which records correspond."""
        return pair(self.original, self.released)

    @cached_property
    def matched(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions in the original and in the release of the records that correspond."""
        return self.pair.matched

    def steps_of(self, *keys: str) -> list[Mask]:
        """Return the masking methods with one of these keys."""
        return [step for step in self.steps or () if step.key in keys]

    def confidential(self) -> list[str]:
        """Confidential columns that the release has."""
        return [c for c in self.original.schema.confidential if c in self.released.schema]

    @property
    def has_own_records(self) -> bool:
        """Whether any released record is that of a person."""
        rows = self.pair.rows
        return rows is not None and bool(np.any(rows >= 0))


@dataclass(frozen=True, eq=False)
class TableTarget:
    """One or more protected tables of the same data, and the data where they are at hand."""

    tables: tuple[ProtectedTable, ...]
    data: Microdata | None = None


@dataclass(frozen=True, eq=False)
class QueryTarget:
    """Data behind a policy: every attack asks a server of its own."""

    data: Microdata
    policy: Policy
    secret: str = "the secret of the red team"  # noqa: S105 -- of a server that is thrown away
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further options of the source: unit, categories, numbers."""

    def open(self) -> Server:
        """Start a server that has not been asked anything yet."""
        from tacit.query.server import Server
        from tacit.query.source import Source

        return Server(Source(self.data, **self.options), self.policy, secret=self.secret)

    def serving(self, frame: Any, **options: Any) -> Server:
        """Start a server of other data under the same policy, as if users could make columns."""
        from tacit.query.server import Server
        from tacit.query.source import Source

        return Server(Source(frame, **options), self.policy, secret=self.secret)

    @cached_property
    def variables(self) -> dict[str, Mapping[str, Any]]:
        """What the server tells everybody about its variables, by name."""
        return {v["name"]: v for v in self.open().describe()["variables"]}

    def labels(self, name: str) -> np.ndarray:
        """Return the category or bin of each record, as the server names it."""
        import polars as pl

        known = self.variables[name]
        column = self.data.local[name]
        if "bins" in known:
            place = np.searchsorted(known["cutpoints"], column.to_numpy(), side="right")
            labels = np.array(known["bins"], dtype=object)[place.clip(0, len(known["bins"]) - 1)]
            return np.where(column.is_null().to_numpy(), _NOT_A_CATEGORY, labels)
        text = column.cast(pl.String).fill_null(_NOT_A_CATEGORY).to_numpy()
        return np.where(np.isin(text, known["categories"]), text, "other").astype(object)


Target = MicrodataTarget | TableTarget | QueryTarget


def target_of(given: Any) -> Target:
    """Bring what a user gives into the form that attacks take.

    A release, or an original with its released file; releases of the same data; a protected table
    or several; data with a policy.
    """
    from tacit.query.policy import Policy
    from tacit.tables.protected import ProtectedTable

    if isinstance(given, MicrodataTarget | TableTarget | QueryTarget):
        return given
    if isinstance(given, Release):
        return MicrodataTarget(given.original, given.data, given.plan.methods, given.copies)
    if isinstance(given, ProtectedTable):
        return TableTarget((given,))
    if isinstance(given, Iterable):
        return _of_several(list(given), Policy, ProtectedTable)
    raise _not_a_target(given)


def _of_several(given: Sequence[Any], policy: Any, protected: Any) -> Target:
    if given and all(isinstance(one, protected) for one in given):
        return TableTarget(tuple(given))
    if given and all(isinstance(one, Release) for one in given):
        return _of_releases(given)
    if len(given) == 2 and isinstance(given[1], policy):
        return QueryTarget(Microdata.of(given[0]), given[1])
    if len(given) == 2:
        both = pair(given[0], given[1])
        return MicrodataTarget(both.original, both.released)
    raise _not_a_target(given)


def _of_releases(given: Sequence[Release]) -> MicrodataTarget:
    first = given[0]
    if any(len(one.original) != len(first.original) for one in given):
        raise DataError("the releases were made from different data", do="attack them one by one")
    others = tuple(one.data for one in given[1:])
    return MicrodataTarget(first.original, first.data, first.plan.methods, others)


def _not_a_target(given: Any) -> ParameterError:
    return ParameterError(
        "this cannot be attacked",
        got=type(given).__name__,
        do="give a release, (original, released), protected tables, or (data, policy)",
    )

"""Targets: what is attacked, brought into one of three forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
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
    copies: tuple[Microdata, ...] = ()
    """Further data sets of the release, made alike with other random numbers."""

    @property
    def data_sets(self) -> tuple[Microdata, ...]:
        """All data sets of the release: an intruder has every one of them."""
        return (self.released, *self.copies)

    @cached_property
    def views(self) -> tuple[Microdata, ...]:
        """What records are linked with: the average of the data sets where they can be averaged.

        Data sets whose records stand in the same order, as partially synthetic ones do, are one
        file measured several times; averaging takes off what was drawn anew in each.
        """
        from tacit.attack._averaging import averaged, in_one_order

        return (averaged(self.data_sets),) if in_one_order(self.data_sets) else self.data_sets

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

    @property
    def words(self) -> str:
        """What the records are behind."""
        return f"the policy {self.policy.id}"

    def open(self) -> Any:
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

    def levels(self, name: str) -> Mapping[str, int]:
        """Return how many records each category that occurs has, in the order of their names."""
        if name not in self._levels:
            found = np.unique(self.labels(name).astype(str), return_counts=True)
            self._levels[name] = dict(zip(*(side.tolist() for side in found), strict=True))
        return self._levels[name]

    @cached_property
    def _levels(self) -> dict[str, dict[str, int]]:
        return {}


@dataclass(frozen=True, eq=False)
class ServerTarget(QueryTarget):
    """A live server, by its REST address, beside the data that it answers about.

    Every request goes to the server in the name of the person whose key is given: it is logged
    there, remembered, and counts against limits and budgets. Attack a copy where that matters. Data
    are never sent; attacks that need columns of their own are left out.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> live = attack.ServerTarget.at(
    ...     "https://tacit.example.org", "tacit_x", project="p1", data=tacit.datasets.census(50)
    ... )
    >>> live.words
    'the server https://tacit.example.org'
    """

    client: Any = field(default=None, repr=False)
    project: str = ""
    """Id of the project that the server belongs to."""
    address: str = ""

    @classmethod
    def at(
        cls, address: str, key: str, *, project: str, data: Any, insecure: bool = False
    ) -> ServerTarget:
        """Return the server of a project of the app at an address.

        Parameters
        ----------
        address
            Where the app is, such as ``https://tacit.example.org``.
        key
            A key of somebody who may ask the server.
        project
            Id of the project.
        data
            The records that the server answers about, with their roles.
        insecure
            Whether the key may travel without encryption to another machine.
        """
        from tacit.client import Client
        from tacit.query.policy import Policy

        client = Client(address, key, insecure=insecure)
        unknown = Policy(name="unknown")
        return cls(Microdata.of(data), unknown, client=client, project=project, address=address)

    @property
    def words(self) -> str:
        """What the records are behind."""
        return f"the server {self.address}"

    def open(self) -> Any:
        """Return the live server; it remembers what it was asked before."""
        return _Live(self.client, self.project)

    def serving(self, frame: Any, **options: Any) -> Any:
        """Refuse: a live server takes nobody's columns."""
        raise DataError("users of a live server cannot bring columns of their own")


@dataclass(frozen=True)
class _Live:
    """One project of a client, asked like a server."""

    client: Any
    project: str

    def ask(self, request: Mapping[str, Any]) -> Any:
        return self.client.ask(self.project, request)

    def describe(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.describe(self.project)
        return found


Target = MicrodataTarget | TableTarget | QueryTarget


def target_of(given: Any) -> Target:
    """Bring what a user gives into the form that attacks take.

    A release, or an original with its released file; releases of the same data; a protected table
    or several; data with a policy; the folder of a saved release or of tables, or several.
    """
    from tacit.query.policy import Policy
    from tacit.tables.protected import ProtectedTable

    if isinstance(given, MicrodataTarget | TableTarget | QueryTarget):
        return given
    if isinstance(given, Release):
        return MicrodataTarget(given.original, given.data, given.plan.methods, copies=given.copies)
    if isinstance(given, ProtectedTable):
        return TableTarget((given,))
    if isinstance(given, str | Path):
        return _of_folders([given])
    if isinstance(given, Iterable):
        return _of_several(list(given), Policy, ProtectedTable)
    raise _not_a_target(given)


def _of_folders(given: Sequence[str | Path]) -> Target:
    from tacit.attack.folder import folders_target

    if any("://" in str(one) for one in given):
        raise ParameterError(
            "a live server is asked in somebody's name, about data that tell what is true",
            got=str(given[0]),
            do="give attack.ServerTarget.at(address, key, project=..., data=...)",
        )
    return folders_target(given)


def _of_several(given: Sequence[Any], policy: Any, protected: Any) -> Target:
    if given and all(isinstance(one, str | Path) for one in given):
        return _of_folders(given)
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
    others = tuple(data for one in given[1:] for data in one.data_sets)
    return MicrodataTarget(first.original, first.data, first.plan.methods, others, first.copies)


def _not_a_target(given: Any) -> ParameterError:
    return ParameterError(
        "this cannot be attacked",
        got=type(given).__name__,
        do="give a release or its folder, (original, released), protected tables, (data, policy), "
        "a ServerTarget",
    )

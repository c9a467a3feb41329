"""What is known about the columns of a file: roles, kinds, hierarchies, constraints."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field, field_serializer, model_validator

from tacit.core.atomic import write_text
from tacit.core.constraints import Constraint
from tacit.core.errors import ParameterError, SchemaError, UnknownColumnError, nearest
from tacit.core.hierarchy import Hierarchy
from tacit.core.value import Value


class Role(StrEnum):
    """What a column means for disclosure (the four classes of DF07) or for the design."""

    IDENTIFIER = "identifier"
    KEY = "key"
    CONFIDENTIAL = "confidential"
    NON_CONFIDENTIAL = "non-confidential"
    WEIGHT = "weight"
    HOUSEHOLD = "household"
    STRATUM = "stratum"
    LINKED = "linked"


class Kind(StrEnum):
    """How the values of a column may be compared."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    DATE = "date"
    TEXT = "text"


_EXCLUSIVE = {Role.IDENTIFIER, Role.WEIGHT}
"""Roles that a column cannot have together with another one."""


class Variable(Value):
    """One column."""

    name: str
    """Column name."""
    kind: Kind
    """How its values compare."""
    roles: frozenset[Role] = frozenset()
    """What the column means; the classes of DF07 are not disjoint, so there may be several."""
    categories: tuple[str, ...] | None = None
    """Ordered categories of an ordinal variable, lowest first."""
    hierarchy: Hierarchy | None = None
    """How its values become coarser."""
    linked_to: str | None = None
    """The key whose suppression pattern this column copies."""

    @field_serializer("roles")
    def _sorted_roles(self, roles: frozenset[Role]) -> list[str]:
        return sorted(roles)

    @model_validator(mode="after")
    def _check(self) -> Self:
        alone = self.roles & _EXCLUSIVE
        if alone and len(self.roles) > 1:
            others = ", ".join(sorted(self.roles - alone))
            raise ValueError(f"{self.name!r} cannot be {min(alone)} and {others} at once")
        return self


class Schema(Value):
    """All columns of a file, in order, with the rules between them."""

    variables: tuple[Variable, ...]
    """The columns, in file order."""
    constraints: tuple[Constraint, ...] = Field(default=())
    """Edit rules between columns."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ParameterError as error:
            raise SchemaError(error.what) from error

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [v.name for v in self.variables]
        twice = sorted(n for n, times in Counter(names).items() if times > 1)
        if twice:
            raise ValueError(f"names columns twice: {', '.join(twice)}")
        for role in (Role.WEIGHT, Role.HOUSEHOLD):
            if len(self.names(role)) > 1:
                raise ValueError(f"allows one {role} column, not {', '.join(self.names(role))}")
        for rule in self.constraints:
            for column in rule.columns:
                self[column]
        for variable in self.variables:
            if variable.linked_to is not None:
                self[variable.linked_to]
            if variable.linked_to == variable.name:
                raise ValueError(f"cannot link {variable.name!r} to itself")
        return self

    def __getitem__(self, name: str) -> Variable:
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise UnknownColumnError(
            f"there is no column {name!r}", column=name, do=nearest(name, self.columns)
        )

    def __contains__(self, name: object) -> bool:
        return any(v.name == name for v in self.variables)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return [v.name for v in self.variables]

    def names(self, *roles: Role, kind: Kind | None = None) -> list[str]:
        """Return the columns that have one of `roles` (any role if none is given) and `kind`."""
        return [
            v.name
            for v in self.variables
            if (not roles or v.roles & set(roles)) and (kind is None or v.kind == kind)
        ]

    @property
    def identifiers(self) -> list[str]:
        """Columns that name a unit outright."""
        return self.names(Role.IDENTIFIER)

    @property
    def keys(self) -> list[str]:
        """Columns an intruder may know (quasi-identifiers)."""
        return self.names(Role.KEY)

    @property
    def confidential(self) -> list[str]:
        """Columns that must not become known about a unit."""
        return self.names(Role.CONFIDENTIAL)

    @property
    def strata(self) -> list[str]:
        """Columns of the sampling design's strata."""
        return self.names(Role.STRATUM)

    @property
    def weight(self) -> str | None:
        """The sampling weight."""
        return next(iter(self.names(Role.WEIGHT)), None)

    @property
    def household(self) -> str | None:
        """The column that says which records belong together."""
        return next(iter(self.names(Role.HOUSEHOLD)), None)

    @property
    def linked(self) -> dict[str, str]:
        """Columns that copy the suppressions of a key, with that key."""
        return {v.name: v.linked_to for v in self.variables if v.linked_to is not None}

    @property
    def has_roles(self) -> bool:
        """Whether anybody has classified the columns."""
        return any(v.roles for v in self.variables)

    def require(self, columns: Iterable[str], *, kinds: Iterable[Kind] = (), by: str = "") -> None:
        """Raise `SchemaError` unless all `columns` exist and are of one of `kinds`."""
        kinds = set(kinds)
        for name in columns:
            kind = self[name].kind
            if kinds and kind not in kinds:
                raise SchemaError(
                    f"{by or 'this'} needs {' or '.join(sorted(kinds))} columns",
                    got=f"{name!r}, which is {kind}",
                    do="choose another column, or declare its kind with with_kinds",
                )

    def _with(self, changed: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Return a copy in which the variables named in `changed` have new fields."""
        for name in changed:
            self[name]
        variables = tuple(
            v.replace(**changed[v.name]) if v.name in changed else v for v in self.variables
        )
        return self.replace(variables=variables)  # type: ignore[no-any-return]

    def with_roles(self, roles: Mapping[Role, Iterable[str]]) -> Schema:
        """Give columns roles; the roles named in the mapping are first taken from all columns."""
        wanted = {role: list(names) for role, names in roles.items()}
        for names in wanted.values():
            for name in names:
                self[name]
        changed = {}
        for v in self.variables:
            kept = v.roles - wanted.keys()
            changed[v.name] = {"roles": kept | {r for r, n in wanted.items() if v.name in n}}
        try:
            return self._with(changed)
        except ParameterError as error:
            raise SchemaError(error.what) from error

    def with_linked(self, linked: Mapping[str, str]) -> Schema:
        """Let columns (the keys of the mapping) copy the suppressions of others (its values)."""
        changed = {
            name: {"linked_to": target, "roles": self[name].roles | {Role.LINKED}}
            for name, target in linked.items()
        }
        return self._with(changed)

    def with_kinds(self, kinds: Mapping[str, Kind | str]) -> Schema:
        """Say how the values of some columns compare."""
        return self._with({n: {"kind": _kind(k)} for n, k in kinds.items()})

    def with_categories(self, categories: Mapping[str, Iterable[str]]) -> Schema:
        """Give ordinal columns their ordered categories, lowest first."""
        return self._with(
            {
                n: {"kind": Kind.ORDINAL, "categories": tuple(map(str, c))}
                for n, c in categories.items()
            }
        )

    def with_hierarchies(self, hierarchies: Mapping[str, Any]) -> Schema:
        """Attach value hierarchies to columns."""
        return self._with({n: {"hierarchy": h} for n, h in hierarchies.items()})

    def select(self, columns: Iterable[str]) -> Schema:
        """Return the schema of these columns, with the rules that speak only of them."""
        kept = set(columns)
        variables = tuple(
            v if v.linked_to is None or v.linked_to in kept else v.replace(linked_to=None)
            for v in self.variables
            if v.name in kept
        )
        rules = tuple(c for c in self.constraints if kept.issuperset(c.columns))
        return Schema(variables=variables, constraints=rules)

    def to_toml(self) -> str:
        """Write the schema as a TOML text that a person can correct."""
        import tomli_w

        columns = [v.model_dump(mode="json", exclude_none=True) for v in self.variables]
        for column in columns:
            if not column.get("roles"):
                column.pop("roles", None)
        content: dict[str, Any] = {"column": columns}
        if self.constraints:
            content["constraint"] = [c.model_dump(mode="json") for c in self.constraints]
        return tomli_w.dumps(content)

    def save(self, path: str | Path) -> None:
        """Write the schema to a TOML file."""
        write_text(Path(path), self.to_toml())

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read a schema from TOML text."""
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"the schema is not valid TOML: {error}") from error
        unknown = set(content) - {"column", "constraint"}
        if unknown:
            raise SchemaError(
                f"a schema file has no table {min(unknown)!r}",
                do=nearest(min(unknown), ["column", "constraint"]),
            )
        try:
            variables = tuple(_variable(c) for c in _tables(content, "column"))
            return cls(variables=variables, constraints=tuple(_tables(content, "constraint")))
        except ParameterError as error:
            raise SchemaError(error.what) from error

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema from a TOML file."""
        path = Path(path)
        if not path.is_file():
            raise SchemaError("there is no schema file", got=str(path))
        try:
            return cls.from_toml(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise SchemaError(f"the schema file is not UTF-8 text: {path}") from error


def _tables(content: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    tables = content.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SchemaError(f"a schema file writes each {name} as a table [[{name}]]")
    return tables


def _variable(fields: Mapping[str, Any]) -> Variable:
    return Variable(**fields)


def _kind(given: Kind | str) -> Kind:
    try:
        return Kind(given)
    except ValueError as error:
        raise SchemaError(f"there is no kind {given!r}", do=nearest(str(given), Kind)) from error

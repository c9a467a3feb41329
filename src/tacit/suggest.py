"""A first classification of the columns, with a reason for each, for a person to correct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tacit._suggest_profile import Profile, profiles
from tacit._suggest_verdict import by_name, kind_of, order_of, verdict_of
from tacit._suggest_words import BODY_MEASURES, concepts_of, tokens
from tacit.core.data import Microdata
from tacit.core.errors import SchemaError, nearest
from tacit.core.schema import Kind, Role, Variable

_ALONE = (Role.WEIGHT, Role.HOUSEHOLD)
"""Roles that one column at most can have."""


@dataclass(frozen=True)
class Suggestion:
    """What a column may be, and why."""

    column: str
    """Column name."""
    role: Role
    """What it may mean for disclosure."""
    kind: Kind
    """How its values may compare."""
    reason: str
    """Why, in words."""
    confidence: float
    """From 0 (a guess) to 1 (sure)."""
    categories: tuple[str, ...] = ()
    """The values in their order, lowest first, where words or numbers tell it."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "role": str(self.role),
            "kind": str(self.kind),
            "reason": self.reason,
            "confidence": self.confidence,
        }


@dataclass(frozen=True)
class Suggestions:
    """One suggestion per column, in file order; printing them gives a table."""

    items: tuple[Suggestion, ...]

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, column: str) -> Suggestion:
        for item in self.items:
            if item.column == column:
                return item
        known = [item.column for item in self.items]
        raise SchemaError(f"there is no column {column!r}", do=nearest(column, known))

    def but(self, **roles: Role | str) -> Suggestions:
        """Correct some roles: ``suggestions.but(age="confidential")``."""
        corrected = {name: _role(role) for name, role in roles.items()}
        for name in corrected:
            self[name]
        changed = (
            replace(s, role=corrected[s.column], reason="said by a person", confidence=1.0)
            if s.column in corrected
            else s
            for s in self.items
        )
        return Suggestions(tuple(changed))

    def apply(self, data: Any) -> Microdata:
        """Give the columns the suggested roles and kinds, in place of those they had."""
        microdata = Microdata.of(data)
        schema = microdata.schema
        for item in self.items:
            schema[item.column]
        suggested = {s.column: s for s in self.items}
        variables = tuple(_described(v, suggested.get(v.name)) for v in schema.variables)
        return microdata.with_schema(schema.replace(variables=variables))

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Plain data for machines: column, then role, kind, reason and confidence."""
        return {item.column: item.as_dict() for item in self.items}

    def __str__(self) -> str:
        header = ("column", "role", "kind", "sure", "reason")
        rows = [
            (s.column, str(s.role), str(s.kind), f"{s.confidence:.0%}", s.reason)
            for s in self.items
        ]
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(4)]
        lines = [
            "  ".join([*(row[i].ljust(widths[i]) for i in range(4)), row[4]])
            for row in [header, *rows]
        ]
        return "\n".join(line.rstrip() for line in lines)


def suggest_roles(data: Any) -> Suggestions:
    """Propose a role and a kind for each column, from its name and its values.

    Names are read in English, German, French, Spanish, Italian, Portuguese and Dutch. Values are
    counted in the data's own engine; forms (e-mail addresses, telephone numbers, running numbers)
    are looked for in the first records. A proposal is a start, not a decision: what an intruder
    knows, no program can see.

    Parameters
    ----------
    data
        Microdata, or any frame.

    Examples
    --------
    >>> import tacit
    >>> suggestions = suggest_roles(tacit.datasets.patients().frame)
    >>> suggestions["SSN"].role, suggestions["SSN"].reason
    (<Role.IDENTIFIER: 'identifier'>, 'named like an official number of a person')
    >>> suggestions.apply(tacit.datasets.patients()).schema.keys
    ['Age', 'State']
    """
    microdata = Microdata.of(data)
    found = [
        _suggestion(profile, microdata.schema[profile.column]) for profile in profiles(microdata)
    ]
    return Suggestions(tuple(_one_of_each(_bodies_weighed(found))))


def looks_like_identifier(data: Any) -> list[str]:
    """Return columns that look like identifiers but are not declared as such.

    A name or values that only identifiers have (e-mail addresses, official numbers, accounts,
    telephone numbers, a code of its own for each record), or a text in which some records hold
    an e-mail address or account number.

    Examples
    --------
    >>> import tacit
    >>> looks_like_identifier(tacit.datasets.patients().frame)
    ['Name', 'SSN']
    >>> looks_like_identifier(tacit.datasets.patients())
    []
    """
    microdata = Microdata.of(data)
    settled = microdata.schema.names(Role.IDENTIFIER, *_ALONE)
    rest = microdata.drop(settled)
    return [profile.column for profile in profiles(rest) if _is_suspect(profile)]


def _is_suspect(profile: Profile) -> bool:
    if profile.pattern is not None or profile.has_leaks or profile.is_code:
        return True
    named = next(iter(concepts_of(profile.column)), None)
    verdict = None if named is None else by_name(named, profile)
    return verdict is not None and verdict.role == Role.IDENTIFIER and verdict.confidence > 0.7


def _suggestion(profile: Profile, variable: Variable) -> Suggestion:
    verdict = verdict_of(profile)
    kind = kind_of(profile, verdict)
    if variable.categories is not None or variable.kind in (Kind.ORDINAL, Kind.TEXT):
        kind = variable.kind  # somebody has said so
    order = order_of(profile, verdict) if kind == Kind.NOMINAL else ()
    return Suggestion(
        profile.column, verdict.role, Kind.ORDINAL if order else kind, verdict.reason,
        verdict.confidence, order,
    )  # fmt: skip


def _bodies_weighed(found: list[Suggestion]) -> list[Suggestion]:
    """Read a bare weight beside a height as the weight of a body, not of a design."""
    if not any(BODY_MEASURES & set(tokens(s.column)) for s in found):
        return found
    reason = "a weight beside a height: probably that of a body"
    return [
        replace(s, role=Role.CONFIDENTIAL, reason=reason, confidence=0.6)
        if s.role == Role.WEIGHT and len(tokens(s.column)) == 1
        else s
        for s in found
    ]


def _one_of_each(found: list[Suggestion]) -> list[Suggestion]:
    """Leave the weight and the household to the surest column; the others become ordinary."""
    kept = {
        role: max((s for s in found if s.role == role), key=lambda s: s.confidence, default=None)
        for role in _ALONE
    }
    return [s if s.role not in _ALONE or s is kept[s.role] else _second_choice(s) for s in found]


def _second_choice(suggestion: Suggestion) -> Suggestion:
    reason = f"{suggestion.reason}, but another column is the {suggestion.role}"
    role = Role.NON_CONFIDENTIAL if suggestion.role == Role.WEIGHT else Role.KEY
    return replace(suggestion, role=role, reason=reason, confidence=0.4)


def _role(given: Role | str) -> Role:
    try:
        return Role(given)
    except ValueError as error:
        raise SchemaError(f"there is no role {given!r}", do=nearest(str(given), Role)) from error


def _described(variable: Variable, suggestion: Suggestion | None) -> Variable:
    if suggestion is None:
        return variable
    known = {"categories": suggestion.categories} if suggestion.categories else {}
    changed = variable.replace(roles={suggestion.role}, kind=suggestion.kind, **known)
    return changed  # type: ignore[no-any-return]

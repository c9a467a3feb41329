"""Rules that say which cells are sensitive, alone or joined with ``|`` and ``&``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from annotated_types import MinLen
from pydantic import BeforeValidator, PlainSerializer

from tacit.core.errors import ParameterError
from tacit.core.method import Method, build
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Rule(Method):
    """Say which cells of a table are sensitive."""

    family: ClassVar[str] = "rule"
    verb: ClassVar[str] = "sensitive"
    word: ClassVar[str] = ""
    """How the rule is called in text, if not by its key."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other words for it."""
    in_order: ClassVar[tuple[str, ...]] = ()
    """Parameters that text may give without their names."""
    shown: ClassVar[int] = 1
    """How many of these are always written."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions to a cell the rule looks at."""
        return 1

    @abstractmethod
    def sensitive(self, table: Table) -> Sensitive:
        """Return the sensitive cells with the protection each requires."""

    def each(self) -> Iterator[Rule]:
        """Yield the rules it is joined from; alone it is the only one."""
        yield self

    def short(self) -> str:
        """Write the rule as the command line takes it, for example ``dominance(2,75)``."""
        given = self.as_dict()
        last = max((j + 1 for j, name in enumerate(self.in_order) if name in given), default=0)
        leading = self.in_order[: max(last, self.shown)]
        parts = [_written(getattr(self, name)) for name in leading]
        parts += [f"{name}={_written(v)}" for name, v in given.items() if name not in leading]
        word = self.word or self.key or type(self).__name__
        return f"{word}({','.join(parts)})" if parts else word

    def as_step(self) -> dict[str, Any]:
        """Return the rule as plain data, with its key under ``method``."""
        return {"method": self.key, **self.as_dict()}

    def __or__(self, other: Rule) -> Rule:
        """Sensitive by either rule."""
        return AnyOf(rules=(*_parts(self, AnyOf), *_parts(other, AnyOf)))

    def __and__(self, other: Rule) -> Rule:
        """Sensitive by both rules."""
        return AllOf(rules=(*_parts(self, AllOf), *_parts(other, AllOf)))


def rule_from(given: Any) -> Rule:
    """Read a rule from a rule or its plain data, joined ones included."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, Mapping):
        for word, joined in (("any", AnyOf), ("all", AllOf)):
            if set(given) == {word}:
                return joined(rules=given[word])
        made = build(given, "rule")
        if isinstance(made, Rule):
            return made
    raise ParameterError("this is not a rule", got=repr(given))


Rules = Annotated[
    tuple[Annotated[Rule, BeforeValidator(rule_from)], ...],
    MinLen(1),
    PlainSerializer(lambda rules: [rule.as_step() for rule in rules]),
]


class _Joined(Rule):
    """Several rules read together."""

    joint: ClassVar[str]
    rules: Rules
    """The rules."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions any of the rules looks at."""
        return max(rule.depth for rule in self.rules)

    def each(self) -> Iterator[Rule]:
        """Yield the rules it is joined from, however deep."""
        for rule in self.rules:
            yield from rule.each()

    def as_step(self) -> dict[str, Any]:
        """Return the rules as plain data, under the word that joins them."""
        return {self.joint: [rule.as_step() for rule in self.rules]}


class AnyOf(_Joined):
    """A cell is sensitive if any of the rules says so."""

    joint: ClassVar[str] = "any"

    def sensitive(self, table: Table) -> Sensitive:
        """Return cells that at least one rule finds, with the largest protection any requires."""
        found = Sensitive.none(table.n_cells)
        for rule in self.rules:
            found = found | rule.sensitive(table)
        return found

    def describe(self) -> str:
        """Say the rules in words, joined by or."""
        return " or ".join(rule.describe() for rule in self.rules)

    def short(self) -> str:
        """Write the rules joined with ``|``."""
        return "|".join(rule.short() for rule in self.rules)


class AllOf(_Joined):
    """A cell is sensitive if all of the rules say so."""

    joint: ClassVar[str] = "all"

    def sensitive(self, table: Table) -> Sensitive:
        """Return cells that every rule finds, with the largest protection any requires."""
        first, *rest = [rule.sensitive(table) for rule in self.rules]
        for other in rest:
            first = first & other
        return first

    def describe(self) -> str:
        """Say the rules in words, joined by and."""
        return " and ".join(f"({rule.describe()})" for rule in self.rules)

    def short(self) -> str:
        """Write the rules joined with ``&``."""
        parts = (f"({r.short()})" if isinstance(r, AnyOf) else r.short() for r in self.rules)
        return "&".join(parts)


def _written(value: Any) -> str:
    """Write a parameter as `tacit.tables.rule` reads it back."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.12g}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    text = str(value)
    plain = text.replace("_", "a").replace("-", "a")
    is_word = plain.isalnum() and not text[0].isdigit() and text[0] != "-"
    return text if is_word or text in _COMPARISONS else f'"{text}"'


def _parts(rule: Rule, kind: type[_Joined]) -> tuple[Rule, ...]:
    return rule.rules if isinstance(rule, kind) else (rule,)

"""Rules that say which cells are sensitive, alone or joined with ``|`` and ``&``."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from tacit.core.method import Method
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class Rule(Method):
    """Say which cells of a table are sensitive."""

    family: ClassVar[str] = "rule"
    verb: ClassVar[str] = "sensitive"

    @abstractmethod
    def sensitive(self, table: Table) -> Sensitive:
        """Return the sensitive cells with the protection each requires."""

    def __or__(self, other: Rule) -> Rule:
        """Sensitive by either rule."""
        return AnyOf(rules=(*_parts(self, AnyOf), *_parts(other, AnyOf)))

    def __and__(self, other: Rule) -> Rule:
        """Sensitive by both rules."""
        return AllOf(rules=(*_parts(self, AllOf), *_parts(other, AllOf)))


class _Joined(Rule):
    """Several rules read together."""

    rules: tuple[Rule, ...]
    """The rules."""


class AnyOf(_Joined, title="Any of several rules"):
    """A cell is sensitive if any of the rules says so."""

    def sensitive(self, table: Table) -> Sensitive:
        """Return cells that at least one rule finds, with the largest protection any requires."""
        found = Sensitive.none(table.n_cells)
        for rule in self.rules:
            found = found | rule.sensitive(table)
        return found

    def describe(self) -> str:
        """Say the rules in words, joined by or."""
        return " or ".join(rule.describe() for rule in self.rules)


class AllOf(_Joined, title="All of several rules"):
    """A cell is sensitive if all of the rules say so."""

    def sensitive(self, table: Table) -> Sensitive:
        """Return cells that every rule finds, with the largest protection any requires."""
        first, *rest = [rule.sensitive(table) for rule in self.rules]
        for other in rest:
            first = first & other
        return first

    def describe(self) -> str:
        """Say the rules in words, joined by and."""
        return " and ".join(f"({rule.describe()})" for rule in self.rules)


def _parts(rule: Rule, kind: type[_Joined]) -> tuple[Rule, ...]:
    return rule.rules if isinstance(rule, kind) else (rule,)

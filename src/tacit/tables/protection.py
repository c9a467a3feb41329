"""The family of methods that protect a table."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from tacit.core.method import Method
from tacit.tables.protected import ProtectedTable
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class Protection(Method):
    """Turn a table into one whose sensitive cells are protected."""

    family: ClassVar[str] = "protection"
    verb: ClassVar[str] = "protect"
    keyed: ClassVar[bool] = False
    """Whether it needs secret record keys."""

    @property
    def depth(self) -> int:
        """How many of the largest contributions to a cell the method looks at."""
        return 1

    @property
    def heeds_costs(self) -> bool:
        """Whether it looks at the costs that were given to cells."""
        return "user" in self.as_dict().values()

    @abstractmethod
    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the protected table, or refuse; `table` is left as it is."""

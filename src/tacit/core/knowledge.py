"""What an intruder knows about which record: the second classification of TFB, section 3.

The owner classifies columns once for the whole file. An intruder knows other fields for each
record: all keys of most people, the income of a neighbour. Knowledge is that second level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tacit.core.errors import DataError


@dataclass(frozen=True)
class Knowledge:
    """Fields an intruder knows: for every record, or for some records only."""

    everyone: frozenset[str] = frozenset()
    """Columns known for every record."""
    some: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Columns known for some records: a true/false array per column, one entry per record."""

    @classmethod
    def of(
        cls, everyone: Iterable[str], some: Mapping[str, Iterable[bool]], n_records: int
    ) -> Knowledge:
        """Check and freeze what a user gave."""
        arrays = {}
        for name, flags in some.items():
            array = _flags(name, flags)
            if len(array) != n_records:
                raise DataError(
                    f"knowledge of {name!r} needs one true or false per record",
                    got=f"{len(array)} values for {n_records} records",
                )
            array.setflags(write=False)
            arrays[name] = array
        return cls(frozenset(everyone), arrays)

    @property
    def columns(self) -> list[str]:
        """Every column known for at least some records."""
        return sorted(self.everyone | set(self.some))

    def known(self, column: str, n_records: int) -> np.ndarray:
        """Return for which records `column` is known."""
        if column in self.everyone:
            return np.ones(n_records, dtype=bool)
        return self.some.get(column, np.zeros(n_records, dtype=bool))

    def only(self, columns: Iterable[str]) -> Knowledge:
        """Return what is known about these columns."""
        kept = set(columns)
        some = {name: flags for name, flags in self.some.items() if name in kept}
        return Knowledge(self.everyone & kept, some)

    def take(self, index: np.ndarray) -> Knowledge:
        """Return what is known about the records at these positions."""
        return Knowledge(self.everyone, {name: flags[index] for name, flags in self.some.items()})


def _flags(name: str, given: Iterable[bool]) -> np.ndarray:
    """Read flags that are true or false; a word such as "no" would silently count as true."""
    flags = np.asarray(list(given))
    if flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all():
        raise DataError(
            f"knowledge of {name!r} needs one true or false per record",
            got=f"values of {flags.dtype}" if flags.dtype.kind in "OUS" else "other numbers",
        )
    return flags.astype(bool)

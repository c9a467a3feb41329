"""The result of a computation among agencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What agencies computed together, and who took part.

    Examples
    --------
    >>> Answer({"n": 30}, ("a", "b", "c"))["n"]
    30
    """

    values: Mapping[str, Any]
    """The result, as plain data."""
    agencies: tuple[str, ...]
    """Agencies whose records are in the result."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Agencies that were lost on the way, and how."""
    n_sums: int = 1
    """Secure sums that were needed."""
    traffic: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each agency the bytes of each kind of message."""

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the traffic as plain data."""
        return {
            **self.values,
            "agencies": list(self.agencies),
            "missing": dict(self.missing),
            "n_sums": self.n_sums,
        }

    def __str__(self) -> str:
        lines = [f"{name}: {_short(value)}" for name, value in self.values.items()]
        lines.append(f"agencies: {', '.join(self.agencies)}")
        lines += [f"missing: {name} ({why})" for name, why in self.missing.items()]
        return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_short(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        shown = [_short(v) for v in value[:8]]
        return f"[{', '.join(shown)}{', ...' if len(value) > 8 else ''}]"
    return str(value)

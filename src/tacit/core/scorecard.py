"""The scorecard: the measurements of one release, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tacit.core.measurement import Measurement


@dataclass(frozen=True)
class Scorecard:
    """Risk and utility of a release, and of the original where that makes sense."""

    risks: tuple[Measurement, ...]
    """What an intruder could learn from the release."""
    utilities: tuple[Measurement, ...]
    """What users of the release have lost or kept."""
    before: dict[str, Measurement]
    """The same risks measured on the original, by key."""
    left_out: dict[str, str]
    """Measures that could not be taken, with the reason."""

    def __iter__(self) -> Iterator[Measurement]:
        yield from self.risks
        yield from self.utilities

    def __getitem__(self, key: str) -> Measurement:
        for measurement in self:
            if measurement.key == key:
                return measurement
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return any(m.key == key for m in self)

    def rows(self) -> list[dict[str, str]]:
        """Return the lines of the printed card."""
        aspects = ["risk"] * len(self.risks) + ["utility"] * len(self.utilities)
        return [
            {
                "aspect": aspect,
                "measure": m.title,
                "before": self.before[m.key].text if m.key in self.before else "",
                "after": m.text,
                "better": m.better,
            }
            for aspect, m in zip(aspects, self, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain data."""
        return {
            "risk": [m.as_dict() for m in self.risks],
            "utility": [m.as_dict() for m in self.utilities],
            "before": {key: m.as_dict() for key, m in self.before.items()},
            "left_out": dict(self.left_out),
        }

    def __str__(self) -> str:
        lines = [("", "measure", "original", "release", "better")]
        lines += [tuple(row.values()) for row in self.rows()]  # type: ignore[misc]
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        printed = [
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        missing = [f"not measured: {key} ({why})" for key, why in self.left_out.items()]
        return "\n".join(printed + missing)

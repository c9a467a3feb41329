"""Linkability: whether the release joins what two intruders know about one person."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.common_scale import as_numbers, common_codes
from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair, substantive_columns
from tacit.core.progress import track
from tacit.risk._comparable import present_columns


class Linkability(
    Risk,
    key="linkability",
    title="Linkability",
    cites=("giomi2023",),
    example={"first": ["sex", "age", "education"], "second": ["marital", "income", "hours"]},
):
    r"""Report how often the released record nearest by some columns is nearest by others too.

    Made for synthetic data: records need not correspond. Somebody holds some columns of a person,
    somebody else others; if both parts lie nearest to the same released record, the release links
    them.

    Missing values: a gap counts as fully different. Weights: not used. Households: not considered.

    Notes
    -----
    For each of `attacks` people drawn from the original the released records nearest to them are
    found by the first and by the second set of columns (Gower's distance: shares of the range for
    numbers, 0 or 1 for categories); all that are as near count. With :math:`b` released records
    nearest in both, the link is right with probability :math:`1/b`, and 0 if there is none
    [giomi2023]_. The baseline in the details pairs the halves of different people.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> data = tacit.datasets.census(300)
    >>> measure = risk.Linkability(first=["sex", "age"], second=["income"], attacks=100)
    >>> found = measure.measure(data)
    >>> found.value > 3 * found.details["baseline"]
    True
    """

    default: ClassVar[bool] = False

    first: Columns | None = None
    """Columns that one intruder knows; by default every other column."""
    second: Columns | None = None
    """Columns that the other one knows; by default all others."""
    attacks: Annotated[int, Ge(1)] = 300
    """People who are attacked; everybody where there are fewer."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the attack."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are not two columns to link."""
        if self.first is None and len(substantive_columns(original)) < 2:
            return "there are not two columns to link"
        return None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of right links."""
        both = pair(original, release)
        halves = [present_columns(both, half, by=self.key) for half in self._halves(both)]
        first, second = (names for names, _ in halves)
        rng = np.random.default_rng(self.seed)
        n = both.original.n_records
        people = rng.permutation(n)[: min(self.attacks, n)]
        parts = [_Space.of(both, names) for names in (first, second)]
        linked = _linked(parts, people, people)
        baseline = float(_linked(parts, people, np.roll(people, 1)).mean())
        value = float(linked.mean())
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 1.0),
            unit="percent",
            details={"first": first, "second": second, "attacks": len(people),
                     "baseline": baseline},
            explanation=f"Of {len(people):,} people {100 * value:.3g} % lie nearest to the same "
            f"released record by {', '.join(first)} and by {', '.join(second)}; halves of "
            f"different people do so for {100 * baseline:.3g} %.",
            warnings=tuple(text for _, said in halves for text in said),
        )  # fmt: skip

    def _halves(self, both: Pair) -> tuple[list[str], list[str]]:
        names = [c for c in substantive_columns(both.original) if c in both.released.schema]
        if (self.first is None) != (self.second is None):
            raise ParameterError("linkability needs both sets of columns, or neither")
        if self.first is not None and self.second is not None:
            both.original.schema.require([*self.first, *self.second])
            twice = set(self.first) & set(self.second)
            if twice:
                raise ParameterError("a column can be in one set only", got=min(twice))
            return list(self.first), list(self.second)
        if len(names) < 2:
            raise DataError(f"{self.key}: there are not two columns to link")
        return names[::2], names[1::2]


class _Space:
    """Distances from people to released records."""

    def __init__(self, columns: list[tuple[np.ndarray, np.ndarray, float]]) -> None:
        self.columns = columns

    @classmethod
    def of(cls, both: Pair, names: list[str]) -> _Space:
        columns = []
        for name in names:
            before, after = (side.local[name] for side in both.sides)
            if before.dtype.is_numeric() and after.dtype.is_numeric():
                values = [as_numbers(s) for s in (before, after)]
                known = np.concatenate(values)
                known = known[~np.isnan(known)]
                span = float(np.ptp(known)) if len(known) else 0.0
                columns.append((values[0], values[1], span or 1.0))
            else:
                codes = common_codes(before, after)
                columns.append((codes[0], codes[1], 0.0))
        return cls(columns)

    def distances(self, person: int) -> np.ndarray:
        """Return the distances of all released records to a person."""
        total = np.zeros(len(self.columns[0][1]))
        for before, after, span in self.columns:
            if span:
                gap = np.abs(after - before[person]) / span
                total += np.where(np.isnan(gap), 1.0, gap)
            else:
                total += after != before[person]
        return total


def _linked(parts: list[_Space], people: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the probability that each person's halves are linked rightly."""
    found = np.zeros(len(people))
    with track("linking halves", len(people)) as advance:
        for i, (person, other) in enumerate(zip(people, others, strict=True)):
            near = [
                part.distances(int(who)) for part, who in zip(parts, (person, other), strict=True)
            ]
            shared = np.logical_and(*(d <= d.min() + 1e-12 for d in near))
            n_shared = int(shared.sum())
            found[i] = 1 / n_shared if n_shared else 0.0
            advance(1)
    return found

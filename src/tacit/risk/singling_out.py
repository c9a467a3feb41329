"""Singling out: conditions read from the release that hold for one person only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.common_scale import as_numbers, common_codes
from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair, substantive_columns
from tacit.core.progress import track
from tacit.risk._comparable import present_columns

_MOST_TRIES = 20
"""Conditions tried for each that singles out a released record."""


class SinglingOut(
    Risk,
    key="singling-out",
    title="Singling out",
    cites=("giomi2023",),
    example={"columns": ["region", "sex", "age", "education", "income"], "attacks": 200},
):
    r"""Report how often a condition that one released record meets is met by one person.

    Made for synthetic data: records need not correspond. An intruder reads conditions such as
    "female, widowed, younger than 30, income above 90 000" from the release and bets that exactly
    one person in the original meets them.

    Missing values: a missing category is a value of its own; a missing number meets no condition.
    Weights: not used. Households: not considered.

    Notes
    -----
    Each attack draws a released record and `width` columns; the condition demands its category, and
    for numbers a value at least (at most) as large where it lies above (below) the median. Only
    conditions that exactly one released record meets are used. The value is the share of them that
    exactly one original record meets [giomi2023]_; read it against the baseline in the details,
    where conditions are made of values drawn from different released records, so that only margins
    are used.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> data = tacit.datasets.census(300)
    >>> risk.SinglingOut(attacks=50).measure(data).value
    1.0
    """

    default: ClassVar[bool] = False

    columns: Columns | None = None
    """Columns that conditions speak of; by default all substantive ones that both files have."""
    width: Annotated[int, Ge(1)] = 3
    """Columns in each condition."""
    attacks: Annotated[int, Ge(1)] = 500
    """Number of conditions."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the attack."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no column to attack."""
        if self.columns is None and not substantive_columns(original):
            return "there is no column that says something about people"
        return None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of conditions that single a person out."""
        both = pair(original, release)
        wanted = list(self.columns) if self.columns else substantive_columns(both.original)
        names, warnings = present_columns(both, wanted, by=self.key)
        fields = _in_order([_Field.of(both, name) for name in names])
        width = min(self.width, len(names))
        rng = np.random.default_rng(self.seed)
        n_made, n_right = _attacked(fields, width, self.attacks, rng, mixed=False)
        base_made, base_right = _attacked(fields, width, self.attacks, rng, mixed=True)
        value = n_right / n_made if n_made else 0.0
        baseline = base_right / base_made if base_made else 0.0
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 1.0),
            unit="percent", interval=_wilson(n_right, n_made),
            details={"columns": names, "conditions": n_made, "right": n_right,
                     "baseline": baseline},
            explanation=f"Of {n_made:,} conditions that one released record meets, "
            f"{100 * value:.3g} % are met by exactly one person; of conditions that only use how "
            f"common values are, {100 * baseline:.3g} %.",
            warnings=tuple(warnings),
        )  # fmt: skip


@dataclass(frozen=True)
class _Field:
    """One column of both files."""

    before: np.ndarray
    after: np.ndarray
    middle: float | None
    """Median of the released numbers; None for categories."""

    @classmethod
    def of(cls, both: Pair, name: str) -> _Field:
        before, after = (side.local[name] for side in both.sides)
        if before.dtype.is_numeric() and after.dtype.is_numeric():
            values = [as_numbers(s) for s in (before, after)]
            known = values[1][~np.isnan(values[1])]
            return cls(values[0], values[1], float(np.median(known)) if len(known) else 0.0)
        return cls(*common_codes(before, after), None)

    def meeting(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return who meets the condition that a released record gives, in both files."""
        value = self.after[row]
        if self.middle is None:
            return self.before == value, self.after == value
        if value >= self.middle:
            return self.before >= value, self.after >= value
        return self.before <= value, self.after <= value


def _in_order(fields: list[_Field]) -> list[_Field]:
    """Put the released records in an order of their own, so that the file's does not matter."""
    order = np.lexsort([field.after for field in fields])
    return [replace(field, after=field.after[order]) for field in fields]


def _attacked(
    fields: list[_Field], width: int, wanted: int, rng: np.random.Generator, *, mixed: bool
) -> tuple[int, int]:
    """Return how many conditions single a released record out, and how many of them a person."""
    n_released = len(fields[0].after)
    n_made = n_right = 0
    with track("singling out", wanted) as advance:
        for _ in range(wanted * _MOST_TRIES):
            if n_made == wanted:
                break
            row = int(rng.integers(n_released))
            people, records = True, True
            for j in rng.permutation(len(fields))[:width]:
                at = int(rng.integers(n_released)) if mixed else row
                met = fields[j].meeting(at)
                people, records = people & met[0], records & met[1]
            if np.count_nonzero(records) != 1 and not mixed:
                continue
            n_made += 1
            n_right += int(np.count_nonzero(people) == 1)
            advance(1)
    return n_made, n_right


def _wilson(right: int, made: int) -> tuple[float, float] | None:
    """95 % interval of a share (Wilson)."""
    if made == 0:
        return None
    z = 1.959963984540054
    share = right / made
    centre = (share + z**2 / (2 * made)) / (1 + z**2 / made)
    margin = z / (1 + z**2 / made) * np.sqrt(share * (1 - share) / made + z**2 / (4 * made**2))
    return max(0.0, float(centre - margin)), min(1.0, float(centre + margin))

"""Household risk: the chance that at least one member of a household is identified."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.keys import MISSING_CODE, Missing, encode
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._sampled_keys import Fraction, SampledKeys, sampled_keys
from tacit.risk.individual_risk import Formula, individual_risks

_LEVELS = (0.01, 0.05, 0.1, 0.2)
"""Risks above which households are counted."""
_NO_HOUSEHOLD = "no column says which records belong to the same household"


class HouseholdRisk(
    Risk,
    key="household-risk",
    title="Household risk",
    cites=("franconi2004", "hundepool2012"),
    example={"keys": ["region", "sex", "age"]},
):
    r"""Estimate for each household the chance that at least one of its members is identified.

    Missing values: of the keys, read as any value or as a value of their own, as for the
    individual risk; a record without a household number is a household of its own. Weights: give
    the population frequencies, as for the individual risk. Households: the unit of this measure;
    every member gets the risk of the household.

    Notes
    -----
    Who finds one member has found the others. With :math:`r_i` the individual risks
    [franconi2004]_ of the members of household :math:`g`, taken as independent,

    .. math:: r^h_g = 1 - \prod_{i \in g} (1 - r_i).

    The value is the mean over the households, which is the share of them expected to be
    re-identified. The details count the persons in them too.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> people = tacit.datasets.census(500)
    >>> found = risk.HouseholdRisk(keys=["region", "sex"]).measure(people)
    >>> found.value < risk.HouseholdRisk(keys=["region", "sex", "age"]).measure(people).value
    True
    """

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    formula: Formula = "exact"
    """The posterior mean itself, or the usual approximation for keys of three or more records."""
    sampling_fraction: Fraction | None = None
    """Share of the population in the file, in place of weights."""
    missing: Missing = "wildcard"
    """How a missing value compares: only with another missing one, or with any value."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys or no households, if so."""
        if original.schema.household is None:
            return _NO_HOUSEHOLD
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of households expected to be re-identified."""
        keys = sampled_keys(original, release, self.keys, self.sampling_fraction, by=self.key)
        member_of, n_households, warnings = _households(keys.data)
        persons = individual_risks(*keys.counts(self.missing), self.formula)
        households = household_risks(persons, member_of, n_households)
        return Measurement(
            key=self.key,
            title=self.title,
            value=float(households.mean()),
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=households[member_of],
            details=self._details(keys, persons, households, member_of),
            explanation=_explanation(keys, households),
            warnings=(*keys.warnings, *warnings),
        )

    def _details(
        self, keys: SampledKeys, persons: np.ndarray, households: np.ndarray, member_of: np.ndarray
    ) -> dict[str, Any]:
        sizes = np.bincount(member_of, minlength=len(households))
        return {
            "keys": keys.names,
            "keys_removed": keys.removed,
            "formula": self.formula,
            "missing": self.missing,
            "households": len(households),
            "persons": keys.n_records,
            "largest_household": int(sizes.max()),
            "sampling_fraction": keys.fraction,
            "expected_households": float(households.sum()),
            "expected_persons_in_them": float(sizes @ households),
            "expected_persons_alone": float(persons.sum()),
            "largest": float(households.max()),
            "above": {f"{100 * level:g} %": int(np.sum(households > level)) for level in _LEVELS},
        }


def household_risks(persons: np.ndarray, member_of: np.ndarray, n_households: int) -> np.ndarray:
    """Return the chance that at least one member is identified, for each household.

    Examples
    --------
    >>> household_risks(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1]), 2).round(4).tolist()
    [0.75, 0.1]
    """
    with np.errstate(divide="ignore"):
        safe = np.log1p(-persons)
    return np.asarray(-np.expm1(np.bincount(member_of, weights=safe, minlength=n_households)))


def _households(data: Microdata) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Give numbers to the households of the released file; records without one stand alone."""
    column = data.schema.household
    if column is None:
        note = "The file does not say who lives together: every record is taken as a household."
        return np.arange(data.n_records), data.n_records, (note,)
    numbers = encode(data, [column])[:, 0].astype(np.int64)
    alone = np.flatnonzero(numbers == MISSING_CODE)
    n_known = int(numbers.max(initial=-1)) + 1
    numbers[alone] = n_known + np.arange(len(alone))
    return numbers, n_known + len(alone), ()


def _explanation(keys: SampledKeys, households: np.ndarray) -> str:
    on = ", ".join(keys.names) or "no key at all"
    return (
        f"An intruder who knows {on} is expected to re-identify {households.sum():,.1f} of the "
        f"{len(households):,} households through one of their members. The largest risk of one "
        f"household is {100 * households.max():.3g} %."
    )

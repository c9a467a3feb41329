"""Delta-presence: whether an intruder can tell that somebody is in the file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.keys import group_ids
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import pair
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._synthetic_keys import joint_codes


class DeltaPresence(
    Risk,
    key="delta-presence",
    title="Presence of a known person",
    cites=("nergiz2007",),
    example={"keys": ["region", "sex"]},
):
    r"""Estimate the chance that a person of the population is in the release, given the keys.

    The original is taken as the population, of which the release is a part: a sample, or the
    patients among the inhabitants. A chance of 1 tells an intruder that everybody with these keys
    is in the file.

    Where records correspond, recoded categories are compared after the same recoding; numbers are
    compared as they are.

    Missing values: a gap is a value of its own. Weights: not used. Households: not considered.

    Notes
    -----
    For a combination of keys held by :math:`N` records of the original and :math:`n` of the
    release, :math:`\delta = n/N` [nergiz2007]_, at most 1. The value is the largest; ``details``
    hold the
    smallest and the number of combinations of the release that the original does not have (keys
    that were changed).

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> release = tacit.Plan([mask.Sample(fraction=0.2)]).apply(data, seed=1)
    >>> 0 < risk.DeltaPresence(keys=["sex"]).measure(data, release).value < 0.4
    True
    """

    default = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the largest chance of presence."""
        both = pair(original, release)
        names = list(self.keys) if self.keys else both.original.schema.keys
        names = [n for n in names if n in both.released.schema] if not self.keys else names
        for side in (both.original, both.released):
            side.schema.require(names)
            if side.n_records == 0:
                raise DataError(f"{self.key} needs at least one record", got="an empty file")
        n_original = both.original.n_records
        codes = [np.concatenate(joint_codes(both, name)) for name in names]
        n_both = n_original + both.released.n_records
        stacked = np.column_stack(codes) if codes else np.zeros((n_both, 0))
        ids, n_cells = group_ids(np.ascontiguousarray(stacked, dtype=np.int32))
        population = np.bincount(ids[:n_original], minlength=n_cells)
        present = np.bincount(ids[n_original:], minlength=n_cells)
        known = population > 0
        delta = np.minimum(present[known] / population[known], 1.0)
        chance = np.zeros(n_cells)
        chance[known] = delta
        return Measurement(
            key=self.key, title=self.title, value=float(delta.max()), better="lower",
            bounds=(0.0, 1.0), unit="percent", per_unit=chance[ids[n_original:]],
            details={"smallest": float(delta.min()), "keys": names,
                     "combinations_not_in_the_original": int((present[~known] > 0).sum())},
            explanation=(
                f"With the keys {', '.join(names)} an intruder can be up to "
                f"{100 * float(delta.max()):.0f} % sure that a person is in the release."
            ),
        )  # fmt: skip

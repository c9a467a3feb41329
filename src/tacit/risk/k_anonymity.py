"""k-anonymity: the size of the groups of records that look alike."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.keys import Missing, frequencies, group_ids
from tacit.core.measurement import Measurement
from tacit.core.method import Columns, Try
from tacit.risk._released_keys import ReleasedKeys, objection_without_keys, released_keys

_LEVELS = (2, 3, 5)
"""Class sizes that agencies ask for; the records below each are always counted."""


class KAnonymity(
    Risk,
    key="k-anonymity",
    title="k-anonymity",
    cites=("samarati2001", "sweeney2002"),
    example={"keys": ["region", "sex", "age"], "k": 3},
    at_scale="native",
):
    r"""Count how many records share the same keys, and report the smallest group.

    Missing values: ``"strict"`` takes a missing value for a value of its own, ``"wildcard"`` for
    any value; the details hold both readings. Weights: the estimated population size of the
    smallest group is in the details. Households: not considered; records are counted one by one.

    Notes
    -----
    A file is :math:`k`-anonymous [sweeney2002]_ if every combination of keys that occurs in it
    occurs at least :math:`k` times. With :math:`f_i` the number of records that have the keys of
    record :math:`i`, the value is

    .. math:: \min_i f_i, \qquad F_i = \sum_{j:\,\text{keys}_j = \text{keys}_i} w_j.

    The strict reading is the conservative one: the records of a class agree even in what is
    missing. Read as wildcards, suppressed values also hide a record among all those that it might
    equal, which holds only as long as an intruder cannot guess them.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> anonymity = risk.KAnonymity(k=2).measure(tacit.datasets.patients())
    >>> anonymity.value, anonymity.details["below"]
    (1.0, {'2': 2, '3': 4, '5': 10})
    """

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    k: Annotated[int, Ge(2), Try(3, 5, 10)] = 3
    """Class size wanted; records in smaller classes are counted as violations."""
    missing: Missing = "strict"
    """How a missing value compares: only with another missing one, or with any value."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the size of the smallest class of the release, or of the original alone."""
        keys = released_keys(original, release, self.keys, by=self.key, may_count_classes=True)
        sizes = keys.sizes(self.missing)
        details = self._details(keys, sizes)
        return Measurement(
            key=self.key,
            title=self.title,
            value=float(sizes.min()),
            better="higher",
            bounds=(1.0, float(keys.n_records)),
            unit="count",
            per_unit=keys.per_record(sizes),
            details=details,
            explanation=self._explanation(keys, sizes, details["readings"]),
            warnings=keys.warnings,
        )

    def _details(self, keys: ReleasedKeys, sizes: np.ndarray) -> dict[str, Any]:
        below = _below(keys, sizes, self.k)
        details: dict[str, Any] = {
            "keys": keys.names,
            "keys_removed": keys.removed,
            "k": self.k,
            "missing": self.missing,
            "records": keys.n_records,
            "classes": group_ids(keys.codes)[1],
            "below": below,
            "share_below": {k: n / keys.n_records for k, n in below.items()},
            "readings": {
                missing: self._reading(keys, sizes, missing) for missing in ("strict", "wildcard")
            },
        }
        if keys.weights is not None:
            population = frequencies(keys.codes, keys.weights, missing=self.missing)
            details["smallest_population_class"] = float(population.min())
        return details

    def _reading(self, keys: ReleasedKeys, sizes: np.ndarray, missing: Missing) -> dict[str, Any]:
        if missing != self.missing:
            sizes = keys.sizes(missing)
        return {"smallest": int(sizes.min()), "below": _below(keys, sizes, self.k)}

    def _explanation(self, keys: ReleasedKeys, sizes: np.ndarray, readings: dict[str, Any]) -> str:
        smallest, few, n_records = int(sizes.min()), keys.count(sizes < self.k), keys.n_records
        on = ", ".join(keys.names) or "no key at all"
        alike = (
            f"At least one record is alone with its values of {on}."
            if smallest == 1
            else f"Every record shares its values of {on} with at least {smallest - 1} more."
        )
        share = f"{100 * few / n_records:.3g} %"
        told = f"{alike} Records in a group below {self.k}: {few:,} of {n_records:,} ({share})."
        wildcard = readings["wildcard"]["smallest"]
        if self.missing == "strict" and wildcard != smallest:
            told += f" If a missing value may be any value, the smallest group has {wildcard}."
        return told


def _below(keys: ReleasedKeys, sizes: np.ndarray, k: int) -> dict[str, int]:
    """Count the records in classes smaller than each usual level and than `k`."""
    return {str(level): keys.count(sizes < level) for level in sorted({*_LEVELS, k})}

"""Sample uniques: records that are alone with their keys, and the keys that single them out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.keys import Missing, frequencies, group_ids
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.progress import track
from tacit.risk._released_keys import ReleasedKeys, objection_without_keys, released_keys

_N_WORST = 10
"""Combinations of keys listed in the details."""
_MANY_COMBINATIONS = 2_000
"""Combinations looked at before a smaller `max_size` is taken instead."""


class SampleUniques(
    Risk,
    key="sample-uniques",
    title="Sample uniques",
    cites=("willenborg2001",),
    example={"keys": ["region", "sex", "age"], "max_size": 2},
):
    r"""Report the share of records that are alone with their keys, and which keys single them out.

    Missing values: ``"strict"`` takes a missing value for a value of its own, ``"wildcard"`` for
    any value; the details hold both readings, combinations of few keys are read strictly. Weights:
    not used for the share; the population the uniques stand for is in the details. Households: not
    considered; records are counted one by one.

    Notes
    -----
    With :math:`f_i` the number of records that have the keys of record :math:`i`, the value is

    .. math:: \frac{1}{n} \sum_{i=1}^{n} [f_i = 1].

    A record that is unique on few keys is worse than one that needs all of them
    [willenborg2001]_: an intruder has to know less. The details therefore list the combinations of
    at most ``max_size`` keys on which most records are unique.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> uniques = risk.SampleUniques().measure(tacit.datasets.patients())
    >>> uniques.text, uniques.details["combinations"][0]
    ('20 %', {'keys': ['Age'], 'uniques': 2, 'share': 0.2})
    """

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    max_size: Annotated[int, Ge(1)] = 3
    """Largest number of keys put together when looking for the keys that single records out."""
    missing: Missing = "strict"
    """How a missing value compares: only with another missing one, or with any value."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of unique records of the release, or of the original alone."""
        keys = released_keys(original, release, self.keys, by=self.key)
        is_unique = frequencies(keys.codes, missing=self.missing) == 1
        n_unique = int(is_unique.sum())
        on = ", ".join(keys.names) or "no key at all"
        return Measurement(
            key=self.key,
            title=self.title,
            value=n_unique / keys.n_records,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=is_unique,
            details=self._details(keys, is_unique),
            explanation=f"{n_unique:,} of {counted(keys.n_records, 'record')} "
            f"{'has' if n_unique == 1 else 'have'} values of {on} that no other record has.",
            warnings=keys.warnings,
        )

    def _details(self, keys: ReleasedKeys, is_unique: np.ndarray) -> dict[str, Any]:
        other: Missing = "wildcard" if self.missing == "strict" else "strict"
        n_other = int(np.sum(frequencies(keys.codes, missing=other) == 1))
        size = _feasible_size(len(keys.names), self.max_size)
        details: dict[str, Any] = {
            "keys": keys.names,
            "keys_removed": keys.removed,
            "missing": self.missing,
            "records": keys.n_records,
            "uniques": {self.missing: int(is_unique.sum()), other: n_other},
            "combinations_up_to": size,
            "combinations": _worst(keys, size),
        }
        if keys.weights is not None:
            details["population_of_uniques"] = float(keys.weights[is_unique].sum())
        return details


def _feasible_size(n_keys: int, max_size: int) -> int:
    """Largest size, up to `max_size`, that leaves no more combinations than can be looked at."""
    size, total = 0, 0
    while size < min(n_keys, max_size):
        total += comb(n_keys, size + 1)
        if size and total > _MANY_COMBINATIONS:
            break
        size += 1
    return size


def _worst(keys: ReleasedKeys, max_size: int) -> list[dict[str, Any]]:
    """List the combinations of keys with the most uniques, fewer keys first where they tie."""
    counts = sorted(_uniques_by_combination(keys, max_size), key=lambda c: (-c[1], len(c[0]), c[0]))
    return [
        {
            "keys": [keys.names[j] for j in columns],
            "uniques": n_unique,
            "share": n_unique / keys.n_records,
        }
        for columns, n_unique in counts[:_N_WORST]
        if n_unique
    ]


def _uniques_by_combination(
    keys: ReleasedKeys, max_size: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    ids, n_classes = group_ids(keys.codes)
    # Only the distinct keys are grouped again: there are usually far fewer of them than records.
    sizes = np.bincount(ids, minlength=n_classes)
    distinct = np.empty((n_classes, keys.codes.shape[1]), dtype=keys.codes.dtype)
    distinct[ids] = keys.codes
    n_keys = len(keys.names)
    with track("uniques", sum(comb(n_keys, s) for s in range(1, max_size + 1))) as advance:
        for size in range(1, max_size + 1):
            for columns in combinations(range(n_keys), size):
                groups, n_groups = group_ids(distinct[:, columns])
                totals = np.bincount(groups, weights=sizes, minlength=n_groups)
                yield columns, int(np.sum(totals == 1))
                advance(1)

"""Replicated uniques: people alone with their keys whose keys are alone in the release too."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._synthetic_keys import SharedKeys, shared_keys


class ReplicatedUniques(
    Risk,
    key="replicated-uniques",
    title="Replicated uniques",
    cites=("nowok2016", "raab2024"),
    example={"keys": ["sex", "age", "marital"]},
):
    r"""Report the share of people whose unique keys are also unique in the release.

    Made for synthetic data: records need not correspond. A released record that is alone with its
    keys and equals a person who is alone with them looks like that person, whether or not it was
    made from them.

    Missing values: a missing value is a value of its own. Weights: not used; each record is one
    person. Households: not considered; records are counted one by one.

    Notes
    -----
    With :math:`d_q` original and :math:`s_q` released records of the combination of keys :math:`q`,
    and :math:`N` original records [raab2024]_,

    .. math:: repU = \frac{1}{N} \sum_q [d_q = 1 \wedge s_q = 1].

    The details hold the shares of uniques of both files, and of unique people whose keys occur in
    the release at all. Where released records correspond with original ones, recoded categories
    are compared after the same recoding; numbers are compared as they are.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> data = tacit.datasets.patients()
    >>> risk.ReplicatedUniques().measure(data, data.take([0, 1, 2, 6])).text
    '10 %'
    """

    default: ClassVar[bool] = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, if there are none."""
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of original records that are unique in both files."""
        keys = shared_keys(original, release, self.keys, by=self.key)
        replicated = (keys.in_original == 1) & (keys.in_release == 1)
        n_replicated = int(replicated.sum())
        n_unique = int(np.sum(keys.in_original == 1))
        return Measurement(
            key=self.key,
            title=self.title,
            value=n_replicated / len(replicated),
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=replicated,
            units="original",
            details=_details(keys, n_unique, n_replicated),
            explanation=f"{n_unique:,} of {counted(len(replicated), 'person', 'people')} are alone "
            f"with their values of {', '.join(keys.names)}; {n_replicated:,} of them would "
            "recognise themselves in a released record that is alone with these values too.",
            warnings=keys.warnings,
        )


def _details(keys: SharedKeys, n_unique: int, n_replicated: int) -> dict[str, Any]:
    n_originals = len(keys.original)
    sizes = np.bincount(keys.released)
    is_unique = keys.in_original == 1
    return {
        "keys": keys.names,
        "keys_removed": keys.removed,
        "uniques_in_original": n_unique / n_originals,
        "uniques_in_release": float(np.sum(sizes == 1) / len(keys.released)),
        "uniques_found_in_release": float(np.sum(is_unique & (keys.in_release > 0)) / n_originals),
        "replicated": n_replicated,
        "replicated_among_uniques": n_replicated / n_unique if n_unique else 0.0,
    }

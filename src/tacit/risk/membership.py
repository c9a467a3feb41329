"""Membership inference: whether closeness to the release tells who was in the original."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.frame import collect
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.risk._linkage_fields import (
    attribute_warnings,
    chosen_attributes,
    linkage_fields,
    objection_without_numbers,
)
from tacit.risk._linkage_index import PointIndex
from tacit.risk._linkage_space import space

_NORMAL_95 = 1.959963984540054


class MembershipInference(
    Risk,
    key="membership-inference",
    title="Membership inference (AUC)",
    cites=("chen2020", "hanley1982"),
    example={"attributes": ["age", "hours", "income", "taxes"]},
):
    r"""Report how well the distance to the nearest released record tells members from others.

    Members are the records the release was made from; the hold-out are records of the same
    population it was not made from. Members that lie closer give themselves away.

    Missing values: a value missing on either side counts as the mean squared distance between two
    original records. Weights: not used; each record is one person. Households: not considered, but
    a hold-out should not contain relatives of members.

    Notes
    -----
    With :math:`d_i` the distance (as in distance-based linkage, standardised) of a member and
    :math:`d_j` that of a hold-out record to the nearest released record, the value is the area
    under the attacker's ROC curve [chen2020]_, [hanley1982]_,

    .. math:: AUC = P(d_i < d_j) + \frac{1}{2} P(d_i = d_j),

    0.5 if distances tell nothing and 1 if they tell all. The interval is the 95 % interval of
    [hanley1982]_. The value per record is the share of the hold-out that is farther away than a
    member; the hold-out has none.

    The hold-out is marked by a column of the original (``members``: true for members). Without
    one, it is the original records that were not released, say because the release is a sample;
    if all were released, the value is not defined.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(400)
    >>> release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(data, seed=1)
    >>> round(
    ...     risk.MembershipInference(attributes=["age", "income"]).measure(data, release).value, 2
    ... )
    0.8
    """

    default: ClassVar[bool] = False

    attributes: Columns | None = None
    """Columns the intruder knows; by default the numeric columns that both files have."""
    members: str | None = None
    """Column of the original that is true for members and false for the hold-out."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no number, if there is none."""
        return objection_without_numbers(original, named=self.attributes is not None)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the area under the attacker's ROC curve."""
        both = pair(original, release)
        for side in (both.original, both.released):
            if side.n_records == 0:
                raise DataError(f"{self.key} needs at least one record", got="an empty file")
        is_member = self._is_member(both)
        if self.members is not None:
            # Positions in the release count members only, so they say nothing about this file.
            both = replace(both, rows=None)
        names = [
            n for n in chosen_attributes(both, self.attributes, by=self.key) if n != self.members
        ]
        where = space(linkage_fields(both, names), "standardised", by=self.key)
        distances = np.sqrt(PointIndex(*where.parts).nearest(where.targets))
        closer = share_farther(distances[is_member], distances[~is_member])
        return self._measurement(both, names, is_member, distances, closer)

    def _is_member(self, both: Pair) -> np.ndarray:
        if self.members is None:
            released = np.zeros(both.original.n_records, dtype=bool)
            released[both.matched[0]] = True
            return released
        both.original.schema.require([self.members])
        values = collect(both.original.lazy.select(self.members))[self.members]
        if values.null_count() or not set(values.unique().to_list()) <= {True, False}:
            raise DataError(
                f"the column {self.members!r} must be true or false on every record",
                do="mark the records that the release was made from as true",
            )
        return np.asarray(values.to_numpy(), dtype=bool)

    def _measurement(
        self,
        both: Pair,
        names: list[str],
        is_member: np.ndarray,
        distances: np.ndarray,
        closer: np.ndarray,
    ) -> Measurement:
        n_members, n_others = int(is_member.sum()), int(np.sum(~is_member))
        value = float(closer.mean()) if n_members and n_others else float("nan")
        per_record = np.full(len(is_member), np.nan)
        per_record[is_member] = closer
        return Measurement(
            key=self.key,
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, 1.0),
            per_unit=per_record,
            units="original",
            interval=_interval(value, n_members, n_others),
            details={
                "attributes": names,
                "members": n_members,
                "hold_out": n_others,
                "median_distance_members": _median(distances[is_member]),
                "median_distance_hold_out": _median(distances[~is_member]),
                "exact_copies": int(np.sum(distances[is_member] == 0)),
            },
            explanation=_explanation(value, names),
            warnings=attribute_warnings(both, names, self.attributes is not None),
        )


def share_farther(members: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each member the share of the others that are farther away, ties half."""
    if not len(others):
        return np.full(len(members), np.nan)
    ordered = np.sort(others)
    nearer = np.searchsorted(ordered, members)
    not_farther = np.searchsorted(ordered, members, side="right")
    return np.asarray(1 - (nearer + not_farther) / (2 * len(ordered)))


def _interval(value: float, n_members: int, n_others: int) -> tuple[float, float] | None:
    """95 % interval of an area under a ROC curve."""
    if np.isnan(value):
        return None
    # Eq. (2) of hanley1982, with its approximations of Q1 and Q2.
    both_members, both_others = value / (2 - value), 2 * value**2 / (1 + value)
    variance = (
        value * (1 - value)
        + (n_members - 1) * (both_members - value**2)
        + (n_others - 1) * (both_others - value**2)
    ) / (n_members * n_others)
    margin = _NORMAL_95 * float(np.sqrt(max(variance, 0.0)))
    return max(value - margin, 0.0), min(value + margin, 1.0)


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _explanation(value: float, names: list[str]) -> str:
    if np.isnan(value):
        return (
            "There is no hold-out to compare with: every original record was released. Mark the "
            "records the release was made from in a column and name it."
        )
    return (
        f"Given a person in the original and one who is not, the one closer to the release on "
        f"{', '.join(names)} is the one in the original with probability {100 * value:.3g} %; "
        "50 % would tell nothing."
    )

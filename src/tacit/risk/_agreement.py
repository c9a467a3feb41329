r"""How well external information agrees with records, summed without comparing every pair.

The agreement of a target :math:`x` with a record :math:`y` is a product over fields:

* exact: :math:`[x_c = y_c]`;
* misread: :math:`b_c + (1 - \epsilon_c - b_c)[x_c = y_c]`, with probability of error
  :math:`\epsilon_c` and :math:`b_c = \epsilon_c / (m_c - 1)` for :math:`m_c` categories;
* within: :math:`b_c + (1 - \epsilon_c - b_c)[x_c \in y_c]` for a label that stands for values, with
  :math:`\epsilon_c` the error of what the intruder knows;
* near: :math:`u_c [x_c = y_c] + (1 - u_c) \delta_c \varphi_{\sigma_c}(x_c - y_c)`, with
  :math:`u_c` the share that stayed equal, :math:`\varphi` the normal density and :math:`\delta_c`
  the gap between values, which makes the density a probability.

Multiplying out leaves sums over records that are equal on some fields and near on others. The
former are counted by groups, the latter summed over neighbours on a grid; labels are sets of bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from tacit.core.errors import DataError
from tacit.core.keys import group_ids
from tacit.risk._external import STEPS_PER_ERROR, KnownField
from tacit.risk._membership import Labels, covered_totals
from tacit.risk._neighbours import near_totals

Way = Literal["equal", "within", "near", "any"]
_REACH = 4 * STEPS_PER_ERROR
"""Numbers more than four errors apart do not agree."""
_FACTORS = np.exp(-0.5 * (np.arange(_REACH + 1) / STEPS_PER_ERROR) ** 2)
_MOST_WAYS = 4096
"""Ways to agree that are multiplied out: each field with two ways doubles the work."""


class AgreementModel:
    """Agreement between rows of codes: a column per field, then the places of the near fields."""

    def __init__(self, fields: Sequence[KnownField]) -> None:
        self.n_fields = len(fields)
        self._ways = [_ways_to_agree(field) for field in fields]
        self._labels = {c: f.labels for c, f in enumerate(fields) if f.labels is not None}
        near = [c for c, field in enumerate(fields) if field.places is not None]
        self._place = {c: len(fields) + q for q, c in enumerate(near)}
        n_ways = int(np.prod([len(ways) for ways in self._ways], dtype=object))
        if n_ways > _MOST_WAYS:
            raise DataError(
                "too many fields were perturbed to match them all with errors",
                got=sum(len(ways) > 1 for ways in self._ways),
                do="name fewer keys, or set matching to exact",
            )

    def each(self, targets: np.ndarray, records: np.ndarray) -> np.ndarray:
        """Return the agreement of each target with the record beside it.

        Fields that one side lacks agree.
        """
        agreement = np.ones(len(targets))
        for c, ways in enumerate(self._ways):
            factor = np.zeros(len(targets))
            for way, coefficient in ways:
                factor += coefficient * self._agrees(targets, records, c, way)
            is_compared = (targets[:, c] >= 0) & (records[:, c] >= 0)
            agreement *= np.where(is_compared, factor, 1.0)
        return agreement

    def _agrees(self, targets: np.ndarray, records: np.ndarray, c: int, way: Way) -> np.ndarray:
        if way == "any":
            return np.ones(len(targets))
        if way == "equal":
            return np.asarray(targets[:, c] == records[:, c], dtype=np.float64)
        if way == "within":
            return self._labels[c].cover(targets[:, c], records[:, c]).astype(np.float64)
        distance = np.abs(targets[:, self._place[c]] - records[:, self._place[c]])
        return np.where(distance <= _REACH, _FACTORS[distance.clip(0, _REACH)], 0.0)

    def totals(
        self, targets: np.ndarray, records: np.ndarray, weights: np.ndarray, fields: Sequence[int]
    ) -> np.ndarray:
        """Sum, for each target, the weights of the records times their agreement on `fields`."""
        total = np.zeros(len(targets))
        for way, coefficient in self._expansion(fields):
            total += coefficient * _way_totals(targets, records, weights, way)
        return total

    def _expansion(self, fields: Sequence[int]) -> Iterator[tuple[_Joint, float]]:
        """Multiply out: how columns must agree together, and a coefficient."""
        for choice in product(*(self._ways[c] for c in fields)):
            chosen = list(zip(fields, choice, strict=True))
            way = _Joint(
                equal=[c for c, (way, _) in chosen if way == "equal"],
                within={c: self._labels[c] for c, (way, _) in chosen if way == "within"},
                near=[self._place[c] for c, (way, _) in chosen if way == "near"],
            )
            yield way, float(np.prod([coefficient for _, coefficient in choice]))


@dataclass(frozen=True)
class _Joint:
    """Columns that must be equal, those whose labels must cover the value, and those near."""

    equal: list[int]
    within: dict[int, Labels]
    near: list[int]


def _ways_to_agree(field: KnownField) -> list[tuple[Way, float]]:
    """List the ways in which a field may agree, with their probability."""
    if field.agreement == "exact":
        return [("equal", 1.0)]
    if field.agreement in ("misread", "within"):
        way: Way = "equal" if field.agreement == "misread" else "within"
        if field.error == 0:
            return [(way, 1.0)]
        n_values = max(field.n_values, 2)
        error = min(field.error, (n_values - 1) / n_values)
        other = error / (n_values - 1)
        return [(way, 1 - error - other), ("any", other)]
    if field.unchanged == 0:
        return [("near", 1.0)]
    density = min(1.0, field.gap / (field.error * np.sqrt(2 * np.pi)))
    return [("equal", field.unchanged), ("near", (1 - field.unchanged) * density)]


def _way_totals(
    targets: np.ndarray, records: np.ndarray, weights: np.ndarray, way: _Joint
) -> np.ndarray:
    """Sum the weights of the records that agree with each target in one way."""
    equal, near = way.equal, way.near
    ids, n_groups = group_ids(np.concatenate([targets[:, equal], records[:, equal]]))
    of_targets, of_records = ids[: len(targets)], ids[len(targets) :]
    if way.within:
        covered = list(way.within)
        sides = (
            (of_targets, targets[:, covered], targets[:, near]),
            (of_records, records[:, covered], records[:, near]),
        )
        return covered_totals(*sides, weights, list(way.within.values()), _FACTORS)
    if near:
        # Groups lie so far apart that records of different groups are out of reach.
        return near_totals(
            np.column_stack([of_targets * (_REACH + 1), targets[:, near]]),
            np.column_stack([of_records * (_REACH + 1), records[:, near]]),
            weights,
            _FACTORS,
        )
    totals = np.bincount(of_records, weights=weights, minlength=n_groups)
    return np.asarray(totals[of_targets])

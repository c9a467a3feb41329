"""Interval disclosure: original values that lie close around their released value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair
from tacit.risk._linkage_fields import (
    LinkageField,
    attribute_warnings,
    chosen_attributes,
    linkage_fields,
    objection_without_numbers,
)
from tacit.risk._linkage_pair import linked_pair

Interval = Literal["rank", "deviation"]


class IntervalDisclosure(
    Risk,
    key="interval-disclosure",
    title="Interval disclosure (ID)",
    cites=("domingoferrer2001", "domingoferrer2007", "mateosanz2004"),
    example={"attributes": ["age", "hours", "income", "taxes"]},
):
    r"""Report the share of original values that lie in an interval around their released value.

    Missing values: values missing in the original are not counted; suppressed ones, and those of
    records not released, are not disclosed. Weights: not used; each value counts the same.
    Households: not considered.

    Notes
    -----
    With :math:`I_p(x'_{ij})` an interval around the released value, and widths :math:`p` of 1 to 10
    percent, the value is [domingoferrer2001]_, [domingoferrer2007]_

    .. math:: ID = \frac{1}{10} \sum_{p=1}^{10} \frac{1}{nm} \sum_{i=1}^{n} \sum_{j=1}^{m}
       [x_{ij} \in I_p(x'_{ij})].

    ``"rank"``: each released variable is ranked by itself; the interval reaches from the value
    :math:`\lfloor pn/100 \rfloor` ranks below :math:`x'_{ij}` to the value as many ranks above it,
    ends included, and stops at the smallest and largest released value. Equal values have their
    ranks in random order, so that a value shared by many records lies in a narrow interval for
    most of them; the value is the expectation over that order. ``"deviation"``: it reaches
    :math:`p` percent of the original's standard deviation to either side [mateosanz2004]_.

    The share of records all of whose values lie in their intervals is in the details, by width.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> disclosure = risk.IntervalDisclosure(attributes=["age"])
    >>> release = tacit.Plan([mask.RankSwap(columns=["age"], p=20)]).apply(data, seed=1)
    >>> disclosure.measure(data).text, disclosure.measure(data, release).value < 0.5
    ('100 %', True)
    """

    attributes: Columns | None = None
    """Numeric, ordinal or date columns; by default the numeric columns that both files have."""
    interval: Interval = "rank"
    """How an interval is laid around a released value: by ranks or by standard deviations."""
    widths: tuple[Annotated[float, Gt(0), Le(100)], ...] = tuple(range(1, 11))
    """Half widths of the intervals, in percent of the records or of the standard deviation."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no number, if there is none."""
        return objection_without_numbers(original, named=self.attributes is not None)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of original values inside their intervals."""
        if not self.widths:
            raise DataError(f"{self.key} needs at least one width")
        both, warnings = linked_pair(original, release, self.record_id, by=self.key)
        names = chosen_attributes(both, self.attributes, by=self.key)
        found = self._disclosed(both, linkage_fields(both, names))
        value = _over(found.by_width.sum(), found.n_values * len(self.widths))
        return Measurement(
            key=self.key,
            title=self.title,
            value=float(value),
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=_over(found.per_record, found.n_known * len(self.widths)),
            units="original",
            details={
                "interval": self.interval,
                "by_attribute": dict(zip(names, found.by_attribute, strict=True)),
                "by_width": self._by_width(_over(found.by_width, found.n_values)),
                "records_wholly_inside": self._by_width(found.wholly_inside),
                "values": found.n_values,
            },
            explanation=_explanation(float(value), names, self.interval, self.widths),
            warnings=(*warnings, *attribute_warnings(both, names, self.attributes is not None)),
        )

    def _by_width(self, values: np.ndarray) -> dict[str, float]:
        return {f"{w:g} %": float(v) for w, v in zip(self.widths, values, strict=True)}

    def _disclosed(self, both: Pair, fields: list[LinkageField]) -> _Disclosed:
        """Add up the chances that values lie in their intervals, field by field."""
        at, to = both.matched
        n = both.original.n_records
        found = _Disclosed.nothing(n, len(self.widths))
        for field in fields:
            if field.scale == "nominal":
                raise DataError(f"{self.key}: there are no intervals of {field.name!r}")
            chances = _INSIDE[self.interval](field, at, to, np.array(self.widths))
            found.add(_by_original(chances, at, n), ~np.isnan(field.external))
        return found


@dataclass
class _Disclosed:
    """Sums over the values looked at so far of the chances that they lie in their intervals."""

    per_record: np.ndarray
    n_known: np.ndarray
    """Values of each record that are there to be disclosed."""
    by_width: np.ndarray
    all_inside: np.ndarray
    """Chance, by record and width, that all values of a record lie in their intervals."""
    by_attribute: list[float]

    @classmethod
    def nothing(cls, n_records: int, n_widths: int) -> _Disclosed:
        inside = np.ones((n_records, n_widths))
        return cls(np.zeros(n_records), np.zeros(n_records), np.zeros(n_widths), inside, [])

    def add(self, inside: np.ndarray, is_known: np.ndarray) -> None:
        """Add one field; what the original lacks cannot be disclosed."""
        self.all_inside[is_known] *= inside[is_known]
        inside[~is_known] = 0.0
        self.per_record += inside.sum(axis=1)
        self.n_known += is_known
        self.by_width += inside.sum(axis=0)
        self.by_attribute.append(float(_over(inside.sum(), is_known.sum() * inside.shape[1])))

    @property
    def n_values(self) -> int:
        """Number of values looked at."""
        return int(self.n_known.sum())

    @property
    def wholly_inside(self) -> np.ndarray:
        """Share of the records that have a value, by width, all of whose values are disclosed."""
        known = self.n_known > 0
        return _over(self.all_inside[known].sum(axis=0), known.sum())


def _inside_ranks(
    field: LinkageField, at: np.ndarray, to: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Return for each pair and width the chance that the original is inside the released ranks.

    Released values that are equal take ranks ``first`` to ``last`` in random order. With rank r the
    interval holds x if the value at r - reach is not above x and the value at r + reach not below.
    """
    ordered = np.sort(field.released[~np.isnan(field.released)])
    n = len(ordered)
    chance = np.zeros((len(at), len(widths)))
    if not n:
        return chance
    # In the order of the released values, so that neighbours are looked up one after the other.
    order = np.argsort(field.released[to])
    old, new = field.external[at[order]], field.released[to[order]]
    reach = np.floor(widths * n / 100 + 1e-9).astype(np.int64)
    first, last = np.searchsorted(ordered, new), np.searchsorted(ordered, new, side="right") - 1
    not_below, not_above = np.searchsorted(ordered, old), np.searchsorted(ordered, old, "right") - 1
    lowest = np.maximum(first[:, None], not_below[:, None] - reach)
    highest = np.minimum(last[:, None], not_above[:, None] + reach)
    beyond = (not_below == n) | (not_above < 0) | np.isnan(new) | np.isnan(old)
    size = np.where(beyond, 1, last - first + 1)
    inside = np.maximum(highest - lowest + 1, 0) / size[:, None]
    chance[order] = np.where(beyond[:, None], 0.0, inside)
    return chance


def _inside_deviations(
    field: LinkageField, at: np.ndarray, to: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Say of each pair and width whether the values differ by at most so many deviations."""
    known = field.external[~np.isnan(field.external)]
    deviation = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    change = np.abs(field.external[at] - field.released[to])
    return np.asarray(change[:, None] <= widths / 100 * deviation, dtype=np.float64)


_INSIDE = {"rank": _inside_ranks, "deviation": _inside_deviations}


def _by_original(chances: np.ndarray, at: np.ndarray, n_originals: int) -> np.ndarray:
    """Give chances of pairs to original records; the best of several copies discloses a record."""
    inside = np.zeros((n_originals, chances.shape[1]))
    if np.bincount(at).max(initial=0) <= 1:
        inside[at] = chances
    else:
        np.maximum.at(inside, at, chances)
    return inside


def _over(total: Any, counted: Any) -> np.ndarray:
    """Divide, NaN where nothing was counted."""
    total, counted = np.broadcast_arrays(np.asarray(total, dtype=np.float64), counted)
    nothing = np.full(total.shape, np.nan)
    return np.asarray(np.divide(total, counted, out=nothing, where=counted > 0))


def _explanation(
    value: float, names: list[str], interval: Interval, widths: tuple[float, ...]
) -> str:
    if np.isnan(value):
        return "No original value can be compared."
    of = "of the records in rank" if interval == "rank" else "of the standard deviation"
    narrow, wide = min(widths), max(widths)
    span = f"{narrow:g} %" if narrow == wide else f"{narrow:g} to {wide:g} %"
    return (
        f"{100 * value:.3g} % of the original values of {', '.join(names)} lie within {span} {of} "
        "of their released value."
    )

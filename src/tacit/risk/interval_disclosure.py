"""Interval disclosure: original values that lie close around their released value."""

from __future__ import annotations

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
)
from tacit.risk._linkage_pair import known_columns, linked_pair, order_warnings

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
    ends included, and stops at the smallest and largest released value. Equal values share all
    their ranks. ``"deviation"``: it reaches :math:`p` percent of the original's standard deviation
    to either side [mateosanz2004]_.

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
        if self.attributes is None and not known_columns(original):
            return "no numeric column, and no other attribute was named"
        return None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of original values inside their intervals."""
        if not self.widths:
            raise DataError(f"{self.key} needs at least one width")
        both = linked_pair(original, release, self.record_id, by=self.key)
        names = chosen_attributes(both, self.attributes, by=self.key)
        warnings = order_warnings(both, release, self.record_id, by=self.key)
        hits = self._hits(both, linkage_fields(both, names))
        per_record = _mean(hits, axis=(1, 2))
        value = float(_mean(hits, axis=None))
        return Measurement(
            key=self.key,
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=per_record,
            units="original",
            details={
                "interval": self.interval,
                "by_attribute": dict(zip(names, _mean(hits, axis=(0, 2)).tolist(), strict=True)),
                "by_width": _by_width(self.widths, _mean(hits, axis=(0, 1))),
                "records_wholly_inside": _by_width(self.widths, _wholly_inside(hits)),
                "values": int(np.sum(hits[:, :, 0] >= 0)),
            },
            explanation=_explanation(value, names, self.interval, self.widths),
            warnings=(*warnings, *attribute_warnings(both, names, self.attributes is not None)),
        )

    def _hits(self, both: Pair, fields: list[LinkageField]) -> np.ndarray:
        """Say of records by attributes by widths who is disclosed: 1, 0, or -1 if not counted."""
        at, to = both.matched
        n_originals = both.original.n_records
        hits = np.zeros((n_originals, len(fields), len(self.widths)), dtype=np.int8)
        for c, field in enumerate(fields):
            if field.scale == "nominal":
                raise DataError(f"{self.key}: there are no intervals of {field.name!r}")
            inside = _INSIDE[self.interval](field, at, to, np.array(self.widths))
            for w in range(len(self.widths)):
                # A record that was released more than once is disclosed if one copy discloses it.
                hits[at[inside[:, w]], c, w] = 1
            hits[np.isnan(field.external), c, :] = -1
        return hits


def _inside_ranks(
    field: LinkageField, at: np.ndarray, to: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Say of each pair and width whether the original is inside the released value's ranks."""
    ordered = np.sort(field.released[~np.isnan(field.released)])
    if not len(ordered):
        return np.zeros((len(at), len(widths)), dtype=bool)
    # In the order of the released values, so that neighbours are looked up one after the other.
    order = np.argsort(field.released[to])
    old, new = field.external[at[order]], field.released[to[order]]
    reach = np.floor(widths * len(ordered) / 100 + 1e-9).astype(np.int64)
    first = np.searchsorted(ordered, new)[:, None] - reach
    last = np.searchsorted(ordered, new, side="right")[:, None] - 1 + reach
    low, high = (ordered[np.clip(rank, 0, len(ordered) - 1)] for rank in (first, last))
    inside = np.empty((len(at), len(widths)), dtype=bool)
    inside[order] = (low <= old[:, None]) & (old[:, None] <= high) & ~np.isnan(new)[:, None]
    return inside


def _inside_deviations(
    field: LinkageField, at: np.ndarray, to: np.ndarray, widths: np.ndarray
) -> np.ndarray:
    """Say of each pair and width whether the values differ by at most so many deviations."""
    known = field.external[~np.isnan(field.external)]
    deviation = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    change = np.abs(field.external[at] - field.released[to])
    return np.asarray(change[:, None] <= widths / 100 * deviation)


_INSIDE = {"rank": _inside_ranks, "deviation": _inside_deviations}


def _mean(hits: np.ndarray, axis: Any) -> np.ndarray:
    """Mean over what is counted, NaN where nothing is."""
    counted = np.sum(hits >= 0, axis=axis)
    total = np.asarray(np.sum(hits == 1, axis=axis), dtype=np.float64)
    mean = np.divide(total, counted, out=np.full(np.shape(total), np.nan), where=counted > 0)
    return np.asarray(mean)


def _wholly_inside(hits: np.ndarray) -> np.ndarray:
    """Share of records, by width, all of whose values there are lie in their intervals."""
    counted = (hits[:, :, 0] >= 0).any(axis=1)
    return _mean((hits[counted] != 0).all(axis=1).astype(np.int8), axis=0)


def _by_width(widths: tuple[float, ...], values: np.ndarray) -> dict[str, float]:
    return {f"{w:g} %": float(v) for w, v in zip(widths, values, strict=True)}


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

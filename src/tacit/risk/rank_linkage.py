"""Rank-based record linkage, which knows how far rank swapping can have moved a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.risk._linkage_fields import (
    LinkageField,
    attribute_warnings,
    chosen_attributes,
    linkage_fields,
    objection_without_numbers,
)
from tacit.risk._linkage_index import PointIndex, own_shares, paired_distances
from tacit.risk._linkage_pair import linked_pair
from tacit.risk._linkage_result import linkage_measurement


class RankLinkage(
    Risk,
    key="rank-linkage",
    title="Rank-based record linkage",
    cites=("nin2008", "moore1996"),
    example={"attributes": ["age", "hours", "income", "taxes"]},
):
    r"""Report the share of people found by intersecting windows of rank around what is known.

    An intruder who knows that values were swapped within a window of rank keeps, for each person,
    the released records inside the windows of all attributes at once.

    Missing values: a value missing on either side excludes no record. Weights: not used; each
    record is one person. Households: not considered; records are linked one by one.

    Notes
    -----
    Rank swapping moves a value by at most :math:`w = \lfloor pn / 100 \rfloor` ranks. The
    candidates for record :math:`i` are [nin2008]_

    .. math:: B_i = \bigcap_c \{j: |rank(x'_{jc}) - rank(x_{ic})| \le w_c\},

    ranks being those among the released values, and equal values sharing all their ranks. The value
    is the mean over original records of :math:`[i \in B_i] / |B_i|` if a candidate is picked at
    random, and of the chance that the own record is the candidate nearest in rank (squared
    differences summed over attributes, ties split) if the nearest one is taken. The latter finds
    more people where several attributes are known, but fewer than chance where only one is, since
    swapping moves every value. The own record is always a candidate if
    the window is right; by default it is the narrowest one that holds all true pairs, which the
    intruder is taken to know. People who were not released count as not linked.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> columns = ["age", "hours", "income", "taxes"]
    >>> release = tacit.Plan([mask.RankSwap(columns=columns, p=2)]).apply(data, seed=1)
    >>> by_rank = risk.RankLinkage(attributes=columns, p=2).measure(data, release)
    >>> by_rank.value > risk.DistanceLinkage(attributes=columns).measure(data, release).value
    True
    """

    default: ClassVar[bool] = False

    attributes: Columns | None = None
    """Numeric, ordinal or date columns that were swapped; by default the shared numeric ones."""
    p: Annotated[float, Gt(0), Le(100)] | None = None
    """Largest difference of ranks, in percent; by default what holds all true pairs."""
    choice: Literal["best", "nearest", "any"] = "best"
    """Whether the intruder takes the candidate nearest in rank, any candidate, or does whichever
    of the two finds more people."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no number, if there is none."""
        return objection_without_numbers(original, named=self.attributes is not None)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of right links among the original records."""
        both, warnings = linked_pair(original, release, self.record_id, by=self.key)
        names = chosen_attributes(both, self.attributes, by=self.key)
        at, to = both.matched
        columns = [
            RankedColumn.of(f, at, to, self.p, by=self.key) for f in linkage_fields(both, names)
        ]
        by_choice, n_candidates = windowed_links(columns, at, to)
        choice = self.choice if self.choice != "best" else max(by_choice, key=_mean_of(by_choice))
        details = {
            "attributes": names,
            "choice": choice,
            "windows": dict(zip(names, [c.window for c in columns], strict=True)),
            "by_choice": {choice: float(found.mean()) for choice, found in by_choice.items()},
            "median_candidates": float(np.median(n_candidates[at])),
        }
        warnings += attribute_warnings(both, names, self.attributes is not None)
        share = by_choice[choice]
        return linkage_measurement(self, both, share, names, details=details, warnings=warnings)


def _mean_of(by_choice: dict[str, np.ndarray]) -> Callable[[str], float]:
    return lambda choice: float(by_choice[choice].mean())


@dataclass(frozen=True)
class RankedColumn:
    """One attribute as ranks among the released values, divided by their number."""

    targets: np.ndarray
    """Middle rank of each original value."""
    points: np.ndarray
    """Middle rank of each released value."""
    floors: np.ndarray
    """Lowest rank a target's own value may have been moved to."""
    ceilings: np.ndarray
    """Highest rank."""
    window: int
    """Largest difference of ranks."""

    @classmethod
    def of(
        cls, field: LinkageField, at: np.ndarray, to: np.ndarray, p: float | None, *, by: str
    ) -> RankedColumn:
        """Rank a field; without `p` the window is the narrowest that holds all true pairs."""
        if field.scale == "nominal":
            raise DataError(f"{by}: values without an order have no rank", got=repr(field.name))
        ordered = np.sort(field.released[~np.isnan(field.released)])
        if not len(ordered):
            raise DataError(f"{by}: the release has no value of {field.name!r}")
        first, last = _rank_span(ordered, field.external)
        own_first, own_last = _rank_span(ordered, field.released)
        gaps = np.maximum(own_first[to] - last[at], first[at] - own_last[to])
        known = ~(np.isnan(field.external[at]) | np.isnan(field.released[to]))
        window = max(int(gaps[known].max(initial=0)), 0)
        if p is not None:
            window = max(int(p / 100 * len(ordered)), 1)
        low = ordered[np.clip(first - window, 0, len(ordered) - 1)]
        high = ordered[np.clip(last + window, 0, len(ordered) - 1)]
        is_known = ~np.isnan(field.external)
        return cls(
            _middle_rank(ordered, field.external),
            _middle_rank(ordered, field.released),
            np.where(is_known, _middle_rank(ordered, low), -np.inf),
            np.where(is_known, _middle_rank(ordered, high), np.inf),
            window,
        )


def _rank_span(ordered: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last rank of values; one that does not occur lies between its neighbours."""
    return np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right") - 1


def _middle_rank(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    first, last = _rank_span(ordered, values)
    return np.where(np.isnan(values), np.nan, (first + last) / (2.0 * len(ordered)))


def windowed_links(
    columns: list[RankedColumn], at: np.ndarray, to: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return each original's chance of a right link by choice, and its number of candidates."""
    targets, points, floors, ceilings = (
        np.column_stack([getattr(c, part) for c in columns])
        for part in ("targets", "points", "floors", "ceilings")
    )
    n_originals = len(targets)
    index = PointIndex(points, len(columns), np.zeros(len(columns)))
    own = paired_distances(targets[at], points[to], len(columns), np.zeros(len(columns)))
    outside = (points[to] < floors[at]) | (points[to] > ceilings[at])
    is_inside = ~outside.any(axis=1)
    radius = np.full(n_originals, -1.0)
    inside_at = at[is_inside]
    radius[inside_at] = np.inf
    np.minimum.at(radius, inside_at, own[is_inside])
    n_all, n_nearer, n_tied = index.within_windows(targets, floors, ceilings, radius).T
    is_best = is_inside & (own <= radius[at] * (1 + 1e-9) + 1e-18)
    found = {
        "nearest": own_shares(at, is_best, np.where(n_nearer > 0, 0.0, n_tied), n_originals),
        "any": own_shares(at, is_inside, n_all, n_originals),
    }
    return found, n_all

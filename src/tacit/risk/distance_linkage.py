"""Distance-based record linkage: whose nearest released record is their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.core.families import Risk
from tacit.core.gpu import Device, enough_memory, gpu_arrays
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair
from tacit.risk._linkage_fields import (
    attribute_warnings,
    chosen_attributes,
    linkage_fields,
    objection_without_numbers,
)
from tacit.risk._linkage_index import PointIndex, held_once, own_shares, paired_distances
from tacit.risk._linkage_pair import linked_pair
from tacit.risk._linkage_result import linkage_measurement, objection_to_size
from tacit.risk._linkage_space import Distance, Space, space


class DistanceLinkage(
    Risk,
    key="distance-linkage",
    title="Distance-based record linkage (DLD)",
    cites=("domingoferrer2001", "domingoferrer2007"),
    example={"attributes": ["age", "hours", "income", "taxes"]},
):
    r"""Report the share of people whose nearest released record is their own.

    An intruder who knows the attributes of everybody takes, for each person, the released record at
    the smallest distance. Records of equal distance are picked from at random.

    Missing values: a value missing on either side counts as the mean squared distance between two
    original records, the same for all. Weights: not used; each record is one person. Households:
    not considered; records are linked one by one.

    Notes
    -----
    With :math:`x_i` the original and :math:`x'_i` the released values of record :math:`i`,

    .. math::

       DLD = \frac{1}{n} \sum_{i=1}^{n} \frac{[d(x_i, x'_i) = \min_j d(x_i, x'_j)]}
       {\#\{k: d(x_i, x'_k) = \min_j d(x_i, x'_j)\}},

    the distance-based linkage of [domingoferrer2001]_ that enters the score of
    [domingoferrer2007]_. People who were not released count as not linked. The squared distance
    is a sum over attributes: of numbers, the squared difference in standard deviations of the
    original; of ordinal categories, the squared share of the way from the first to the last; of
    others, 0 or 1. ``"mahalanobis"`` allows for correlations of numbers and leaves out directions
    in which the original does not vary.

    Several scenarios, each a set of attributes known, give the average of their shares; with
    ``growing`` the intruders know the first attribute, the first two, and so on up to all.

    The search is exact but looks at few pairs: the distance to the own record is known, so an
    index only has to find one record nearer than that. A graphics processor (``device="gpu"``)
    looks at all of them.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> linkage = risk.DistanceLinkage(attributes=["age", "income"])
    >>> plan = tacit.Plan([mask.Mdav(columns=["age", "income"], k=4)])
    >>> round(linkage.measure(data, plan.apply(data, seed=1)).value, 3)
    0.186
    """

    attributes: Columns | None = None
    """Columns the intruder knows; by default the numeric columns that both files have."""
    distance: Distance = "standardised"
    """How distances are measured: in standard deviations, or allowing for correlations too."""
    scenarios: tuple[Columns, ...] | None = None
    """Several sets of attributes, each known to another intruder; the value is the average."""
    growing: bool = False
    """Average over intruders who know only the first attribute, the first two, up to all."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""
    largest_file: Annotated[int, Ge(1)] = 20_000
    """Files with more records are left out of a scorecard, where every measure is taken twice."""
    device: Device = "cpu"
    """Where distances are computed; the links are the same."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no number, or that the file is large."""
        without = objection_without_numbers(original, named=self._is_named)
        return without or objection_to_size(original, self.largest_file)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of right links among the original records."""
        both, warnings = linked_pair(original, release, self.record_id, by=self.key)
        sets = self._sets(both)
        names = list(dict.fromkeys(name for chosen in sets for name in chosen))
        linked = [self._linked(both, chosen) for chosen in sets]
        details = {
            "attributes": names,
            "distance": self.distance,
            "scenarios": [
                {"attributes": chosen, "linked": float(found.mean())}
                for chosen, found in zip(sets, linked, strict=True)
            ],
        }
        warnings += attribute_warnings(both, names, self._is_named)
        share = np.mean(linked, axis=0)
        return linkage_measurement(self, both, share, names, details=details, warnings=warnings)

    @property
    def _is_named(self) -> bool:
        return self.attributes is not None or self.scenarios is not None

    def _sets(self, both: Pair) -> list[list[str]]:
        """List the sets of attributes that intruders know."""
        if self.scenarios is not None:
            if self.attributes is not None or self.growing:
                raise ParameterError(
                    f"{self.key}: scenarios say which attributes are known",
                    do="leave out attributes and growing",
                )
            return [chosen_attributes(both, chosen, by=self.key) for chosen in self.scenarios]
        names = chosen_attributes(both, self.attributes, by=self.key)
        return [names[: n + 1] for n in range(len(names))] if self.growing else [names]

    def _linked(self, both: Pair, names: Sequence[str]) -> np.ndarray:
        where = space(linkage_fields(both, names), self.distance, by=self.key)
        return nearest_own(where, *both.matched, device=self.device)


def nearest_own(
    where: Space, at: np.ndarray, to: np.ndarray, *, device: Device = "cpu"
) -> np.ndarray:
    """Return each original's chance that its nearest released record is its own.

    Parameters
    ----------
    where
        Coordinates of original and released records.
    at, to
        Positions of the true pairs in the original and in the release.
    device
        Where all the other pairs are looked at.
    """
    n_originals = len(where.targets)
    own = paired_distances(where.targets[at], where.points[to], where.n_measured, where.blank)
    radius = np.full(n_originals, np.inf)
    np.minimum.at(radius, at, own)
    released = np.flatnonzero(np.isfinite(radius))
    # Neighbours are looked up one after the other, so that their boxes stay in the cache.
    released = released[np.lexsort(where.targets[released, :1].T)]
    tied = np.zeros(n_originals)
    find = _tied_on_gpu if device == "gpu" else _tied
    tied[released] = find(where, where.targets[released], radius[released])
    is_best = own <= radius[at] * (1 + 1e-9) + 1e-18
    return own_shares(at, is_best, tied, n_originals)


def _tied(where: Space, targets: np.ndarray, radius: np.ndarray) -> np.ndarray:
    return PointIndex(*where.parts).tied_at(targets, radius)


def _tied_on_gpu(where: Space, targets: np.ndarray, radius: np.ndarray) -> np.ndarray:
    from tacit.risk._linkage_gpu import DevicePoints
    from tacit.risk._linkage_kernel import ABSOLUTE, RELATIVE

    arrays = gpu_arrays(by=DistanceLinkage.key)
    with enough_memory(arrays, by=DistanceLinkage.key):
        held, amounts = held_once(where.points)
        points = DevicePoints(
            arrays, held, amounts, where.n_measured, where.blank, (RELATIVE, ABSOLUTE)
        )
        return points.tied_at(np.ascontiguousarray(targets, dtype=np.float64), radius)

"""t-closeness: how far the confidential values of a class differ from those of the file."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.risk import _classes

Distance = Literal["auto", "equal", "ordered", "hierarchical"]


class TCloseness(
    Risk,
    key="t-closeness",
    title="t-closeness",
    cites=("li2007", "cao2012", "brickell2008"),
    example={"keys": ["region", "sex"], "confidential": ["marital"]},
):
    r"""Measure how much an intruder learns about a class from its confidential values.

    0 means that each class has the values of the whole file; 1 is as far from that as can be.

    Missing values: a gap in a key is a value of its own; so is one in a confidential column, lowest
    in order. Weights: not used. Households: not considered.

    Notes
    -----
    The largest earth mover's distance between the distribution :math:`p` in a class and :math:`q`
    in the file [li2007]_: equal, :math:`\frac{1}{2}\sum_v|p_v-q_v|`; ordered,
    :math:`\frac1{m-1}\sum_v|\sum_{u\le v}(p_u-q_u)|`; hierarchical, over the tree of the schema. By
    default numbers, dates and ordinal values are ordered and others equally far. ``details`` also
    hold the basic :math:`\beta = \max (p_v-q_v)/q_v` of :math:`\beta`-likeness [cao2012]_, enhanced
    :math:`\max_v \min(\beta, -\ln q_v)`, and :math:`\delta = \max|\ln(p_v/q_v)|` of
    :math:`\delta`-disclosure privacy [brickell2008]_, infinite where a class lacks a value.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import risk
    >>> table = pl.DataFrame({"zip": ["a", "a", "b", "b"], "ill": ["x", "y", "x", "x"]})
    >>> risk.TCloseness(keys=["zip"], confidential=["ill"]).measure(table).value
    0.25
    """

    default = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    confidential: Columns | None = None
    """Columns nobody should learn; by default those with the role."""
    distance: Distance = "auto"
    """How far apart values are: by their order where they have one, or as said here."""

    def objection(self, original: Microdata) -> str | None:
        """Say that keys or confidential columns are missing."""
        return _classes.objection(original, self.keys, self.confidential)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the largest distance between a class and the file."""
        found, columns = _classes.classes(
            original, release, self.keys, self.confidential, by=self.key
        )
        details, worst = {}, np.zeros(found.n_records)
        for column in columns:
            distances, details[column.column] = closeness(column, self.distance)
            worst = np.maximum(worst, column.per_record(distances))
        farthest = max(details, key=lambda c: details[c]["t"])
        return Measurement(
            key=self.key, title=self.title, value=float(worst.max()), better="lower",
            bounds=(0.0, 1.0), per_unit=worst,
            details={"columns": details, "distance": self.distance, "keys": found.names},
            explanation=(
                f"The group of look-alikes that tells most about {farthest} lies "
                f"{details[farthest]['t']:.2f} from the whole file, on a scale from 0 to 1."
            ),
            warnings=found.warnings,
        )  # fmt: skip


def closeness(column: _classes.Classes, distance: Distance) -> tuple[np.ndarray, dict[str, float]]:
    """Return the distance of each class to the file, and the largest of all readings."""
    from tacit.risk import _classes_kernel as kernel

    distances = _distances(column, distance)
    gain, ratio = kernel.largest_gain(column.starts, column.values, column.counts, column.q)
    cap = -np.log(column.q[column.q > 0].min())
    return distances, {
        "t": float(distances.max()),
        "beta": float(gain.max()),
        "enhanced_beta": float(min(gain.max(), cap)),
        "delta": float(ratio.max()),
    }


def _distances(column: _classes.Classes, distance: Distance) -> np.ndarray:
    from tacit.risk import _classes_kernel as kernel

    cells = (column.starts, column.values, column.counts, column.q)
    if distance == "hierarchical":
        return np.asarray(kernel.tree_distance(*cells, *_classes.tree_levels(column)))
    ordered = distance == "ordered" or (distance == "auto" and _classes.is_ordered(column.variable))
    return np.asarray((kernel.ordered_distance if ordered else kernel.equal_distance)(*cells))

"""l-diversity: how many confidential values a class of look-alikes has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.risk import _classes


class LDiversity(
    Risk,
    key="l-diversity",
    title="l-diversity",
    cites=("machanavajjhala2007", "truta2006", "wong2006"),
    example={"keys": ["region", "sex"], "confidential": ["marital"]},
):
    r"""Count the confidential values in each class of records that look alike; report the fewest.

    Where all records of a class share one value, an intruder learns it without telling the records
    apart.

    Missing values: a gap in a key is a value of its own; a gap in a confidential column is no value
    in any reading, as in `Generalise`, and a class without a known value has diversity 0. Weights:
    not used. Households: not considered.

    Notes
    -----
    For a class with value counts :math:`r_1 \ge r_2 \ge \dots \ge r_m` and shares :math:`p_v`
    [machanavajjhala2007]_: distinct, :math:`m` (p-sensitivity [truta2006]_ asks for the same);
    entropy, :math:`\exp(-\sum_v p_v \log p_v)`, not rounded; recursive, the largest :math:`l` with
    :math:`r_1 < c(r_l + \dots + r_m)`. ``details`` hold all three for each column, and the largest
    share :math:`\alpha` that one value has in a class, as in :math:`(\alpha, k)`-anonymity
    [wong2006]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> risk.LDiversity(keys=["State"], confidential=["Diagnosis"]).measure(
    ...     tacit.datasets.patients()
    ... ).value
    1.0
    """

    default = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    confidential: Columns | None = None
    """Columns nobody should learn; by default those with the role."""
    reading: Literal["distinct", "entropy", "recursive"] = "distinct"
    """Which of the three readings is the value."""
    c: Annotated[float, Gt(0)] = 3.0
    """The constant of recursive diversity."""

    def objection(self, original: Microdata) -> str | None:
        """Say that keys or confidential columns are missing."""
        return _classes.objection(original, self.keys, self.confidential)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the diversity of the least diverse class."""
        found, columns = _classes.classes(
            original, release, self.keys, self.confidential, by=self.key
        )
        details, worst = {}, np.full(found.n_records, np.inf)
        for column in columns:
            readings, details[column.column] = diversity(column, self.c)
            worst = np.minimum(worst, column.per_record(readings[self.reading]))
        single = max(details, key=lambda c: details[c]["records_with_one_value"])
        return Measurement(
            key=self.key, title=self.title, value=float(worst.min()), better="higher",
            bounds=(0.0, np.inf), per_unit=worst,
            details={"columns": details, "reading": self.reading, "keys": found.names},
            explanation=(
                f"In groups of look-alikes that all have the same {single}, so that an intruder "
                f"learns it: {counted(int(details[single]['records_with_one_value']), 'record')}."
            ),
            warnings=found.warnings,
        )  # fmt: skip


def diversity(column: _classes.Classes, c: float) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Return the three readings of diversity for each class, and their smallest values."""
    from tacit.risk import _classes_kernel as kernel

    cells = _classes.known_cells(column)
    distinct, entropy, largest = kernel.diversity(*cells)
    level = kernel.recursive_level(*cells, c)
    readings = {"distinct": distinct, "entropy": entropy, "recursive": level}
    smallest = {name: float(values.min()) for name, values in readings.items()}
    alone = int((column.per_record(distinct) == 1).sum())
    return readings, smallest | {"alpha": float(largest.max()), "records_with_one_value": alone}

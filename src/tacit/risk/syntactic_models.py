"""All syntactic privacy models from one grouping of the file."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Gt

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.risk import _classes
from tacit.risk.l_diversity import diversity
from tacit.risk.t_closeness import Distance, closeness


class SyntacticModels(
    Risk,
    key="syntactic-models",
    title="Syntactic privacy models at a glance",
    cites=("samarati2001", "machanavajjhala2007", "li2007"),
    example={"keys": ["region", "sex"], "confidential": ["marital"]},
):
    r"""Say which k, l, t, alpha, beta and delta a file satisfies, from grouping it once.

    Missing values: a gap in a key is a value of its own; one in a confidential column is part of
    its distribution but never one more distinct value. Weights: not used. Households: not
    considered.

    Notes
    -----
    The classes of records with equal keys are formed once; k-anonymity [samarati2001]_ is their
    smallest size, which is the value. ``details`` hold for each confidential column the readings of
    l-diversity and :math:`\alpha` [machanavajjhala2007]_ and of t-closeness, :math:`\beta` and
    :math:`\delta` [li2007]_, as the measures of those names define them.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> data = tacit.datasets.patients()
    >>> found = risk.SyntacticModels(keys=["State"], confidential=["Diagnosis"]).measure(data)
    >>> found.value, found.details["columns"]["Diagnosis"]["distinct"]
    (1.0, 1.0)
    """

    default = False

    keys: Columns | None = None
    """Columns an intruder may know; by default the columns with the role of a key."""
    confidential: Columns | None = None
    """Columns nobody should learn; by default those with the role."""
    distance: Distance = "auto"
    """How far apart values are, for t-closeness."""
    c: Annotated[float, Gt(0)] = 3.0
    """The constant of recursive diversity."""

    def objection(self, original: Microdata) -> str | None:
        """Say that keys or confidential columns are missing."""
        return _classes.objection(original, self.keys, self.confidential)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the smallest class, with all other readings in the details."""
        found, columns = _classes.classes(
            original, release, self.keys, self.confidential, by=self.key
        )
        sizes = columns[0].per_record(_classes.class_sizes(columns[0]))
        readings = {
            column.column: diversity(column, self.c)[1] | closeness(column, self.distance)[1]
            for column in columns
        }
        told = "; ".join(
            f"{name}: l = {r['distinct']:.0f}, t = {r['t']:.3g}" for name, r in readings.items()
        )
        return Measurement(
            key=self.key,
            title=self.title,
            value=float(sizes.min()),
            better="higher",
            bounds=(1.0, float(len(sizes))),
            unit="count",
            per_unit=np.asarray(sizes),
            details={"k": int(sizes.min()), "columns": readings, "keys": found.names},
            explanation=f"k = {int(sizes.min())}; {told}.",
            warnings=found.warnings,
        )

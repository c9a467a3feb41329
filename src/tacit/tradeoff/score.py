"""The score of DF07: half information loss, half disclosure risk."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import substantive_columns
from tacit.core.schema import Kind
from tacit.core.value import Value
from tacit.tradeoff.objective import registered

Share = Annotated[float, Ge(0), Le(1)]


class Score(Value):
    r"""Rate a release by one number from 0 to 100: information loss and disclosure risk.

    Doing nothing scores about 50: no loss and full risk. Lower is better.

    Notes
    -----
    With all parts in percent, the score of [domingoferrer2007]_ is

    .. math:: \mathrm{Score} = \tfrac12 IL + \tfrac12 DR, \qquad
       DR = \tfrac12 (\tfrac12 DLD + \tfrac12 PLD) + \tfrac12 ID.

    The published weights are the defaults. The paper warns that no weighting does justice to all
    methods and asks that all parts be shown: they are in the details. ``known`` lists what several
    intruders know; the linkage is then the average over them.

    Examples
    --------
    >>> Score().combine(loss=20, distance=30, probabilistic=10, interval=40)
    25.0
    >>> Score(loss_weight=1.0).combine(loss=20, distance=30, probabilistic=10, interval=40)
    20.0
    """

    loss_weight: Share = 0.5
    """Weight of information loss against disclosure risk."""
    linkage_weight: Share = 0.5
    """Weight, within the risk, of linkage against interval disclosure."""
    distance_weight: Share = 0.5
    """Weight, within linkage, of distance-based against probabilistic linkage."""
    attributes: Columns | None = None
    """Numeric columns that are rated; by default all but weights, identifiers and households."""
    known: tuple[Columns, ...] | None = None
    """What intruders know, one set of columns each; by default one who knows all attributes."""

    title: ClassVar[str] = "Score"

    def combine(
        self, *, loss: float, distance: float, probabilistic: float, interval: float
    ) -> float:
        """Join the parts, all in percent."""
        risk = self.combine_risk(distance=distance, probabilistic=probabilistic, interval=interval)
        return self.loss_weight * loss + (1 - self.loss_weight) * risk

    def combine_risk(self, *, distance: float, probabilistic: float, interval: float) -> float:
        """Join the parts of the risk."""
        share = self.distance_weight
        linkage = share * distance + (1 - share) * probabilistic
        return self.linkage_weight * linkage + (1 - self.linkage_weight) * interval

    @property
    def risk(self) -> ScoreRisk:
        """The risk part alone, for one axis of a map."""
        return ScoreRisk(score=self)

    @property
    def loss(self) -> ScoreLoss:
        """The loss part alone, for the other axis."""
        return ScoreLoss(score=self)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the score of a release, in percent, with all its parts."""
        risk, loss = self.risk.measure(original, release), self.loss.measure(original, release)
        weight = self.loss_weight
        value = weight * loss.value + (1 - weight) * risk.value
        return Measurement(
            key="score",
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, float("inf")),
            details={"IL": loss.value, "DR": risk.value, **risk.details},
            explanation=(
                f"Information loss {loss.value:.1f} and disclosure risk {risk.value:.1f} give a "
                f"score of {value:.1f}; doing nothing scores about {100 * (1 - weight):.0f}."
            ),
        )

    def columns(self, original: Any) -> list[str]:
        """Return the columns that are rated."""
        data = Microdata.of(original)
        if self.attributes is not None:
            data.schema.require(self.attributes, kinds=[Kind.NUMERIC], by="the score")
            return list(self.attributes)
        found = substantive_columns(data, [Kind.NUMERIC])
        if not found:
            raise DataError("the score rates numbers, and the file has none", do="name attributes")
        return found


class ScoreRisk(Value):
    """The disclosure risk of the score, in percent."""

    score: Score
    title: ClassVar[str] = "Disclosure risk (score)"

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return DR with its parts DLD, PLD and ID."""
        names = self.score.columns(original)
        sets = self.score.known or (tuple(names),)
        parts = {
            "DLD": _average("distance-linkage", sets, original, release),
            "PLD": _average("probabilistic-linkage", sets, original, release),
            "ID": _average("interval-disclosure", [tuple(names)], original, release),
        }
        value = self.score.combine_risk(
            distance=parts["DLD"], probabilistic=parts["PLD"], interval=parts["ID"]
        )
        return Measurement(
            key="score-risk",
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, 100.0),
            details=parts,
            explanation=", ".join(f"{name} {number:.1f}" for name, number in parts.items()),
        )


class ScoreLoss(Value):
    """The information loss of the score, in percent."""

    score: Score
    title: ClassVar[str] = "Information loss (score)"

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return IL."""
        names = self.score.columns(original)
        loss = registered("information-loss", "utility", columns=names)
        value = 100 * float(loss.measure(original, release).value)
        return Measurement(
            key="score-loss",
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, float("inf")),
            explanation=f"The numbers and their statistics moved by {value:.1f} % on average.",
        )


def _average(key: str, sets: Any, original: Any, release: Any) -> float:
    """Return the mean, in percent, of a risk over what intruders know."""
    found = [
        registered(key, "risk", attributes=known).measure(original, release).value for known in sets
    ]
    return 100 * float(np.mean(found))

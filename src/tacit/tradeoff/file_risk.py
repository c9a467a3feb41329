"""File-level risk: one number for a file from the risks of its units and a scenario."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from pydantic import AllowInfNan

from tacit.core.errors import ParameterError
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.value import Value
from tacit.tradeoff.objective import registered


class Scenario(Value):
    """What one intruder may know, and how likely it is that an intruder knows it."""

    keys: Columns | None = None
    """Columns known of everybody; by default those with the role of a key."""
    weight: Annotated[float, Gt(0), AllowInfNan(False)] = 1.0
    """How likely this intruder is, relative to the others."""
    name: str = ""
    """What to call it."""


class FileRisk(Value):
    r"""Estimate how likely an intruder identifies anybody, from the risk of each unit.

    The risk of TFB is per unit; their goal is one measure that joins the view of the unit with
    that of the file. Here an intruder of some scenario tries to find a number of people; the risk
    of the file is the probability that at least one is identified.

    Missing values, weights, households: as in the risk per unit, ``identification-risk``.

    Notes
    -----
    With :math:`p_{is}` the probability that unit :math:`i` is identified under scenario :math:`s`,
    Eq. (4.10) of [truta2003]_, :math:`w_s` the share of scenario :math:`s` and :math:`T` the units
    that are tried,

    .. math:: R = \sum_s w_s \left(1 - E_T \prod_{i \in T} (1 - p_{is})\right).

    Targets are drawn at random, with replacement, so that the product is
    :math:`(1 - \bar p_s)^m` for :math:`m` attempts; or they are the :math:`m` units at greatest
    risk. One random attempt gives the mean of the units' risks, the share of people that an
    intruder is expected to identify. One attempt at the riskiest unit gives the largest risk of any
    unit. All views between them are the same formula.

    Examples
    --------
    >>> import tacit
    >>> data = tacit.datasets.patients()
    >>> [round(FileRisk(attempts=m).measure(data).value, 3) for m in (1, 3)]
    [0.5, 0.875]
    >>> FileRisk(targets="riskiest").measure(data).value
    1.0
    """

    title: ClassVar[str] = "Risk of the file"

    scenarios: tuple[Scenario, ...] = (Scenario(),)
    """What intruders know; by default one who knows the keys."""
    attempts: Annotated[int, Ge(1)] = 1
    """Number of people that the intruder tries to find."""
    targets: Literal["random", "riskiest"] = "random"
    """Whether the intruder tries anybody, or the people who are easiest to find."""

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the probability that an intruder identifies at least one unit."""
        if not self.scenarios:
            raise ParameterError("the risk of a file needs a scenario", do="say what is known")
        per_scenario = [_risks(s, original, release) for s in self.scenarios]
        shares = np.array([s.weight for s in self.scenarios])
        shares = shares / shares.sum()
        found = np.array([self.joined(units) for units in per_scenario])
        value = float(shares @ found)
        return Measurement(
            key="file-risk",
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=np.sum([w * p for w, p in zip(shares, per_scenario, strict=True)], axis=0),
            units="original",
            details={
                "scenarios": {
                    s.name or f"scenario {i}": float(r)
                    for i, (s, r) in enumerate(zip(self.scenarios, found, strict=True), 1)
                },
                "attempts": self.attempts,
                "targets": self.targets,
            },
            explanation=self._explanation(value),
        )

    def joined(self, risks: np.ndarray) -> float:
        """Join the risks of units into the probability that at least one is identified."""
        units = np.asarray(risks, dtype=np.float64)
        if units.size == 0:
            return 0.0
        if np.any(~((units >= 0) & (units <= 1 + 1e-9))):
            raise ParameterError("risks of units lie between 0 and 1")
        units = np.minimum(units, 1.0)
        if self.targets == "random":
            return float(1.0 - (1.0 - units.mean()) ** self.attempts)
        m = min(self.attempts, len(units))
        riskiest = np.partition(units, len(units) - m)[len(units) - m :]
        return float(1.0 - np.prod(1.0 - riskiest))

    def _explanation(self, value: float) -> str:
        who = "people at random" if self.targets == "random" else "the people easiest to find"
        tried = f"{self.attempts:,} of {who}" if self.attempts > 1 else f"one of {who}"
        return f"An intruder who tries to find {tried} succeeds with probability {value:.3g}."


def _risks(scenario: Scenario, original: Any, release: Any) -> np.ndarray:
    """Return the risk of each unit under a scenario."""
    risk = registered("identification-risk", "risk", keys=scenario.keys)
    return np.asarray(risk.measure(original, release).per_unit, dtype=np.float64)

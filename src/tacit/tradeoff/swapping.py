"""Data swapping as a decision problem: which attributes, at which rate, under which constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal

from tacit.core.errors import ParameterError
from tacit.core.families import Mask
from tacit.core.measurement import Measurement
from tacit.core.plan import Plan
from tacit.tradeoff.objective import registered
from tacit.tradeoff.space import Candidate

Distortion = Literal["hellinger", "total-variation", "entropy"]
Constraint = Literal["equal", "different"]


class SwappingRisk:
    """Disclosure risk of swapped data: unswapped records in small cells, Eq. (1) of karr2004."""

    title = "Disclosure risk DR"

    def __init__(self, attributes: Sequence[str], smallest: int = 2) -> None:
        self._attributes, self._smallest = tuple(attributes), smallest

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Measure on the table of all attributes; the plan says which of them were swapped."""
        swapped = swapped_attributes(getattr(release, "plan", None))
        risk = registered(
            "swapping-risk",
            "risk",
            columns=self._attributes,
            swapped=swapped or None,
            smallest=self._smallest,
        )
        found: Measurement = risk.measure(original, release)
        return found


class SwappingDistortion:
    """Data distortion: distance of the tables before and after, Eq. (2) of karr2004.

    Hellinger and total variation are distances from 0 to 1; the change of entropy is taken without
    its sign, in bits.
    """

    def __init__(self, attributes: Sequence[str], distance: Distortion = "hellinger") -> None:
        if distance not in ("hellinger", "total-variation", "entropy"):
            raise ParameterError("there is no such distance", got=repr(distance))
        self._attributes, self._distance = tuple(attributes), distance
        self.title = f"Data distortion DD ({distance})"

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Measure on the table of all attributes."""
        kind = "hellinger" if self._distance == "entropy" else self._distance
        every = self._attributes
        loss = registered(
            "contingency-loss", "utility", columns=every, order=len(every), distance=kind
        )
        found: Measurement = loss.measure(original, release)
        value = found.value
        if self._distance == "entropy":
            value = abs(float(found.details["tables"][0]["entropy_change"]))
        return Measurement(
            key="data-distortion", title=self.title, value=value, better="lower",
            details=found.details, explanation=found.explanation,
        )  # fmt: skip


class ModelUtility:
    """Change of the log-likelihood of the best log-linear model, Eq. (3) of karr2004."""

    title = "Data utility DU (log-linear model)"

    def __init__(self, attributes: Sequence[str], criterion: str = "bic", largest: int = 2) -> None:
        self._measure = registered(
            "log-linear-utility",
            "utility",
            columns=tuple(attributes),
            criterion=criterion,
            largest=largest,
        )

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Measure on the table of the attributes."""
        found: Measurement = self._measure.measure(original, release)
        return found


def swap_candidates(
    method: type[Mask],
    attributes: Sequence[str],
    rates: Sequence[float],
    *,
    sizes: Sequence[int] = (1, 2),
    constraints: Sequence[Constraint | None] = (None,),
    constrained: Sequence[str] | None = None,
) -> list[Candidate]:
    """Enumerate swap attributes, rates and constraints on unswapped attributes.

    Parameters
    ----------
    method
        A masking method with the parameters ``columns``, ``rate``, ``equal`` and ``different``.
    attributes
        Attributes that may be swapped.
    rates
        Shares of the records that are swapped.
    sizes
        How many attributes are swapped together.
    constraints
        ``None`` for free swaps; ``"equal"`` or ``"different"`` forces each attribute of
        `constrained`, one at a time, to agree or to differ between partners.
    constrained
        Attributes that constraints speak of; by default all that are not swapped.
    """
    missing = {"columns", "rate", "equal", "different"} - method.model_fields.keys()
    if missing:
        raise ParameterError(
            f"{method.key!r} is no method for swapping records", got=f"no parameter {min(missing)}"
        )
    if not attributes or not rates or any(not 0 < s <= len(attributes) for s in sizes):
        raise ParameterError("swaps need attributes, rates, and sizes among the attributes")
    return [
        Candidate([_built(method, {"columns": chosen, "rate": rate, **limit})])
        for size in sizes
        for chosen in combinations(attributes, size)
        for limit in _limits(chosen, attributes, constraints, constrained)
        for rate in rates
    ]


def _built(method: type[Mask], parameters: dict[str, Any]) -> Mask:
    return method(**parameters)


def _limits(
    chosen: Sequence[str],
    attributes: Sequence[str],
    constraints: Sequence[Constraint | None],
    constrained: Sequence[str] | None,
) -> Iterator[dict[str, list[str]]]:
    for kind in constraints:
        if kind is None:
            yield {}
            continue
        others = attributes if constrained is None else constrained
        yield from ({str(kind): [name]} for name in others if name not in chosen)


def swapped_attributes(plan: Plan | None) -> tuple[str, ...]:
    """Return the columns that the steps of a plan exchange, in the order of the plan."""
    named = [getattr(step, "columns", ()) for step in plan or ()]
    return tuple(dict.fromkeys(name for names in named for name in names))

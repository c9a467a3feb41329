"""Agencies inside one process: the same code as over the network, without the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core.errors import ParameterError
from tacit.federated.agency import Agency
from tacit.federated.analyses.vector import Vector
from tacit.federated.analysis import Analysis, analysis_from
from tacit.federated.answer import Answer
from tacit.federated.coordinator import Coordinator
from tacit.federated.fixed_point import FixedPoint
from tacit.federated.identity import Identity, Roster
from tacit.federated.policy import Policy


@dataclass
class InProcess:
    """A channel to an agency of this process, which can keep a transcript."""

    agency: Agency
    transcript: list[tuple[bytes, bytes]] | None = field(default=None, repr=False)

    def send(self, request: bytes) -> bytes:
        """Hand a message to the agency."""
        reply = self.agency.handle(request)
        if self.transcript is not None:
            self.transcript.append((request, reply))
        return reply

    def close(self) -> None:
        """Do nothing: there is no connection."""


def agencies(
    parts: Mapping[str, Any] | Iterable[Any], policy: Policy | Mapping[str, Policy] | None = None
) -> list[Agency]:
    """Make one agency per part of the data, with keys and rosters."""
    named = dict(parts) if isinstance(parts, Mapping) else _numbered(parts)
    identities = {name: Identity.new(name) for name in named}
    roster = Roster.of(identities.values())
    rules = policy if isinstance(policy, Mapping) else dict.fromkeys(named, policy)
    return [Agency(identities[n], data, roster, policy=rules.get(n)) for n, data in named.items()]


def _numbered(parts: Iterable[Any]) -> dict[str, Any]:
    found = list(parts)
    width = len(str(len(found)))
    return {f"agency-{i:0{width}d}": part for i, part in enumerate(found, start=1)}


def simulate(
    parts: Mapping[str, Any] | Sequence[Any],
    analysis: str | Analysis,
    *,
    policy: Policy | Mapping[str, Policy] | None = None,
    threshold: int | None = None,
    **parameters: Any,
) -> Answer:
    """Let agencies inside this process compute an analysis together.

    Parameters
    ----------
    parts
        The records of each agency: frames of any kind, or `Microdata`, by name or in order.
    analysis
        Key of an analysis (``"ols"``), or the analysis itself.
    policy
        The rules of all agencies, or of each by name.
    threshold
        Agencies that must stay to the end.
    parameters
        Parameters of the analysis.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> rng = np.random.default_rng(1)
    >>> parts = [pl.DataFrame({"age": rng.normal(50, 9, 40)}) for _ in range(3)]
    >>> answer = simulate(parts, "mean", variables=["age"])
    >>> bool(np.isclose(answer["means"]["age"], pl.concat(parts)["age"].mean()))
    True
    """
    if isinstance(analysis, Analysis) and parameters:
        raise ParameterError("an analysis has its parameters already", got=sorted(parameters))
    wanted = (
        analysis
        if isinstance(analysis, Analysis)
        else analysis_from({"analysis": analysis, **parameters})
    )
    channels = {agency.name: InProcess(agency) for agency in agencies(parts, policy)}
    return Coordinator(channels, threshold=threshold, workers=1).run(wanted)


def secure_sum(
    vectors: Sequence[Any], *, threshold: int | None = None, encoding: FixedPoint | None = None
) -> np.ndarray:
    """Add arrays of several agencies, none of which anybody sees.

    Parameters
    ----------
    vectors
        An array of each agency, all of one shape.
    threshold
        Agencies that must stay to the end.
    encoding
        How numbers are held; `COUNTS` is quickest for whole numbers.

    Examples
    --------
    >>> secure_sum([[1, 2], [10, 20], [100, 200]])
    array([111., 222.])
    """
    arrays = [np.asarray(vector, dtype=np.float64) for vector in vectors]
    if len({array.shape for array in arrays}) != 1:
        raise ParameterError("all arrays must have one shape", got=[a.shape for a in arrays])
    made = agencies([array.ravel() for array in arrays], Policy(max_length=max(arrays[0].size, 1)))
    channels = {agency.name: InProcess(agency) for agency in made}
    coordinator = Coordinator(channels, threshold=threshold, encoding=encoding, workers=1)
    total = coordinator.run(Vector(size=arrays[0].size))
    return np.asarray(total["sum"]).reshape(arrays[0].shape)

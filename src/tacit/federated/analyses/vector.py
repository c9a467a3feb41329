"""The sum of one vector per agency, with no analysis around it."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from tacit.federated.analysis import Analysis, Outcome, State
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


class Vector(Analysis, key="vector"):
    """The sum of vectors that the agencies hold instead of records."""

    size: Annotated[int, Ge(0)]
    """Length of the vectors."""

    def columns(self) -> tuple[str, ...]:
        """Return no column: there are no records."""
        return ()

    def part(self, data: Any, policy: Policy) -> np.ndarray:
        """Return the agency's vector."""
        if not isinstance(data, np.ndarray) or data.shape != (self.size,):
            raise RefusedError("this agency has no vector of the length asked for")
        return data

    def length(self, state: State) -> int:
        """Return the length of the vector."""
        return self.size

    def contribute(self, part: np.ndarray, state: State) -> np.ndarray:
        """Return the vector."""
        return part

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the sum."""
        return Outcome(state, {} if len(total) else {"sum": []}, total)

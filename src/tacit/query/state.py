"""What a server remembers between requests: sets spoken of, draws, sums, requests by user."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from tacit.query.atoms import AtomCube
from tacit.query.history import SetHistory
from tacit.query.ledger import Ledger


@dataclass(eq=False)
class State:
    """Memory of one server over all its users.

    It is a function of the data, the policy, the secret and the audit log: a server that starts
    again asks itself the logged requests and remembers the same.
    """

    cube: AtomCube
    histories: dict[str, SetHistory] = field(default_factory=dict)
    """Sets of units spoken of, by the guard that keeps them."""
    requests: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    """Times of the requests of each user."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What single guards remember, under their key."""

    def history(self, key: str, distance: int) -> SetHistory:
        """Return the sets that a guard keeps."""
        return self.histories.setdefault(key, SetHistory(distance))

    @property
    def ledger(self) -> Ledger:
        """Draws by atom."""
        return self.kept.setdefault("ledger", Ledger(len(self.cube)))  # type: ignore[no-any-return]

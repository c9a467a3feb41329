"""Guards: rules that let a request pass, amend what it may see, or refuse it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tacit.core.method import Method
from tacit.query.answer import Answer, Refused
from tacit.query.evidence import Cells, Evidence, Moments

if TYPE_CHECKING:
    from tacit.query.analysis import Analysis
    from tacit.query.atoms import Selection
    from tacit.query.keys import Sticky
    from tacit.query.source import Registered
    from tacit.query.state import State

Stage = Literal["universe", "data", "output", "answer"]
STAGES: tuple[Stage, ...] = ("universe", "data", "output", "answer")
"""When guards act: before any data are read, on what is read, on evidence, on the answer."""

Memory = Literal["always", "tables", "never"]
"""For which requests a guard reads or writes what the server remembers."""


@dataclass(frozen=True)
class Drop:
    """How many records to leave out, and by which numbers they are picked (Drop-q)."""

    numbers: tuple[tuple[int, int, int], ...]
    """For each block (q, a, b): the q units with the smallest (a * rk1 + b) mod p go."""
    block: str | None = None
    """Variable whose categories are the blocks, in their order; nothing is one block."""


@dataclass(frozen=True)
class Context:
    """What a guard may see and amend; it is never changed in place.

    A guard returns `context.amended(...)`, with the note a user may read, or the context as it is.
    """

    schema: Registered
    """Public description of the data: variables, categories, cutpoints."""
    selection: Selection
    """The units of the universe as atoms of the cube, with their number and fingerprint."""
    sticky: Sticky
    """Randomness that depends on the secret and on the units alone."""
    state: State
    """What the server remembers: history, ledger, sums answered, requests by user."""
    user: str = ""
    now: float | None = 0.0
    """Time of the request in seconds; nothing where it is only remembered."""
    drop: Drop | None = None
    """Records that the data step leaves out."""
    evidence: Evidence | None = None
    """What was read, from the output stage on."""
    fresh: Mapping[str, np.ndarray] | None = None
    """Which cells speak of units that no earlier cell spoke of, by statistic."""
    answer: Answer | None = None
    """What would be released, in the answer stage."""
    notes: tuple[str, ...] = ()
    """Words for the user."""
    remember: tuple[Callable[[], None], ...] = field(default=())
    """What to write down once the answer is released."""

    def amended(self, note: str | None = None, **changes: Any) -> Context:
        """Return the context with some fields changed and a note added."""
        notes = (*self.notes, note) if note else self.notes
        return replace(self, notes=notes, **changes)

    def and_then(self, action: Callable[[], None]) -> Context:
        """Return the context with one more thing to write down when the answer is released."""
        return replace(self, remember=(*self.remember, action))

    @property
    def cells(self) -> Cells | None:
        """The evidence where it is a table, else nothing."""
        return self.evidence if isinstance(self.evidence, Cells) else None

    @property
    def moments(self) -> Moments | None:
        """The evidence where it is that of a model, else nothing."""
        return self.evidence if isinstance(self.evidence, Moments) else None


class Guard(Method):
    """One rule of a policy.

    A guard passes (returns the context as it is), amends (returns a changed one) or refuses
    (raises `Refused`). Its words must follow from the policy and the request alone.
    """

    family: ClassVar[str] = "guard"
    verb: ClassVar[str] = "check"
    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "always"
    """Requests that use the memory take turns; others need not wait for them."""
    stops: ClassVar[str] = ""
    """What a custodian gains by it, by the numbers of the catalogue of attacks."""
    misses: ClassVar[str] = ""
    """What it does not stop by itself."""
    costs: ClassVar[str] = ""
    """What users lose by it."""

    def remembers(self, context: Context) -> bool:
        """Whether the guard uses the memory of the server for this request."""
        return self.memory == "always" or (self.memory == "tables" and context.cells is not None)

    @abstractmethod
    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context the request goes on with, or raise `Refused`."""

    def refuse(self, reason: str, hint: str | None = None) -> Refused:
        """Return a refusal by this rule, to be raised."""
        return Refused(self.key, reason, hint=hint)

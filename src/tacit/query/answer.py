"""What a server gives back: an answer with what was done to it, or a refusal with the rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from tacit.core.errors import TacitError
from tacit.core.value import Value

PARSE = "request"
"""Name of the rule that refuses what is not a request."""


class Refused(TacitError):
    """A rule of the policy does not allow the request; the server turns this into a `Refusal`.

    The words must follow from the policy and the request alone: whatever else they said would be
    learnt from a refusal.

    Examples
    --------
    >>> Refused("set-size", "the universe is too small", hint="widen it").rule
    'set-size'
    """

    def __init__(self, rule: str, reason: str, *, hint: str | None = None) -> None:
        self.rule, self.reason, self.hint = rule, reason, hint
        super().__init__(reason, do=hint)


class Step(Value):
    """What one rule did on the way to an answer."""

    rule: str
    """Key of the guard."""
    outcome: str
    """``passed``, ``amended`` or ``refused``."""
    note: str = ""
    """What a user may know about it."""


class Answer(Value):
    """Released values, with what was done to them in words a user may know.

    Examples
    --------
    >>> answer = Answer(analysis="crosstab", columns={"sex": ["F", "M"], "count": [52, 48]})
    >>> answer.frame["count"].to_list()
    [52, 48]
    """

    analysis: str
    """Key of the analysis."""
    columns: dict[str, list[Any]] = Field(default={})
    """A table of results, by column; None where a value is withheld."""
    values: dict[str, Any] = Field(default={})
    """Results that are no table: a test statistic, the number of units, a degree of freedom."""
    accuracy: dict[str, Any] = Field(default={})
    """How far released values may be from the true ones."""
    notes: tuple[str, ...] = ()
    """What was done to the values."""
    policy: str = ""
    """Name and version of the policy."""
    data: str = ""
    """Version of the data, as users know it."""
    trace: tuple[Step, ...] = ()
    """The rules that were applied, in order."""

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was answered."""
        return False

    @property
    def frame(self) -> Any:
        """The table of results as a Polars `DataFrame`."""
        import polars as pl

        return pl.DataFrame(self.columns, strict=False)

    def __str__(self) -> str:
        parts = [str(self.frame)] if self.columns else []
        parts += [f"{name}: {value}" for name, value in self.values.items()]
        return "\n".join([*parts, *self.notes])


class Refusal(Value):
    """Nothing is answered; the rule is named, and nothing else can be learnt.

    Examples
    --------
    >>> print(Refusal(rule="set-size", reason="the universe is too small", hint="widen it"))
    refused (set-size): the universe is too small; widen it
    """

    rule: str
    """Key of the guard that refused."""
    reason: str
    """Why, in words of the policy."""
    hint: str | None = None
    """What may be asked instead."""
    policy: str = ""
    """Name and version of the policy."""

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was answered."""
        return True

    def __str__(self) -> str:
        return f"refused ({self.rule}): {self.reason}" + (f"; {self.hint}" if self.hint else "")


def released(answer: Answer, **said: Any) -> Answer:
    """Return the answer with what the runner adds: notes, policy, version of the data, trace."""
    notes = (*answer.notes, *said.pop("notes", ()))
    changed: Mapping[str, Any] = {"notes": tuple(dict.fromkeys(notes)), **said}
    return answer.replace(**changed)  # type: ignore[no-any-return]

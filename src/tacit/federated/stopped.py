"""Why a computation among agencies ended without a result."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.core.errors import ProtectionError


class RefusedError(ProtectionError):
    """An agency does not take part or does not go on; the text may be shown to everyone.

    The reason never holds a value of the agency's data: it is sent to the coordinator.
    """


class UnfitError(RefusedError):
    """A request does not fit the agency's columns or rules; no record had a part in it."""


class LostError(ProtectionError):
    """An agency did not answer, or answered with something that is no answer."""


class StoppedError(ProtectionError):
    """A computation stopped and nothing was released; `who` says because of whom, and why."""

    def __init__(self, what: str, who: Mapping[str, str], *, do: str | None = None) -> None:
        self.who = dict(who)
        told = "; ".join(f"{name}: {reason}" for name, reason in sorted(who.items()))
        super().__init__(f"the computation stopped, nothing is released: {what}",
                         got=told or None, do=do)  # fmt: skip

"""The desk of a project's agency: its rules, its log, and what waits for a person's yes or no.

The agency is a process of its own. Files are between it and the pages, so that either may stop.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.app.permissions import NotFoundError
from tacit.core.atomic import write_text
from tacit.core.errors import ParameterError

if TYPE_CHECKING:
    from tacit.federated import Ledger, Policy
    from tacit.federated.messages import Proposal

FIRST_POLICY = """# Rules of this agency; what is left out has its strict default.
ask = true          # a person says yes to every computation
min_agencies = 3
min_records = 10
min_cell = 3
"""
_PAUSE = 0.2
_MOST_WAITING = 32
_HIDDEN = frozenset({"previous", "digest", "digests", "fingerprint", "records"})
"""Of the log, what says nothing to a person."""


@dataclass(frozen=True)
class Desk:
    """What the agency of one project keeps in its folder."""

    folder: Path

    # -- rules and log -----------------------------------------------------------------------------

    @property
    def policy_text(self) -> str:
        """The rules as they were written; at first every computation is asked about."""
        path = self.folder / "policy.toml"
        return path.read_text(encoding="utf-8") if path.is_file() else FIRST_POLICY

    def policy(self) -> Policy:
        """Return the rules."""
        return policy_of(self.policy_text)

    def set_policy(self, text: str) -> None:
        """Keep other rules, if they are rules."""
        policy_of(text)
        write_text(self.folder / "policy.toml", text)

    def ledger(self) -> Ledger:
        """Return the agency's own log; one that was changed afterwards is refused."""
        from tacit.federated import Ledger

        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Ledger(self.folder / "agency.log")

    def log(self, most: int = 200) -> list[dict[str, Any]]:
        """Return the last entries of the log, newest first, in what they say to a person."""
        entries = self.ledger().entries()[-most:]
        return [{k: v for k, v in e.items() if k not in _HIDDEN} for e in reversed(entries)]

    # -- what is asked -----------------------------------------------------------------------------

    def ask(self, proposal: Proposal, *, seconds: float, goes_on: Callable[[], bool]) -> bool:
        """Lay a proposal on the desk and wait for a person; nobody there means no."""
        asked, decided = self._asked(proposal.computation), self._decided(proposal.computation)
        if len(self.waiting()) >= _MOST_WAITING:
            return False
        decided.unlink(missing_ok=True)
        write_text(asked, json.dumps(_described(proposal), ensure_ascii=False))
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end and goes_on():
                if decided.is_file():
                    return bool(json.loads(decided.read_text(encoding="utf-8")))
                time.sleep(_PAUSE)
            return False
        finally:
            asked.unlink(missing_ok=True)
            decided.unlink(missing_ok=True)

    def waiting(self) -> list[dict[str, Any]]:
        """Return the proposals that wait for an answer, oldest first."""
        found = []
        for path in self._folder_of("asked").glob("*.json"):
            try:
                found.append(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError):  # answered at this very moment
                continue
        return sorted(found, key=lambda proposal: str(proposal["at"]))

    def decide(self, computation: str, *, join: bool) -> dict[str, Any]:
        """Answer a proposal that waits, and return it."""
        for proposal in self.waiting():
            if proposal["computation"] == computation:
                write_text(self._decided(computation), json.dumps(join))
                return proposal
        raise NotFoundError("no such computation waits for an answer", do="look at the log")

    def clear(self) -> None:
        """Forget what was asked of an agency that is no more: whoever asked waits no longer."""
        for path in self._folder_of("asked").glob("*.json"):
            path.unlink(missing_ok=True)

    def _folder_of(self, name: str) -> Path:
        return self.folder / name

    def _asked(self, computation: str) -> Path:
        return self.folder / "asked" / f"{computation}.json"

    def _decided(self, computation: str) -> Path:
        return self.folder / "decided" / f"{computation}.json"


def policy_of(text: str) -> Policy:
    """Return the rules that a text in TOML holds.

    Examples
    --------
    >>> policy_of("min_cell = 5").min_cell
    5
    """
    from tacit.federated import Policy

    try:
        return Policy(**tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"the policy is no TOML: {error}") from error


def _described(proposal: Proposal) -> dict[str, Any]:
    from tacit.app.store.records import now

    return {
        "computation": proposal.computation,
        "analysis": proposal.analysis,
        "participants": list(proposal.participants),
        "coordinator": proposal.coordinator,
        "purpose": proposal.purpose,
        "threshold": proposal.threshold,
        "at": now().isoformat(),
    }

"""What an agency checks before it joins a computation, and before it lets a sum be seen."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.schema import Role
from tacit.federated.analysis import Analysis, analysis_from
from tacit.federated.identity import Roster
from tacit.federated.ledger import Ledger
from tacit.federated.messages import Proposal
from tacit.federated.moment_audit import require_untold
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

WITHHELD = "withheld"
"""Event of the log: a question that the agency refused because of its records."""
_WHOLE_BITS = 64
"""Bits before the point: with fewer, the tags of a sum would miss some changes of it."""


def admit(
    proposal: Proposal,
    analysis: Analysis,
    name: str,
    roster: Roster,
    policy: Policy,
    ledger: Ledger,
    data: Any,
) -> None:
    """Refuse a proposal that breaks a rule of the agency."""
    _check_agencies(proposal, name, roster, policy)
    _check_request(proposal, analysis, policy, data)
    _require_same_agencies(proposal.participants, analysis, policy, ledger)
    check_asked(analysis, policy, ledger)


def smallest_threshold(n_agencies: int) -> int:
    """Return the smallest threshold at which nobody can be shown two different lists of survivors.

    Shares of an agency's seed and of its key are never given out by the same partner, so more than
    half are needed for each and nobody gets both.
    """
    return max(n_agencies // 2 + 1, 2)


def _check_agencies(proposal: Proposal, name: str, roster: Roster, policy: Policy) -> None:
    names = proposal.participants
    if len(set(names)) != len(names) or name not in names:
        raise RefusedError("the list of participants is wrong")
    if len(names) < policy.min_agencies:
        raise RefusedError(
            f"{len(names)} agencies, at least {policy.min_agencies} are needed: with two, each "
            "learns the other's value by subtracting its own"
        )
    if not smallest_threshold(len(names)) <= proposal.threshold <= len(names):
        raise RefusedError("the threshold must be above half of the agencies and at most all")
    known = set(policy.partners) | {name} if policy.partners else set(roster.keys)
    strangers = sorted(set(names) - (known & set(roster.keys)))
    if strangers:
        raise RefusedError(f"not a partner: {', '.join(strangers)}")
    if policy.coordinators and proposal.coordinator not in policy.coordinators:
        raise RefusedError("the coordinator is not one that may ask")


def _check_request(proposal: Proposal, analysis: Analysis, policy: Policy, data: Any) -> None:
    if policy.analyses and analysis.key not in policy.analyses:
        raise RefusedError(f"the analysis {analysis.key!r} is not allowed")
    if analysis.length({}) > policy.max_length:
        raise RefusedError(f"a sum of more than {policy.max_length:,} numbers")
    proposal.encoding.bound(len(proposal.participants))
    if 64 * proposal.encoding.words - proposal.encoding.fraction_bits < _WHOLE_BITS:
        raise RefusedError("the encoding leaves too few bits for the check of the sum")
    if not isinstance(data, Microdata):
        return
    for column in analysis.columns():
        if column not in data.schema:
            raise RefusedError(f"there is no column {column!r}")
        listed = not policy.columns or column in policy.columns
        if not listed or column in data.schema.names(Role.IDENTIFIER):
            raise RefusedError(f"the column {column!r} may not be used")


def check_history(
    names: tuple[str, ...],
    analysis: Analysis,
    policy: Policy,
    ledger: Ledger,
    data: Any = None,
    fingerprint: str | None = None,
) -> None:
    """Refuse too many questions, another set of agencies, and records that few differ in."""
    _require_same_agencies(names, analysis, policy, ledger)
    fingerprint, past = fingerprint or analysis.fingerprint(), ledger.released()
    _require_few(fingerprint, analysis, policy, past)
    if isinstance(data, Microdata) and fingerprint not in {e["fingerprint"] for e in past}:
        for earlier in _asked(ledger).values():
            analysis.require_apart(earlier, data, policy)


def check_asked(analysis: Analysis, policy: Policy, ledger: Ledger) -> None:
    """Refuse too many questions that were put to the records, whatever became of them.

    That an agency refuses because of a small cell, or does not, is one bit about its records: who
    may move an edge as often as he likes finds every value from refusals alone.
    """
    past = [e for e in ledger.entries() if e["event"] in ("joined", WITHHELD)]
    past = [e for e in past if "fingerprint" in e]
    _require_few(analysis.fingerprint(), analysis, policy, past)
    refused = {e["fingerprint"] for e in past if e["event"] == WITHHELD}
    new = analysis.fingerprint() not in {e["fingerprint"] for e in past}
    if new and len(refused) >= policy.max_refusals:
        raise RefusedError(
            f"{policy.max_refusals} questions were refused because of this agency's records: its "
            "operator looks at them before another one"
        )


def _require_few(
    fingerprint: str, analysis: Analysis, policy: Policy, entries: list[dict[str, Any]]
) -> None:
    """Refuse a new question where the log holds too many; the same one has the same answer."""
    past = {e["fingerprint"]: set(e["columns"]) for e in entries}
    if fingerprint in past:
        return
    if len(past) >= policy.max_computations:
        raise RefusedError(f"the limit of {policy.max_computations} computations is reached")
    for column in analysis.columns():
        if sum(column in used for used in past.values()) >= policy.max_per_column:
            raise RefusedError(f"the limit of computations with the column {column!r} is reached")


def check_products(analysis: Analysis, policy: Policy, ledger: Ledger, data: Any) -> None:
    """Refuse products that, with those released before, tell the value of a record."""
    if isinstance(data, Microdata) and analysis.multiplied():
        asked = _asked(ledger)
        if analysis.fingerprint() not in asked:
            require_untold(analysis, asked.values(), data, policy)


def check_units(
    used: np.ndarray, analysis: Analysis, policy: Policy, ledger: Ledger, data: Microdata
) -> None:
    """Refuse units that few of this agency's records tell from those of an earlier computation.

    Which units are common is told by the coordinator; who leaves one out and asks again would
    have its values from the difference. Each variable of a partner is one equation about the own
    ones, which the partner knows: too many for the number of units are refused as well.
    """
    related = [e for e in ledger.released() if set(e["columns"]) & set(analysis.columns())]
    for entry in related:
        earlier = _records(entry, data)
        if len(earlier) != len(used):
            raise RefusedError("the agency's records changed since an earlier computation")
        if 0 < int(np.sum(earlier != used)) < policy.min_cell:
            raise RefusedError(
                f"fewer than {policy.min_cell} records differ from those of an earlier computation"
            )
    asked = {*_equations(analysis.described(), packed(used))}
    asked.update(*(_equations(e["analysis"], e["records"]) for e in related if "records" in e))
    if len(asked) > policy.max_leverage * int(used.sum()):
        raise RefusedError("too many products for so few units, now and before")


def question(analysis: Analysis, used: np.ndarray | None) -> str:
    """Return what is the same for the same question about the same records."""
    if used is None:
        return analysis.fingerprint()
    return hashlib.sha256((analysis.fingerprint() + packed(used)).encode()).hexdigest()


def _asked(ledger: Ledger) -> dict[str, Analysis]:
    """Return the different analyses of the past, as this agency saw them."""
    return {
        e["fingerprint"]: analysis_from(e["analysis"]).limited_to(e["columns"])
        for e in ledger.released()
        if "analysis" in e
    }


def _records(entry: dict[str, Any], data: Microdata) -> np.ndarray:
    """Return which records an earlier computation used."""
    if "records" in entry:
        return _unpacked(entry["records"])
    known = analysis_from(entry["analysis"]).universe(data)
    return np.ones(data.n_records, dtype=bool) if known is None else known


def _equations(described: dict[str, Any], records: str) -> Iterator[tuple[str, str, str]]:
    """Return what multiplies the values of the units: variables, and the units themselves."""
    yield "", "", records
    for holder, columns in described.get("holders", {}).items():
        yield from ((holder, column, records) for column in columns)


def packed(used: np.ndarray) -> str:
    """Return as text which records are used, one bit for each, and their number before it.

    Examples
    --------
    >>> packed(np.array([True, False, True]))
    '3:oA=='
    """
    return f"{len(used)}:{base64.b64encode(np.packbits(used).tobytes()).decode()}"


def _unpacked(text: str) -> np.ndarray:
    number, _, bits = text.partition(":")
    flat = np.frombuffer(base64.b64decode(bits), dtype=np.uint8)
    return np.unpackbits(flat, count=int(number)).astype(bool)


def _require_same_agencies(
    names: tuple[str, ...], analysis: Analysis, policy: Policy, ledger: Ledger
) -> None:
    """Refuse a column to another set: the difference of both would be one agency's value."""
    if not policy.fixed_participants:
        return
    wanted = set(analysis.columns())
    for entry in ledger.released():
        used = set(entry["columns"])
        shared = wanted & used or not wanted | used  # plain sums and counts have no columns
        if shared and set(entry["participants"]) != set(names):
            raise RefusedError(
                "these columns were used with another set of agencies; the difference of both "
                "results would show what one agency contributed"
            )

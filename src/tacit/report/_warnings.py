"""What a decision maker must see before signing: the warnings of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tacit.core.measurement import counted
from tacit.core.release import Release
from tacit.core.scorecard import Scorecard
from tacit.report._cards import outcome


@dataclass(frozen=True)
class Caution:
    """One thing to look at before the data go out."""

    what: str
    """What was found."""
    do: str = ""
    """What to do about it."""


def cautions(release: Release, scorecard: Scorecard, suspects: Collection[str]) -> list[Caution]:
    """Collect everything that may make the release unsafe or wrong, worst first."""
    return [
        *_identifiers(suspects),
        *_roles(release),
        *_household_numbers(release),
        *_nothing_done(release),
        *_broken_rules(release),
        *_worse(scorecard),
        *_doubts(scorecard),
    ]


def suspected_identifiers(release: Release) -> list[str]:
    """Return released columns that look like identifiers but were not declared."""
    from tacit.suggest import looks_like_identifier

    return looks_like_identifier(release.data)


def _identifiers(suspects: Collection[str]) -> Iterator[Caution]:
    for name in suspects:
        yield Caution(
            f"The released variable “{name}” looks like a direct identifier.",
            "Declare it as an identifier, so that it is removed, unless you are sure it is none.",
        )


def _roles(release: Release) -> Iterator[Caution]:
    if not release.original.schema.keys:
        yield Caution(
            "No variable was declared as a key, so nothing is known about how easily a record "
            "can be recognised.",
            "Say which variables an outsider may know about a person or business.",
        )


def _household_numbers(release: Release) -> Iterator[Caution]:
    name = release.original.schema.household
    if name is None or name not in release.data.schema:
        return
    rows = release.rows
    real = rows >= 0
    before = release.original.local[name][rows[real]]
    after = release.data.local[name].filter(real)
    if len(after) and before.dtype == after.dtype and bool((before == after).mean() > 0.5):
        yield Caution(
            f"The household number “{name}” is released as it is: whoever holds another file with "
            "these numbers can link the two.",
            "Give households new random numbers (method new-identifiers).",
        )


def _nothing_done(release: Release) -> Iterator[Caution]:
    if not len(release.plan):
        yield Caution("No protection method was applied.")


def _broken_rules(release: Release) -> Iterator[Caution]:
    for rule, n in release.newly_broken.items():
        yield Caution(
            f"The rule “{rule}” is broken by {counted(n, 'record')} of the release that kept it "
            "in the original, or were not there.",
            "Users will find impossible values; choose a method that keeps the rule.",
        )


def _worse(scorecard: Scorecard) -> Iterator[Caution]:
    for after in scorecard.risks:
        before = scorecard.before.get(after.key)
        if before is not None and outcome(before, after) == "worse":
            yield Caution(
                f"{after.title} is worse in the release ({after.text}) than in the original "
                f"({before.text})."
            )


def _doubts(scorecard: Scorecard) -> Iterator[Caution]:
    for measurement in scorecard:
        for text in measurement.warnings:
            yield Caution(f"{measurement.title}: {text}")

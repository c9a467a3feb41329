"""What the wizard says: the target, the proposals, the choices, or what is closest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.tradeoff.frontier import Point
    from tacit.tradeoff.release_wizard import Choice, Outcome

_OFFERED = 3
"""Releases that are offered where the plans differ enough."""


def outcome_words(outcome: Outcome) -> str:
    """Tell the whole story as Markdown."""
    return "\n".join(_lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    yield "# What was asked"
    yield ""
    yield f"{_sentence(str(outcome.target))}"
    yield ""
    yield "# What was tried"
    yield ""
    for proposal in outcome.proposals:
        yield f"- **{proposal.title}.** {proposal.reason}"
    yield ""
    yield from outcome.frontier.notes
    if outcome.frontier.failed:
        yield f"{len(outcome.frontier.failed)} plans could not be applied or measured."
    yield ""
    if outcome.is_met:
        yield "# What was found"
        for choice in outcome.choices:
            yield ""
            yield from _choice_lines(choice)
        if len(outcome.choices) < _OFFERED:
            yield ""
            yield "No other plan that was tried meets the target and is better in anything."
        yield ""
        yield (
            "The scorecards also show what intruders could do who know more than the keys: by "
            "default linkage by distance takes all numbers as known, confidential ones too."
        )
    else:
        yield from _nothing_lines(outcome)


def _choice_lines(choice: Choice) -> Iterator[str]:
    yield f"## {choice.name.replace('-', ' ').capitalize()}: {choice.words}"
    yield ""
    for number, step in enumerate(choice.release.steps, 1):
        yield f"{number}. {step.description}"
    yield ""
    yield from _numbers(choice.point)


def _nothing_lines(outcome: Outcome) -> Iterator[str]:
    yield "# No plan that was tried meets the target"
    yield ""
    point = outcome.closest
    if point is None:
        yield (
            "The search was interrupted before a plan was finished."
            if outcome.frontier.interrupted
            else "None of the plans could be applied to these data."
        )
        return
    yield f"Closest comes: {point.label}."
    yield ""
    for words, gap in point.shortfalls.items():
        reached = _number(words, point.conditions[words])
        verdict = f"missed: it reaches {reached}" if gap else f"met ({reached})"
        yield f"- {words}: {verdict}."
    yield ""
    yield "Ask for less, declare fewer keys, give the keys hierarchies, or search longer."


def _numbers(point: Point) -> Iterator[str]:
    for words, value in point.conditions.items():
        yield f"- {words}: {_number(words, value)}."
    parts = [f"{title.lower()} {value:.4g}" for title, value in point.parts.items()]
    yield f"- {'; '.join(parts)}."


def _number(words: str, value: float) -> str:
    """Write a number in the unit in which its condition is put."""
    return f"{100 * value:.3g} %" if "%" in words else f"{value:.4g}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."

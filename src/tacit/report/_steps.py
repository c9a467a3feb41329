"""What was done, step by step, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.core.families import Mask
from tacit.core.method import Method
from tacit.core.release import Release, Step
from tacit.report._tally import legible


@dataclass(frozen=True)
class Parameter:
    """One parameter of a step."""

    name: str
    value: str
    help: str


@dataclass(frozen=True)
class StepCard:
    """One step of the plan."""

    title: str
    text: str
    summary: str
    parameters: tuple[Parameter, ...]
    n_records: int
    effect: str = ""


def step_cards(release: Release) -> list[StepCard]:
    """Describe the steps in order; those that no method of the plan made come first."""
    methods: list[Mask | None] = list(release.plan)
    automatic = [None] * (len(release.steps) - len(methods))
    return [
        _card(step, method)
        for step, method in zip(release.steps, [*automatic, *methods], strict=True)
    ]


def _card(step: Step, method: Mask | None) -> StepCard:
    if method is None:
        title, _, text = step.description.partition(": ")
        return StepCard(title, legible(text), "", (), step.n_records)
    summary = method.summary().replace("``", "")
    title, text = _own_words(step, method)
    return StepCard(
        title=title,
        text=_sentence(text or summary),
        summary=summary,
        parameters=_parameters(method),
        n_records=step.n_records,
        effect=_effect(step),
    )


def _effect(step: Step) -> str:
    """Say how many values the step changed, the most changed columns first."""
    most = sorted(step.changed.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {count:,}" for name, count in most[:6])
    more = f" and {len(most) - 6} more variables" if len(most) > 6 else ""
    return f"values changed: {legible(shown)}{more}" if shown else "no value changed"


def _own_words(step: Step, method: Mask) -> tuple[str, str]:
    """Return title and text of what a method says of itself, beyond a list of its parameters."""
    if type(method).describe is Method.describe:
        return method.title, ""
    title, _, text = step.description.partition(": ")
    if text and title.startswith(method.title):
        return legible(title), text
    return method.title, step.description


def _sentence(text: str) -> str:
    text = legible(text).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") or not text else ".")


def _parameters(method: Mask) -> tuple[Parameter, ...]:
    values = method.model_dump(mode="json")
    return tuple(
        Parameter(name, _value(values[name]), (field.description or "").replace("``", ""))
        for name, field in type(method).model_fields.items()
        if values[name] is not None
    )


def _value(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.10g}"
        case list():
            return legible(", ".join(_value(v) for v in value))
        case dict():
            return legible("; ".join(f"{k} → {_value(v)}" for k, v in value.items()))
        case _:
            return legible(str(value))

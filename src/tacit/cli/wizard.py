"""``tacit wizard``: from a file and a target to releases that meet it, with reasons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tacit.cli.console import Answer
from tacit.cli.options import DataArgument, Reading, Roles

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.data import Microdata
    from tacit.tradeoff.release_wizard import Outcome
    from tacit.tradeoff.target import Target

_TARGET = "k >= 5; at most 5 % linkable"
_QUESTIONS = 3
"""How often the target is asked for."""


def wizard(
    data: DataArgument,
    out: Annotated[
        Path,
        Option("--out", "-o", metavar="FOLDER", help="Folder of the releases.", show_default=False),
    ],
    reading: Reading,
    roles: Roles,
    target: Annotated[
        str | None,
        Option(
            metavar="WORDS",
            help='What a release must meet, such as "k >= 5; at most 5 % linkable; keep the '
            'regression of Income on Age".',
        ),
    ] = None,
    yes: Annotated[
        bool,
        Option("--yes", "-y", metavar="", help="Ask nothing: take what is proposed."),
    ] = False,
    blur: Annotated[
        bool,
        Option(
            "--blur",
            metavar="",
            help="Also change confidential numbers a little, to means of three neighbours, where "
            "the target is still met.",
        ),
    ] = False,
    plans: Annotated[int, Option(metavar="N", min=1, help="Number of plans to try.")] = 60,
    seconds: Annotated[
        float, Option(metavar="S", min=1.0, help="Try no further plans after so many seconds.")
    ] = 45.0,
    seed: Annotated[
        int | None, Option(metavar="N", help="Secret number that makes the search repeatable.")
    ] = None,
    resume: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Keep finished work here; the same search, with the same --seed, goes on from it.",
        ),
    ] = None,
    format: Annotated[str, Option(metavar="KEY", help="File format of the released data.")] = "csv",
    force: Annotated[
        bool, Option("--force", metavar="", help="Replace earlier releases in the folder.")
    ] = False,
) -> Answer:
    """Find releases that meet a target: propose plans, search, explain, and write three of them.

    The folder gets safest/, balanced/ and most-useful/ (each with public/ and dossier/), plans/
    with their plans, map.html with all releases that were compared, and wizard.md, which says what
    was done and why. Where no plan meets the target nothing is written, and the answer says what
    comes closest.
    """
    from tacit.cli.apply import check_output
    from tacit.tradeoff import Effort
    from tacit.tradeoff import wizard as find_releases

    check_output(out, format, force=force)
    _check_resume(resume, seed)
    opened = _with_roles(data, reading, roles, yes=yes)
    wanted = _chosen_target(opened, target, yes=yes)
    wanted.conditions(opened)
    _confirm(opened, wanted, yes=yes)
    effort = Effort(evaluations=plans, seconds=seconds, sample=5000, replicates=2)
    outcome = find_releases(opened, wanted, blur=blur, effort=effort, seed=seed, storage=resume)
    if not outcome.is_met:
        _refuse(outcome)
    outcome.save(out, format=format, force=force)
    return _answer(outcome, out)


def _check_resume(resume: Path | None, seed: int | None) -> None:
    from tacit.core.errors import ParameterError

    if resume is not None and seed is None:
        raise ParameterError(
            "a search that is kept in a file needs a seed, or nobody could go on with it",
            do="add --seed N, and the same number each time",
        )


# -- questions ------------------------------------------------------------------------------------


def _with_roles(source: str, reading: Reading, roles: Roles, *, yes: bool) -> Microdata:
    """Read the data; where nobody has said what the columns mean, propose it."""
    from dataclasses import replace

    from tacit.cli.opening import open_data, require_roles
    from tacit.core.errors import DataError

    opened = open_data(source, reading, roles)
    if opened.n_records == 0:
        raise DataError("there is no record to protect", got=source)
    if not opened.schema.keys and not roles.suggested_roles:
        proposed = open_data(source, reading, replace(roles, suggested_roles=True))
        _show_roles(proposed)
        if yes or _asks("Are these roles right? (no: declare them with --key and the like)"):
            opened = proposed
    require_roles(opened)
    return opened


def _show_roles(data: Microdata) -> None:
    from tacit.core.schema import Role

    _tell("What the columns seem to be (a proposal, for a person to check):")
    for role in Role:
        names = data.schema.names(role)
        if names:
            _tell(f"  {role}: {', '.join(names)}")


def _chosen_target(data: Microdata, text: str | None, *, yes: bool) -> Target:
    from tacit.tradeoff import Target

    if text is not None:
        return Target.of(text)
    if yes:
        return Target.of(_TARGET)
    _tell("What must a release meet? Parts are joined by semicolons, for example")
    numbers = [n for n in data.columns if n in data.schema.names(kind=_numeric())]
    example = f"; keep the regression of {numbers[-1]} on {numbers[0]}" if len(numbers) > 1 else ""
    _tell(f"  {_TARGET}{example}")
    return _understood(data)


def _understood(data: Microdata) -> Target:
    """Ask for the target until it is understood, a few times."""
    from tacit.core.errors import TacitError
    from tacit.tradeoff import Target

    for left in reversed(range(_QUESTIONS)):
        try:
            wanted = Target.of(_answered("Target", _TARGET))
            wanted.conditions(data)
            return wanted
        except TacitError as error:
            if not left or _is_silence(error):
                raise
            _tell(str(error))
    raise RuntimeError  # not reached: the last question returns or raises


def _is_silence(error: Exception) -> bool:
    import typer

    return isinstance(error.__cause__, typer.Abort)


def _numeric() -> Any:
    from tacit.core.schema import Kind

    return Kind.NUMERIC


def _confirm(data: Microdata, target: Target, *, yes: bool) -> None:
    """Show what will be tried, and ask before the work begins."""
    from tacit.core.errors import ParameterError
    from tacit.tradeoff.release_wizard import proposals

    if yes:
        return
    _tell(f"Asked for: {target}.")
    _tell("These plans may reach it:")
    for proposal in proposals(data, target):
        _tell(f"  - {proposal.title}. {proposal.reason}")
    if not _asks("Search among them?"):
        raise ParameterError("nothing was done", do="start again with another --target")


def _tell(text: str) -> None:
    import typer

    from tacit.cli.console import one_line

    typer.echo(one_line(text) if not text.startswith("  ") else f"  {one_line(text)}", err=True)


def _asks(question: str) -> bool:
    import typer

    with _answering():
        return typer.confirm(question, default=True, err=True)


def _answered(question: str, default: str) -> str:
    import typer

    with _answering():
        return str(typer.prompt(question, default=default, err=True))


def _answering() -> Any:
    """Turn a question that nobody answers into a refusal."""
    from contextlib import contextmanager

    import typer

    from tacit.core.errors import ParameterError

    @contextmanager
    def block() -> Iterator[None]:
        try:
            yield
        except typer.Abort as error:
            raise ParameterError(
                "nobody answered", do="use --yes to take what is proposed"
            ) from error

    return block()


# -- the answer -----------------------------------------------------------------------------------


def _refuse(outcome: Outcome) -> None:
    """Say that no plan meets the target, and what is closest."""
    from tacit.core.errors import ProtectionError

    point = outcome.closest
    if point is None and outcome.frontier.interrupted:
        raise ProtectionError(
            "the search was interrupted before a plan was finished, so nothing is released",
            do="let it run longer",
        )
    if point is None:
        raise ProtectionError("no plan that was tried can be applied", do="check the roles")
    missed = "; ".join(
        f"{words} (it reaches {point.conditions[words]:.3g})"
        for words, gap in point.shortfalls.items()
        if gap
    )
    raise ProtectionError(
        "no plan that was tried meets the target, so nothing is released",
        got=f"closest is {point.label}, which misses: {missed}",
        do="ask for less, declare fewer keys, or search longer with --plans and --seconds",
    )


def _answer(outcome: Outcome, out: Path) -> Answer:
    import json

    releases = {
        choice.name: {
            "steps": [step.description for step in choice.release.steps],
            "why": choice.words,
            "risk": choice.point.risk,
            "utility": choice.point.utility,
            "conditions": choice.point.conditions,
            "plan": str(out / "plans" / f"{choice.name}.toml"),
            "folder": str(out / choice.name),
            "scorecard": json.loads(
                (out / choice.name / "dossier" / "measurements.json").read_text(encoding="utf-8")
            ),
        }
        for choice in outcome.choices
    }
    document = {
        "target": str(outcome.target),
        "proposals": [{"title": p.title, "reason": p.reason} for p in outcome.proposals],
        "tried": len(outcome.frontier.tried),
        "interrupted": outcome.frontier.interrupted,
        "releases": releases,
        "map": str(out / "map.html"),
        "explanation": str(out / "wizard.md"),
    }
    from tacit.suggest import looks_like_identifier

    released = outcome.choices[0].release
    suspects = [
        f"column {name!r} looks like a direct identifier and is in the releases; if it is one, "
        "declare it with --identifier and start again"
        for name in looks_like_identifier(released.original)
        if name in released.data.schema
    ]
    return Answer(document, _drawn(outcome, document), tuple(suspects))


def _drawn(outcome: Outcome, document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.markdown import Markdown
    from rich.text import Text

    from tacit.cli.card import drawn_card

    yield Markdown(outcome.words)
    for name, entry in document["releases"].items():
        yield Text(f"\n{name}", style="bold")
        yield from drawn_card(entry["scorecard"])
    yield Text.assemble(("\nmap           ", "bold"), document["map"])
    for name, entry in document["releases"].items():
        yield Text.assemble((f"{name:<14}", "bold"), f"{entry['folder']}, plan {entry['plan']}")

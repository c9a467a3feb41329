"""``tacit query``: ask about confidential data under a policy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tacit.cli.console import Answer, console
from tacit.cli.options import DataArgument, Reading, Roles

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.query.server import Server

_HELP = """\
Requests, one a line:
  crosstab by=sex,region where employed=true      a table
  summary numbers=income by=sex                   means and deviations
  histogram number=income                         counts by bin
  {"method": "crosstab", "by": ["sex"]}           the same as JSON
  describe    variables, categories, cutpoints
  rules       the policy in words
  help, quit"""


def query(
    data: DataArgument,
    reading: Reading,
    roles: Roles,
    policy: Annotated[
        str,
        Option(
            metavar="POLICY",
            help="Name of a policy (strict, mas, blocks, exact, camouflage, dp) or a TOML file.",
        ),
    ] = "strict",
    ask: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="Answer the request in a JSON file and end. Repeatable."),
    ] = None,
    unit: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Names the unit of each record; nothing numbers records."),
    ] = None,
    folder: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Where audit log and secret are kept from run to run."),
    ] = None,
    user: Annotated[str, Option(metavar="NAME", help="Who asks, for limits and the log.")] = "",
) -> Answer:
    """Ask about confidential data; what is answered has passed every rule of the policy.

    Without --ask, requests are read line by line: type help for their form. Give a --folder to
    keep the secret and the audit log, so that the server remembers what it has answered before;
    without one every run starts anew, and its noise with it.
    """
    server = _server(data, reading, roles, policy, unit, folder)
    if ask:
        given = [server.ask(text, user=user) for text in map(_text_of, ask)]
    else:
        given = list(_session(server, user))
    answers = [{**one.as_dict(), "refused": one.is_refusal} for one in given]
    document = {"policy": server.policy.id, "answers": answers}
    return Answer(document, (part for one in (given if ask else []) for part in drawn(one)))


def _server(
    data: str,
    reading: Reading,
    roles: Roles,
    policy: str,
    unit: str | None,
    folder: Path | None,
) -> Server:
    from tacit.cli.opening import open_data
    from tacit.query.policy import Policy
    from tacit.query.server import Server
    from tacit.query.source import Source

    rules = Policy.of(policy)
    return Server(Source(open_data(data, reading, roles), unit=unit), rules, folder=folder)


def _text_of(path: Path) -> str:
    from tacit.core.errors import ReadError

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError("the request cannot be read", got=str(path)) from error


def _session(server: Server, user: str) -> Iterator[Any]:
    """Answer lines until the end of input or ``quit``."""
    out, shown = console(stderr=True), console()
    asking = sys.stdin.isatty()
    out.print(f"Policy {server.policy.id}: {server.policy.summary}\nType help for help.")
    while True:
        if asking:
            out.print("> ", end="")
        line = sys.stdin.readline()
        word = line.strip()
        if not line or word in ("quit", "exit"):
            return
        if not word or word.startswith("#"):
            continue
        told = _told(server, word)
        if told is not None:
            shown.print(told)
            continue
        answer = server.ask(request_of(word), user=user)
        for part in drawn(answer):
            shown.print(part)
        yield answer


def _told(server: Server, word: str) -> str | None:
    """Answer what is no request: help, the rules, the variables."""
    if word == "help":
        return _HELP
    if word == "rules":
        return "\n".join(server.policy.told())
    if word == "describe":
        known = server.describe()
        lines = [f"analyses: {', '.join(known['analyses'])}"]
        for variable in known["variables"]:
            names = variable.get("categories") or variable["bins"]
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            lines.append(f"{variable['name']}: {', '.join(names[:12])}{more}")
        return "\n".join([*lines, f"numbers: {', '.join(known['numbers'])}"])
    return None


def request_of(line: str) -> Any:
    """Read a request: JSON, or a method with name=value words and conditions after ``where``.

    Examples
    --------
    >>> request_of("crosstab by=sex,region where employed=true age=20..30")
    {'method': 'crosstab', 'by': ['sex', 'region'],
     'universe': {'employed': ['true'], 'age': [{'from': 20.0, 'to': 30.0}]}}
    """
    import shlex

    if line.startswith("{"):
        return line
    try:
        method, *words = shlex.split(line)
    except ValueError:
        return line
    head, universe, inside = {"method": method}, {}, False
    for word in words:
        name, equals, value = word.partition("=")
        if word == "where":
            inside = True
        elif not equals:
            return line
        elif inside:
            universe[name] = [_condition(part) for part in value.split(",")]
        else:
            head[name] = _value(value)
    return {**head, "universe": universe} if universe else head


def _condition(text: str) -> Any:
    low, dots, high = text.partition("..")
    if not dots:
        return text
    ends = {"from": low, "to": high}
    try:
        return {end: float(value) for end, value in ends.items() if value}
    except ValueError:
        return text


def _value(text: str) -> Any:
    """Read a parameter: several values between commas, a number, yes or no, or a word."""
    if "," in text:
        return [_value(part) for part in text.split(",") if part]
    try:
        return json.loads(text)
    except ValueError:
        return text


def drawn(answer: Any) -> Iterator[RenderableType]:
    """Draw an answer: its table, other values, and what was done to them."""
    from rich.text import Text

    if answer.is_refusal:
        yield Text(str(answer), style="bold")
        return
    if answer.columns:
        yield _table(answer.columns)
    for name, value in answer.values.items():
        if _is_table(value):
            yield Text(name)
            yield _table(value)
        else:
            yield Text(f"{name}: {value}")
    for note in answer.notes:
        yield Text(note, style="dim")


def _is_table(value: Any) -> bool:
    """Whether a value is itself made of columns, as an analysis of variance is."""
    return (
        isinstance(value, Mapping)
        and all(isinstance(column, list | tuple) for column in value.values())
        and len({len(column) for column in value.values()}) == 1
    )


def _table(columns: Mapping[str, Any]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, values in columns.items():
        numbers = all(isinstance(v, int | float | None) for v in values)
        table.add_column(Text(name), justify="right" if numbers else "left")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text("·" if v is None else str(v)) for v in row))
    return table

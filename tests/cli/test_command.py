"""A command has the options of its groups, each declared once."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from tacit.cli.command import command
from tacit.cli.console import Answer
from tacit.cli.options import Output, Reading, Roles


@dataclass(frozen=True)
class Colour:
    """A group for this test."""

    hue: Annotated[str, typer.Option(help="What hue?")] = "red"
    strong: Annotated[bool, typer.Option("--strong")] = False


def paint(wall: str, colour: Colour, coats: int = 1) -> Answer:
    """Paint a wall."""
    return Answer({"wall": wall, "colour": colour.hue, "coats": coats}, [f"{wall} {colour}"])


def test_groups_are_unfolded_in_place_and_output_is_added():
    names = list(inspect.signature(command(paint)).parameters)
    assert names == ["wall", "hue", "strong", "coats", "json", "quiet", "debug"]


def test_a_command_gets_its_groups_filled():
    app = typer.Typer()
    app.command()(command(paint))
    result = CliRunner().invoke(app, ["north", "--hue", "blue", "--coats", "2", "--json"])
    assert result.exit_code == 0
    assert '"colour": "blue"' in result.stdout
    drawn = CliRunner().invoke(app, ["north", "--strong"])
    assert drawn.stdout == "north Colour(hue='red', strong=True)\n"


def test_no_two_groups_share_a_name():
    names = [name for group in (Reading, Roles, Output) for name in group.__annotations__]
    assert len(set(names)) == len(names)

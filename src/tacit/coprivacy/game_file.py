"""Games in TOML files, for the command line and for keeping."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.coprivacy.game import Game
from tacit.core.errors import ReadError, nearest

_ENTRIES = ("players", "strategies", "outcome", "together", "weights")
_LARGEST = 50_000_000
"""A longer file, in bytes, is no game."""


def read_game(path: str | Path) -> Game:
    """Read a game from a TOML file.

    Parameters
    ----------
    path
        A file with one table ``[[outcome]]`` per outcome: ``play`` names the strategies in the
        order of the players, ``payoffs`` has one number per player, or there is one list per part
        of the utility (``privacy``, ``functionality``, ...). Optional: ``players``, ``strategies``,
        ``[[together]]`` (what counts as helping), ``[weights]`` (of the parts).
    """
    path = Path(path)
    if not path.is_file():
        raise ReadError("there is no game file", got=str(path))
    if path.stat().st_size > _LARGEST:
        raise ReadError("the game file is too large", got=f"{path.stat().st_size:,} bytes")
    try:
        return game_from_toml(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ReadError(f"the game file is not UTF-8 text: {path}") from error


def game_from_toml(text: str) -> Game:
    """Read a game from TOML text; see `read_game`."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"the game is not valid TOML: {error}") from error
    unknown = sorted(set(content) - set(_ENTRIES))
    if unknown:
        raise ReadError(f"a game has no entry {unknown[0]!r}", do=nearest(unknown[0], _ENTRIES))
    outcomes = _tables(content, "outcome")
    if not outcomes:
        raise ReadError("a game needs its outcomes", do="write one [[outcome]] table for each")
    names: dict[str, Any] = {
        "players": _names(content.get("players"), "players"),
        "strategies": _strategies(content.get("strategies")),
        "together": _tables(content, "together"),
    }
    if not isinstance(content.get("weights", {}), dict):
        raise ReadError("weights are written as a [weights] table", got=content["weights"])
    parts = _parts(outcomes)
    if list(parts) == ["payoffs"]:
        return Game(parts["payoffs"], **names)
    return Game.of_parts(parts, weights=content.get("weights"), **names)


def _tables(content: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    tables = content.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ReadError(f"{name} is written as [[{name}]] tables", got=f"{type(tables).__name__}")
    return tables


def _names(names: Any, what: str) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ReadError(f"{what} must be a list of names", got=names)
    return names


def _strategies(given: Any) -> list[list[str]] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise ReadError("strategies must be one list of names per player", got=given)
    return [_names(own, "strategies of a player") or [] for own in given]


def _parts(outcomes: list[dict[str, Any]]) -> dict[str, dict[tuple[str, ...], Any]]:
    """Turn outcomes into one mapping from profile to payoffs per part of the utility."""
    parts: dict[str, dict[tuple[str, ...], Any]] = {}
    for outcome in outcomes:
        play = _names(outcome.get("play"), "play")
        if not play or len(outcome) < 2:
            raise ReadError("an outcome needs play and payoffs", got=outcome)
        for name, payoffs in outcome.items():
            if name != "play":
                table = parts.setdefault(name, {})
                if tuple(play) in table:
                    raise ReadError("an outcome is given twice", got=", ".join(play))
                table[tuple(play)] = payoffs
    if "payoffs" in parts and len(parts) > 1:
        raise ReadError("an outcome has payoffs, or parts of them, not both", got=list(parts))
    return parts

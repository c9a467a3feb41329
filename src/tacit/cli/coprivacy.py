"""``tacit coprivacy``: the equilibria of a game, and whether helping one another is one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.coprivacy.game import Game

_SHOWN = 50
"""Most equilibria in an answer."""


def coprivacy(
    game: Annotated[
        Path, Argument(metavar="GAME", help="A game in TOML: players, outcomes, payoffs.")
    ],
    epsilon: Annotated[
        float,
        Option(
            metavar="NUMBER",
            help="What a player may gain by departing from advice, for correlated equilibria.",
        ),
    ] = 0.0,
) -> Answer:
    """Find the equilibria of a game, and whether helping one another is one of them.

    Shown are all pure equilibria with those of dominant strategies marked, mixed and correlated
    ones, and, if the game says with [[together]] what helping is, whether it is coprivate: with
    privacy alone, in general, mixed and correlated.
    """
    from tacit.coprivacy.game_file import read_game
    from tacit.core.errors import ParameterError

    if not epsilon >= 0:
        raise ParameterError("--epsilon must be a number, 0 or above", got=epsilon)
    read = read_game(game)
    equilibria = read.equilibria()
    document: dict[str, Any] = {
        "players": list(read.players),
        "strategies": [list(own) for own in read.strategies],
        "dominant_strategies": read.dominant_strategies(),
        "n_equilibria": len(equilibria),
        "equilibria": equilibria[:_SHOWN].as_dict(),
    }
    document["mixed_equilibria"], left_out = _or_reason(lambda: _mixed(read))
    document["correlated_equilibrium"], also = _or_reason(
        lambda: read.correlated_equilibrium(epsilon=epsilon).as_dict()
    )
    document["coprivacy"] = _verdicts(read, epsilon)
    return Answer(document, _drawn(document, str(equilibria)), (*left_out, *also))


def _or_reason(work: Any) -> tuple[Any, tuple[str, ...]]:
    """Return what was found, or nothing and the reason why the game is too large for it."""
    from tacit.core.errors import TacitError

    try:
        return work(), ()
    except TacitError as error:
        return None, (str(error),)


def _mixed(game: Game) -> dict[str, Any]:
    found = game.mixed_equilibria()
    return {
        "equilibria": [e.as_dict() for e in found][:_SHOWN],
        "is_complete": found.is_complete,
        "method": found.method,
    }


def _verdicts(game: Game, epsilon: float) -> list[dict[str, Any]]:
    from tacit.coprivacy import definitions as d

    if not game.together:
        return []
    general = bool(game.parts)
    checks: list[Any] = [lambda: d.general_coprivacy(game)] if general else []
    if not general or d.PRIVACY in game.parts:
        checks.insert(0, lambda: d.coprivacy(game))
    checks += [
        lambda: d.mixed_coprivacy(game, general=general),
        lambda: d.correlated_coprivacy(game, epsilon=epsilon, general=general),
    ]
    found = (_or_reason(check)[0] for check in checks)
    return [verdict.as_dict() for verdict in found if verdict is not None]


# -- drawing ----------------------------------------------------------------------------------


def _drawn(document: dict[str, Any], equilibria: str) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"{document['n_equilibria']:,} equilibria in pure strategies", style="bold")
    yield Text(equilibria)
    if document["mixed_equilibria"] is not None:
        yield from _drawn_mixed(document["mixed_equilibria"])
    if document["correlated_equilibrium"] is not None:
        yield from _drawn_advice(document["correlated_equilibrium"])
    for verdict in document["coprivacy"]:
        yield Text(f"\n{verdict['kind']}: {'yes' if verdict['holds'] else 'no'}", style="bold")
        yield from (Text(case["reason"]) for case in verdict["cases"])


def _drawn_mixed(mixed: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    found = [e for e in mixed["equilibria"] if not e["is_pure"]]
    ending = "" if mixed["is_complete"] else " (there may be more)"
    yield Text(f"\n{len(found)} in mixed strategies only{ending}", style="bold")
    for equilibrium in found:
        players = equilibrium["probabilities"].items()
        yield Text("; ".join(f"{player}: {_chances(own)}" for player, own in players))


def _chances(own: dict[str, float]) -> str:
    return ", ".join(f"{strategy} {p:.4g}" for strategy, p in own.items() if p > 1e-6)


def _drawn_advice(found: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text("\nCorrelated equilibrium with the largest sum of payoffs", style="bold")
    for advised in found["advice"][:_SHOWN]:
        yield Text(f"({', '.join(advised['profile'])})  {advised['probability']:.4g}")
    worth = ", ".join(f"{player} {u:.6g}" for player, u in found["payoffs"].items())
    yield Text(f"expected: {worth}")

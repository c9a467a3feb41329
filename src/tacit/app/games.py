"""Games of coprivacy that people put together: solved at once, so they must be small."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tacit.core.errors import ParameterError, TacitError

if TYPE_CHECKING:
    from tacit.coprivacy import Game, Verdict

LARGEST_TEXT = 50_000
MOST_OUTCOMES = 256
_SHOWN = 50
EXAMPLE = """players = ["Ana", "Bea"]

[[outcome]]
play = ["keep to oneself", "keep to oneself"]
payoffs = [0, 0]

[[outcome]]
play = ["keep to oneself", "relay"]
payoffs = [1, 0]

[[outcome]]
play = ["relay", "keep to oneself"]
payoffs = [0, 1]

[[outcome]]
play = ["relay", "relay"]
payoffs = [2, 2]

[[together]]
Ana = "relay"
Bea = "relay"
"""


_ELSEWHERE = "solve it with tacit.coprivacy in Python"


def solved(text: str, epsilon: float = 0.0) -> dict[str, Any]:
    """Return the equilibria of a game in TOML, and whether helping one another is one of them.

    Examples
    --------
    >>> [verdict["holds"] for verdict in solved(EXAMPLE)["coprivacy"]]
    [True, True, True]
    """
    from tacit.coprivacy import game_from_toml

    if len(text) > LARGEST_TEXT:
        raise ParameterError("the game is too long", got=f"{len(text):,} characters", do=_ELSEWHERE)
    game = game_from_toml(text)
    outcomes = math.prod(len(own) for own in game.strategies)
    if outcomes > MOST_OUTCOMES:
        raise ParameterError(
            f"the game has more than {MOST_OUTCOMES} outcomes", got=f"{outcomes:,}", do=_ELSEWHERE
        )
    left_out: list[str] = []
    equilibria = game.equilibria()
    mixed = _or_reason(game.mixed_equilibria, left_out)
    correlated = _or_reason(lambda: game.correlated_equilibrium(epsilon=epsilon), left_out)
    return {
        "players": list(game.players),
        "words": str(equilibria),
        "equilibria": equilibria[:_SHOWN].as_dict(),
        "mixed": [] if mixed is None else [e.as_dict() for e in mixed][:_SHOWN],
        "correlated": None if correlated is None else correlated.as_dict(),
        "coprivacy": [_told(v) for v in _verdicts(game, epsilon, left_out)],
        "left_out": left_out,
    }


def _or_reason(work: Callable[[], Any], left_out: list[str]) -> Any:
    """Return what is found, or nothing where the game is too large for it, and note why."""
    try:
        return work()
    except TacitError as error:
        left_out.append(str(error))
        return None


def _verdicts(game: Game, epsilon: float, left_out: list[str]) -> list[Verdict]:
    from tacit.coprivacy import definitions as d

    if not game.together:
        return []
    general = bool(game.parts)
    checks: list[Callable[[], Verdict]] = [lambda: d.general_coprivacy(game)] if general else []
    if not general or d.PRIVACY in game.parts:
        checks.insert(0, lambda: d.coprivacy(game))
    checks += [
        lambda: d.mixed_coprivacy(game, general=general),
        lambda: d.correlated_coprivacy(game, epsilon=epsilon, general=general),
    ]
    found = (_or_reason(check, left_out) for check in checks)
    return [verdict for verdict in found if verdict is not None]


def _told(verdict: Verdict) -> dict[str, Any]:
    plain: dict[str, Any] = dict(verdict.as_dict())
    return {
        "kind": plain["kind"], "holds": plain["holds"],
        "reasons": [case["reason"] for case in plain["cases"]],
    }  # fmt: skip

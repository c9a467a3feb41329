"""Pure Nash equilibria and dominant strategies, found on the whole payoff array at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from tacit.coprivacy.game import Dominance, Game

_LEVELS: tuple[Dominance | None, ...] = (None, "very weak", "weak", "strict")
_SHOWN = 50
"""Most equilibria that are printed."""


@dataclass(frozen=True)
class Equilibrium:
    """A profile of strategies that no single player gains by leaving."""

    profile: Mapping[str, str]
    """What each player plays."""
    payoffs: Mapping[str, float]
    """What it is worth to each player."""
    is_strict: bool
    """Whether every player would lose by leaving it; otherwise somebody would lose nothing."""
    dominance: Dominance | None
    """How far everybody's strategy is best whatever the others do.

    ``strict``: better than any other strategy, always. ``weak``: never worse, and better at least
    once than each other one. ``very weak``: never worse, which is all that Expression (1) of the
    paper asks. None: not a solution in dominant strategies.
    """
    better_for_all: Mapping[str, str] | None
    """A profile that gives everybody more, if there is one (the one with the largest total)."""

    @property
    def is_dominant(self) -> bool:
        """Whether it is a dominant strategy solution by Expression (1) of the paper."""
        return self.dominance is not None

    @property
    def note(self) -> str:
        """The equilibrium in a few words."""
        words = "strict" if self.is_strict else "weak"
        how = {"strict": "strictly", "weak": "weakly", "very weak": "never worse, so very weakly"}
        if self.dominance is not None:
            words += f", by ({how[self.dominance]}) dominant strategies"
        if self.better_for_all is not None:
            words += f"; ({', '.join(self.better_for_all.values())}) would give everybody more"
        return words

    def as_dict(self) -> dict[str, Any]:
        """Return the equilibrium as plain data."""
        return {
            "profile": dict(self.profile),
            "payoffs": dict(self.payoffs),
            "is_strict": self.is_strict,
            "dominance": self.dominance,
            "is_dominant": self.is_dominant,
            "better_for_all": None if self.better_for_all is None else dict(self.better_for_all),
        }


class Equilibria(Sequence[Equilibrium]):
    """All pure Nash equilibria of a game; each is worked out when it is asked for."""

    def __init__(
        self, game: Game, indices: np.ndarray, is_strict: np.ndarray, levels: np.ndarray
    ) -> None:
        self._game, self._indices = game, indices
        self._is_strict, self._levels = is_strict, levels

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, item: int) -> Equilibrium: ...
    @overload
    def __getitem__(self, item: slice) -> Equilibria: ...
    def __getitem__(self, item: int | slice) -> Equilibrium | Equilibria:
        if isinstance(item, slice):
            chosen = (self._indices[item], self._is_strict[item], self._levels[item])
            return Equilibria(self._game, *chosen)
        index = tuple(self._indices[item].tolist())
        profile = self._game.profile(index)
        level = _LEVELS[int(self._levels[item])]
        best = better_for_all(self._game, index)
        strict = bool(self._is_strict[item])
        return Equilibrium(profile, self._game.utilities(profile), strict, level, best)

    def __iter__(self) -> Iterator[Equilibrium]:
        return (self[i] for i in range(len(self)))

    @property
    def profiles(self) -> list[tuple[str, ...]]:
        """The strategies of each equilibrium, in the order of the players."""
        return [tuple(self._game.profile(index).values()) for index in self._indices.tolist()]

    @property
    def dominant(self) -> tuple[Equilibrium, ...]:
        """Those in dominant strategies; more than one only where players do not care."""
        return tuple(self[int(i)] for i in np.flatnonzero(self._levels))

    @property
    def strict(self) -> tuple[Equilibrium, ...]:
        """Those that every player would lose by leaving."""
        return tuple(self[int(i)] for i in np.flatnonzero(self._is_strict))

    def as_dict(self) -> list[dict[str, Any]]:
        """Return the equilibria as plain data."""
        return [found.as_dict() for found in self]

    def __str__(self) -> str:
        if not len(self):
            return "no equilibrium in pure strategies"
        rows = [[*self._game.players, "payoffs", "equilibrium"]]
        for found in self[:_SHOWN]:
            worth = ", ".join(f"{u:.6g}" for u in found.payoffs.values())
            rows.append([*found.profile.values(), worth, found.note])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows
        ]
        more = [f"... and {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        return "\n".join(line.rstrip() for line in [*lines, *more])


def pure_equilibria(game: Game) -> Equilibria:
    r"""Find all pure Nash equilibria of a game, those in dominant strategies marked.

    Notes
    -----
    A profile is an equilibrium if :math:`u_i(s_i, s_{-i}) \ge u_i(s'_i, s_{-i})` for every player i
    and every other strategy (Section 2 of [domingoferrer2011]_): the inequality is weak, so that
    a player who would neither gain nor lose by leaving is content. With it Example 2 of the paper
    has three equilibria, although the text says that (H, H) is the only one; (H, H) is the only
    one in dominant strategies.
    """
    is_equilibrium = np.ones(game.sizes, dtype=bool)
    is_strict = np.ones(game.sizes, dtype=bool)
    for player in range(len(game.players)):
        best = _is_best(game, player)
        is_equilibrium &= best
        is_strict &= best & (best.sum(axis=player, keepdims=True) == 1)
    indices = np.argwhere(is_equilibrium)
    levels = _solution_levels(game, indices)
    return Equilibria(game, indices, is_strict[is_equilibrium], levels)


def _is_best(game: Game, player: int) -> np.ndarray:
    """Mark the outcomes in which a player answers the others as well as possible."""
    own = game.payoffs[player]
    best: np.ndarray = own >= own.max(axis=player, keepdims=True) - game.slack[player]
    return best


def dominance(game: Game, player: int) -> list[Dominance | None]:
    """Say for each strategy of a player how far it is best whatever the others do."""
    own = np.moveaxis(game.payoffs[player], player, 0).reshape(game.sizes[player], -1)
    slack = game.slack[player]
    return [_dominance_of(own[a] - np.delete(own, a, axis=0), slack) for a in range(len(own))]


def _dominance_of(lead: np.ndarray, slack: float) -> Dominance | None:
    """Classify the lead of one strategy over the others, one row per other strategy."""
    # Eq. (1) of domingoferrer2011: never worse than any other, whatever the others play.
    if (lead < -slack).any():
        return None
    if (lead > slack).all():
        return "strict"
    return "weak" if (lead > slack).any(axis=1).all() else "very weak"


def _solution_levels(game: Game, indices: np.ndarray) -> np.ndarray:
    """Return for each profile the weakest dominance among its strategies, as a number."""
    levels = np.full(len(indices), len(_LEVELS) - 1)
    for player in range(len(game.players)):
        own = np.array([_LEVELS.index(level) for level in dominance(game, player)])
        levels = np.minimum(levels, own[indices[:, player]])
    return levels


def better_for_all(game: Game, index: tuple[int, ...]) -> dict[str, str] | None:
    """Return the profile of largest total that gives every player more, or None."""
    axes = (-1,) + (1,) * len(game.sizes)
    now = np.array([own[index] for own in game.payoffs]) + game.slack
    better = (game.payoffs > now.reshape(axes)).all(axis=0)
    if not better.any():
        return None
    total = np.where(better, game.payoffs.sum(axis=0), -np.inf)
    return game.profile(tuple(int(a) for a in np.unravel_index(total.argmax(), total.shape)))

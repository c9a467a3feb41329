"""What a user may give as payoffs, turned into one array: player first, then one axis per player.

Size is checked before anything is laid out: a game of N players with two strategies each has
:math:`N 2^N` numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError

LARGEST = 20_000_000
"""Most numbers that a game may hold."""
LARGEST_PAYOFF = 1e100
"""Sums and differences of payoffs must stay numbers."""

Strategies = tuple[tuple[str, ...], ...]


def check_size(sizes: Sequence[int]) -> None:
    """Refuse a game that would not fit in memory."""
    n_numbers = len(sizes) * math.prod(sizes)
    if n_numbers > LARGEST:
        raise ParameterError(
            "the game is too large to be written out",
            got=f"{len(sizes)} players, {math.prod(sizes):,} outcomes",
            do="use fewer players, or a CountingGame where players differ only by how many do what",
        )


def payoff_array(
    payoffs: Any, strategies: Sequence[Sequence[str]] | None
) -> tuple[np.ndarray, Strategies | None]:
    """Return payoffs as an array, and the strategies if the payoffs name them."""
    if isinstance(payoffs, Mapping):
        return _from_outcomes(payoffs, strategies)
    try:
        array = np.array(payoffs, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(
            "payoffs must be numbers, one table of the same shape per player",
            got=str(error).splitlines()[0],
            do="give an array of shape (players, strategies of the first, of the second, ...)",
        ) from error
    return _checked_shape(array), None


def _checked_shape(array: np.ndarray) -> np.ndarray:
    if array.ndim < 2 or array.shape[0] != array.ndim - 1:
        raise DataError(
            "payoffs must have one table per player and one axis per player",
            got=f"shape {array.shape}",
            do="for two players with m and n strategies give an array of shape (2, m, n)",
        )
    if 0 in array.shape:
        raise DataError("every player needs at least one strategy", got=f"shape {array.shape}")
    check_size(array.shape[1:])
    return array


def check_numbers(array: np.ndarray, strategies: Strategies, players: Sequence[str]) -> None:
    """Refuse payoffs that are missing, infinite or too large to reckon with, and say where."""
    wrong = np.argwhere(~(np.abs(array) <= LARGEST_PAYOFF))
    if len(wrong):
        player, *profile = wrong[0].tolist()
        names = ", ".join(s[a] for s, a in zip(strategies, profile, strict=True))
        raise DataError(
            "every outcome needs a payoff for every player",
            got=f"{array[tuple(wrong[0])]} for {players[player]} at ({names})",
            do=f"give a number, at most {LARGEST_PAYOFF:g}",
        )


# -- outcomes by name --------------------------------------------------------------------------


def _from_outcomes(
    outcomes: Mapping[Any, Any], strategies: Sequence[Sequence[str]] | None
) -> tuple[np.ndarray, Strategies]:
    """Read ``{("H", "P"): (1, 0), ...}``, one entry per outcome."""
    table = {_profile(key): value for key, value in outcomes.items()}
    if not table:
        raise DataError("a game needs at least one outcome", got="an empty mapping")
    n_players = len(next(iter(table)))
    if any(len(profile) != n_players for profile in table) or not n_players:
        raise DataError("every outcome names one strategy per player", got=f"{list(table)[:3]}")
    names = _named(table, n_players) if strategies is None else _as_names(strategies)
    check_size([len(own) for own in names])
    rows = [_row(table, profile, n_players) for profile in product(*names)]
    _refuse_unknown(table, names)
    array = np.array(rows, dtype=float).T.reshape(n_players, *(len(own) for own in names))
    return array, names


def _profile(key: Any) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else tuple(str(part) for part in key)


def _named(table: Mapping[tuple[str, ...], Any], n_players: int) -> Strategies:
    """List each player's strategies in the order in which the outcomes name them."""
    return tuple(tuple(dict.fromkeys(p[i] for p in table)) for i in range(n_players))


def _as_names(strategies: Sequence[Sequence[str]]) -> Strategies:
    return tuple(tuple(str(name) for name in own) for own in strategies)


def _row(table: Mapping[tuple[str, ...], Any], profile: tuple[str, ...], n: int) -> list[float]:
    shown = f"({', '.join(profile)})"
    if profile not in table:
        raise DataError("an outcome has no payoffs", got=shown, do="give one number per player")
    try:
        numbers = [float(value) for value in np.atleast_1d(np.asarray(table[profile], float))]
    except (TypeError, ValueError) as error:
        raise DataError("payoffs must be numbers", got=f"{table[profile]} at {shown}") from error
    if len(numbers) != n:
        raise DataError("an outcome needs one payoff per player", got=f"{len(numbers)} at {shown}")
    return numbers


def _refuse_unknown(table: Mapping[tuple[str, ...], Any], names: Strategies) -> None:
    if len(table) > math.prod(len(own) for own in names):
        unknown = next(
            p for p in table if any(s not in own for s, own in zip(p, names, strict=False))
        )
        raise DataError("an outcome names a strategy that no player has", got=f"{unknown}")

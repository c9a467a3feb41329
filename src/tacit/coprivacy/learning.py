"""Players who reach an epsilon-correlated equilibrium by themselves, without anybody's advice."""

from __future__ import annotations

import numpy as np

from tacit.coprivacy.correlated import CorrelatedEquilibrium
from tacit.coprivacy.game import Game
from tacit.core.errors import ParameterError


def regret_matching(
    game: Game, *, rounds: int = 100_000, seed: int | None = None
) -> CorrelatedEquilibrium:
    r"""Play a game again and again, each player changing what she regrets, and return the record.

    Parameters
    ----------
    game
        The game.
    rounds
        How often it is played.
    seed
        Makes the play repeatable.

    Notes
    -----
    After playing a, a player switches to b with probability in proportion to how much better b
    would have done on average in the rounds in which she played a. The record of play comes
    arbitrarily close to the set of correlated equilibria [hart2000]_: its `epsilon` falls roughly
    with the square root of the number of rounds. Players see only payoffs; this is the distributed
    heuristic that [domingoferrer2011]_ has in mind.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> chicken = coprivacy.Game([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    >>> coprivacy.regret_matching(chicken, seed=1).epsilon < 0.05
    True
    """
    from tacit.coprivacy._learning_kernel import match_regrets

    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 1:
        raise ParameterError("rounds must be a whole number above 0", got=repr(rounds))
    flat = np.ascontiguousarray(game.payoffs.reshape(len(game.players), -1))
    sizes = np.array(game.sizes)
    stride = np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)
    # Large enough that the probabilities of switching add up to less than one.
    inertia = np.maximum(2 * np.ptp(flat, axis=1) * np.maximum(sizes - 1, 1), 1e-300)
    rng = np.random.default_rng(seed)
    played = match_regrets(flat, sizes, stride, inertia, int(rounds), rng)
    return CorrelatedEquilibrium(game, (played / played.sum()).reshape(game.sizes))

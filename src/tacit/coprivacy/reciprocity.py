"""What a player gains by cheating those who repay: the epsilon of tit-for-tat and reputation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.coprivacy.game import Game
from tacit.core.errors import DataError, ParameterError

_LONGEST_MEMORY = 14


@dataclass(frozen=True)
class Incentive:
    """What keeping to a protocol is worth per round, and what the best cheat is worth."""

    keeping: float
    """Payoff per round of a player who always helps."""
    cheating: float
    """Payoff per round of the best answer to others who follow the protocol."""
    helps_share: float
    """Share of rounds in which the best answer helps."""

    @property
    def epsilon(self) -> float:
        """What can be gained by departing from the protocol: it is an equilibrium up to this."""
        return max(self.cheating - self.keeping, 0.0)


def reciprocity_incentive(
    game: Game, *, discount: float, memory: int = 1, threshold: float = 1.0
) -> Incentive:
    r"""Return what the best cheat gains against others who help only those who helped.

    Parameters
    ----------
    game
        A game of two equal players with two strategies, of which the second one helps.
    discount
        What a payoff of the next round is worth now, from 0 to below 1: how much the future counts.
    memory
        How many rounds the others remember.
    threshold
        Share of those rounds in which a player must have helped to be helped. Memory 1 and
        threshold 1 are tit-for-tat; a longer memory is a reputation.

    Notes
    -----
    The answer is exact: the best policy of a decision process whose state is what the player did in
    the remembered rounds, all of them helpful at the start, by value iteration. Payoffs are per
    round, :math:`(1 - \gamma) \sum_t \gamma^t u_t`. Against tit-for-tat in Example 2 of
    [domingoferrer2011]_ the best answer takes turns in publishing and hiding, for
    :math:`1 / (1 + \gamma)` instead of 1/2, so that :math:`\epsilon = (1 - \gamma) /
    (2 (1 + \gamma))`, which vanishes as the future counts more. A memory of two rounds that must
    both be good leaves no gain once :math:`\gamma + \gamma^2 \ge 1`.

    Examples
    --------
    >>> from tacit import coprivacy
    >>> example_2 = coprivacy.publication_game(2).game()
    >>> round(coprivacy.reciprocity_incentive(example_2, discount=0.9).epsilon, 6)
    0.026316
    """
    if game.sizes != (2, 2):
        raise DataError("reciprocity is measured between two players with two strategies", got=game)
    if not 0 <= discount < 1 or not 0 <= threshold <= 1:
        raise ParameterError(
            "discount must be from 0 to below 1, threshold from 0 to 1", got=(discount, threshold)
        )
    if not 1 <= memory <= _LONGEST_MEMORY:
        raise ParameterError(f"memory must be from 1 to {_LONGEST_MEMORY} rounds", got=memory)
    own = game.payoffs[0]
    rewards, following = _process(own, memory, threshold)
    values = _values(rewards, following, discount)
    start = 2**memory - 1
    cheating = (1 - discount) * float(values[start])
    helps = _helping_share(rewards + discount * values[following], following, start)
    return Incentive(float(own[1, 1]), max(cheating, float(own[1, 1])), helps)


def _process(own: np.ndarray, memory: int, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return reward and next state of each state and action; a state's bits are the last rounds."""
    states = np.arange(2**memory)
    helped = np.array([bin(state).count("1") for state in states])
    is_repaid = (helped >= threshold * memory - 1e-9).astype(int)
    rewards = own[:, is_repaid].T
    shifted = (states << 1) & (2**memory - 1)
    return rewards, np.stack([shifted, shifted | 1], axis=1)


def _values(rewards: np.ndarray, following: np.ndarray, discount: float) -> np.ndarray:
    scale = max(float(np.abs(rewards).max()), 1e-300)
    n_rounds = 1 if discount == 0 else int(np.ceil(np.log(1e-13) / np.log(discount))) + 1
    values = np.zeros(len(rewards))
    for _ in range(min(n_rounds, 200_000)):
        new = (rewards + discount * values[following]).max(axis=1)
        if np.abs(new - values).max() <= 1e-14 * scale:
            break
        values = new
    return values


def _helping_share(worth: np.ndarray, following: np.ndarray, state: int) -> float:
    """Follow the best policy and count how often it helps; where equal, it helps."""
    seen: dict[int, int] = {}
    actions: list[int] = []
    while state not in seen:
        seen[state] = len(actions)
        hide, help_ = worth[state]
        actions.append(int(help_ >= hide - 1e-12 * max(abs(hide), 1.0)))
        state = int(following[state, actions[-1]])
    return float(np.mean(actions[seen[state] :]))

"""Search among plans for the risk-utility frontier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.plan import Plan
from tacit.core.rng import fresh_seed
from tacit.tradeoff._run import Run
from tacit.tradeoff.attack_gain import attack_conditions
from tacit.tradeoff.effort import Effort
from tacit.tradeoff.frontier import Frontier
from tacit.tradeoff.objective import Condition, Objective
from tacit.tradeoff.space import Space


def search(
    data: Any,
    candidates: Any = "auto",
    *,
    risk: Any = None,
    utility: Any = None,
    budget: int | Effort = 100,
    conditions: Sequence[Condition] = (),
    attacks: Iterable[Any] = (),
    max_success_over_baseline: float = 0.05,
    start: Iterable[Plan] = (),
    seed: int | None = None,
    storage: str | Path | None = None,
) -> Frontier:
    r"""Find the releases that no other beats on risk and utility.

    Parameters
    ----------
    data
        Microdata, or any frame.
    candidates
        Plans, methods, `Varied` methods, lists of steps, or `Candidate` values; ``"auto"`` takes
        every method of the registry that fits the roles and kinds of the columns.
    risk, utility
        A measure, its key, a function of original and release, or a list of those, of which the
        mean counts. By default the expected share of people identified and the information kept
        where the data have keys, else the two halves of the score of DF07.
    budget
        Number of plans to try, or an `Effort`.
    conditions
        What a release must meet; those that do not are never on the frontier.
    attacks
        Attacks on records, or their keys, that a release must withstand.
    max_success_over_baseline
        By how much each of them may succeed more often than guessing.
    start
        Plans to try first, for example what is usual in your house.
    seed
        Same seed, same frontier, whatever the number of processes.
    storage
        A file that keeps every finished evaluation: the same search, with the same seed, goes on
        where it was stopped.

    Notes
    -----
    Where the plans are fewer than the budget all are tried; else new ones are proposed in rounds,
    by a model of the good ones (TPE) or, with more than 500 plans, by evolution (NSGA-II). A large
    file is searched on a sample first; larger samples try the better plans again, and all records
    confirm those of the frontier (successive halving). A plan that draws at random is repeated; the
    frontier is one of means. An interrupt (Ctrl-C) keeps what was found.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, tradeoff
    >>> data = tacit.datasets.census(300)
    >>> swaps = tradeoff.Varied(mask.RankSwap, columns=["income", "hours"])
    >>> front = tradeoff.search(
    ...     data,
    ...     [swaps],
    ...     budget=5,
    ...     seed=1,
    ...     risk=tradeoff.Score(attributes=["income", "hours"]).risk,
    ...     utility=tradeoff.Score(attributes=["income", "hours"]).loss,
    ... )
    >>> len(front.tried), front.n_evaluations >= 5
    (5, True)
    """
    original = Microdata.of(data)
    if original.n_records == 0:
        raise DataError("there is no record to protect")
    if storage is not None and seed is None:
        raise ParameterError(
            "a search that is kept in a file needs a seed, or nobody could go on with it",
            do="give a seed, and the same one each time",
        )
    effort = budget if isinstance(budget, Effort) else Effort(evaluations=budget)
    run = Run(original, effort, fresh_seed() if seed is None else _checked(seed))
    wanted = (*conditions, *attack_conditions(attacks, max_success_over_baseline))
    run.look_at(*_axes(original, risk, utility), wanted, storage)
    return run.search(_space(original, candidates), [Plan(p) for p in start])


def _axes(original: Microdata, risk: Any, utility: Any) -> tuple[Objective, Objective]:
    """Fill in what is not said: people and information, or the halves of the score."""
    from tacit.tradeoff.information_kept import InformationKept
    from tacit.tradeoff.score import Score
    from tacit.tradeoff.target import Linkable

    has_keys = bool(original.schema.keys)
    if risk is None:
        # One attack, and the bound by classes: the pairwise linkages take too long on large files.
        quick = Linkable(attacks=("identification-risk",))
        risk = quick if has_keys else Score().risk
    if utility is None:
        utility = InformationKept() if has_keys else Score().loss
    return Objective.of(risk, "lower", "risk"), Objective.of(utility, "higher", "utility")


def _space(original: Microdata, candidates: Any) -> Space:
    if isinstance(candidates, str):
        if candidates != "auto":
            raise ParameterError("candidates are a list, or 'auto'", got=repr(candidates))
        from tacit.tradeoff.candidates import fitting_candidates

        candidates = fitting_candidates(original)
    return Space.of(candidates)


def _checked(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("the seed must be a whole number, 0 or above", got=repr(seed))
    return int(seed)

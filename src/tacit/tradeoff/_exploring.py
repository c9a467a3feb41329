"""Propose plans: all of them where they are few, else by an evolutionary or model-based search.

Proposals come in batches of a fixed size and each batch has a sampler with a seed of its own, so
that what is proposed depends on the results so far and on nothing else: neither on the number of
processes nor on whether the search was stopped in between.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from tacit.core.plan import Plan
from tacit.tradeoff.frontier import Point
from tacit.tradeoff.space import Space

Sampler = Literal["auto", "grid", "nsga2", "tpe", "random"]

_BATCH = 8
"""Plans that are proposed together."""
_MOST_FOR_A_MODEL = 500
"""Up to so many plans a model of the good ones is worth its time; evolution needs more plans."""
_EXPLORING = 0.35
"""Share of the plans that are drawn at random before a model says where good ones are."""
_MUTATION = 0.3
"""Chance that a parameter of a new plan is changed a little after crossing two plans."""
_REDRAWS = 25
"""How often a plan that was proposed before is replaced by one at random."""


class Explorer:
    """Propose batches of plans and learn from their points."""

    def __init__(
        self,
        space: Space,
        *,
        budget: int,
        sampler: Sampler,
        seed: int,
        known: Sequence[Plan] = (),
    ) -> None:
        self.kind = self._chosen(space, budget, sampler)
        self.batch = _BATCH if self.kind != "nsga2" else int(np.clip(budget // 8, _BATCH, 40))
        self._at_random = int(_EXPLORING * budget)
        self._space, self._seed = space, seed
        self._grid = self._every() if self.kind == "grid" else None
        self._study: Any = None
        self._asked: list[tuple[Any, Plan]] = []
        self._proposed = {plan.to_toml() for plan in known}
        self._number = 0
        self.is_spent = False

    @staticmethod
    def _chosen(space: Space, budget: int, sampler: Sampler) -> str:
        if sampler == "auto":
            if space.size <= budget:
                return "grid"
            return "tpe" if budget <= _MOST_FOR_A_MODEL else "nsga2"
        return sampler

    def _every(self) -> Iterator[Plan]:
        return iter(self._space.every())

    def propose(self) -> list[Plan]:
        """Return the next batch; an empty one may be followed by others until `is_spent`."""
        if self._grid is not None:
            plans = list(itertools.islice(self._grid, self.batch))
            self.is_spent = len(plans) < self.batch
            return plans
        study = self._prepared()
        drawn = [self._drawn(study) for _ in range(self.batch)]
        study.sampler = self._at_random_sampler()
        self._asked = [self._replaced(study, *pair) for pair in drawn]
        self._number += 1
        return [plan for _, plan in self._asked]

    def learn(self, points: Sequence[Point | None]) -> None:
        """Take in the points of the last batch, in its order; None for a plan that failed."""
        if self._grid is not None:
            return
        import optuna

        for (trial, _), point in zip(self._asked, points, strict=True):
            if point is None:
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                trial.set_user_attr("shortfall", point.shortfall)
                self._study.tell(trial, [point.risk, point.utility])
        self._asked = []

    def _prepared(self) -> Any:
        import optuna

        if self._study is None:
            optuna.logging.set_verbosity(optuna.logging.WARNING)
            self._study = optuna.create_study(directions=["minimize", "maximize"])
            self._enqueue()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Optuna calls some of these options experimental
            self._study.sampler = self._sampler(optuna)
        return self._study

    def _replaced(self, study: Any, trial: Any, plan: Plan) -> tuple[Any, Plan]:
        """Put a plan at random in the place of one that was proposed before.

        A model of few plans soon proposes the same ones again and again; learning from them again
        would only make it surer.
        """
        import optuna

        for _ in range(_REDRAWS):
            if plan.to_toml() not in self._proposed:
                break
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            trial, plan = self._drawn(study)
        self._proposed.add(plan.to_toml())
        return trial, plan

    def _at_random_sampler(self) -> Any:
        import optuna

        return optuna.samplers.RandomSampler(seed=self._chosen_seed(1))

    def _chosen_seed(self, *way: int) -> int:
        """Return a seed that depends on nothing but the seed of the search and the batch."""
        key = (self._number, *way)
        return int(np.random.SeedSequence(self._seed, spawn_key=key).generate_state(1)[0])

    def _sampler(self, optuna: Any) -> Any:
        chosen = self._chosen_seed()
        if self.kind == "random":
            return optuna.samplers.RandomSampler(seed=chosen)
        limits = {"constraints_func": _missed, "seed": chosen}
        if self.kind == "tpe":
            return optuna.samplers.TPESampler(n_startup_trials=self._at_random, **limits)
        nsga = optuna.samplers.nsgaii
        return optuna.samplers.NSGAIISampler(
            population_size=self.batch,
            crossover=nsga.SBXCrossover(),
            mutation=nsga.PolynomialMutation(),
            mutation_prob=_MUTATION,
            **limits,
        )

    def _enqueue(self) -> None:
        """Let every candidate have its turn in the beginning, as often as there is room."""
        n = len(self._space.candidates)
        if self.kind == "random" or n < 2:
            return
        for which in range(n * max(1, self.batch // n)):
            self._study.enqueue_trial({"plan": which % n})

    def _drawn(self, study: Any) -> tuple[Any, Plan]:
        trial = study.ask()
        n = len(self._space.candidates)
        which = trial.suggest_categorical("plan", range(n)) if n > 1 else 0
        options = []
        for i, (n_methods, n_open) in enumerate(self._space.shape):
            chosen = trial.suggest_categorical(f"m{i}", range(n_methods)) if n_methods > 1 else 0
            numbers = tuple(trial.suggest_float(f"u{i}_{j}", 0.0, 1.0) for j in range(n_open))
            options.append((chosen, numbers))
        return trial, self._space.plan(which, options)


def _missed(trial: Any) -> list[float]:
    return [float(trial.user_attrs.get("shortfall", 0.0))]

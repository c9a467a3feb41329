"""Attacks that name a secret category of each victim, and what guessing would name."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker, Victim, most_common, secret_of, victims
from tacit.attack.target import QueryTarget


class NamesSecrets(Attack):
    """What the attacks that name one category per victim have in common."""

    kind: ClassVar[type] = QueryTarget
    question: ClassVar[str] = ""

    secret: str | None = None
    """Variable to be learnt; by default the confidential one with the fewest categories."""
    most: Annotated[int, Ge(1)] = 60
    """People who are attacked."""

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to be learnt, or nobody to be set apart."""
        secret = secret_of(target, self.secret)
        if secret is None:
            return "the server has no confidential variable"
        if not victims(target, knowledge, secret, 1):
            return "nobody is set apart by the categories that an intruder knows"
        return None

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Name the secret of each victim; where the server is silent, guess."""
        secret = str(secret_of(target, self.secret))
        people = victims(target, knowledge, secret, self.most)
        asker = Asker(target.open(), knowledge.queries)
        guess = most_common(target, secret)
        named = [self.named(asker, one, secret, target) for one in people]
        truth = np.array([one.truth for one in people])
        hits = np.array([guess if n is None else n for n in named]) == truth
        answered = sum(n is not None for n in named)
        right = sum(n == t for n, t in zip(named, truth, strict=True))
        return Outcome(
            hits=hits.astype(float), guesses=(truth == guess).astype(float),
            question=self.question.format(secret=secret),
            positions=np.array([one.row for one in people]),
            worst=f"{secret} of {right} of {len(people)} people named rightly"
            if answered
            else "the server told nothing that names a category",
            warnings=asker.warnings(),
            details={**asker.told(), "secret": secret, "named": answered},
        )  # fmt: skip

    @abstractmethod
    def named(self, asker: Asker, victim: Victim, secret: str, target: QueryTarget) -> str | None:
        """Return the category that the answers point to, or nothing."""


def likeliest(change: dict[str, float]) -> str | None:
    """Return the category that changed most, if one stands out."""
    ranked = sorted(change.values())
    if not ranked or (len(ranked) > 1 and ranked[-1] == ranked[-2]):
        return None
    return max(change, key=lambda c: change[c])


def difference(
    whole: dict[str, float] | None, rest: dict[str, float] | None
) -> dict[str, float] | None:
    """Return how much each category loses when the victim is left out."""
    if whole is None or rest is None:
        return None
    return {c: whole.get(c, 0.0) - rest.get(c, 0.0) for c in {*whole, *rest}}

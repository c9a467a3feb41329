"""The background knowledge attack: ruling values out until one is left."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._claims import Classes, claimed_outcome, classes_of, no_claims
from tacit.attack.target import MicrodataTarget


class BackgroundKnowledge(
    Attack,
    key="background-knowledge",
    title="Background knowledge attack",
    cites=("machanavajjhala2007",),
):
    r"""Learn a confidential value by ruling out the others in somebody's class.

    Missing values: a class with a gap allows no claim. Weights: not used. Households: not
    considered.

    Notes
    -----
    An intruder who can rule out :math:`b` values (`Knowledge.excluded`) learns the value of
    everybody whose class has at most :math:`b + 1` distinct ones [machanavajjhala2007]_; classes
    with one value are left to the homogeneity attack. Guessing rules out the same values and
    takes the most common one that is left.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(500).with_roles(confidential=["employed"])
    >>> release = tacit.Plan([mask.Mondrian(k=20)]).apply(data, seed=1)
    >>> attack.BackgroundKnowledge().run(release).gain <= 0
    True
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Ask for more than b + 1 confidential values in each class: l-diversity with a larger l."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no keys, nothing confidential, or nothing to rule out."""
        if not knowledge.excluded:
            return "the intruder can rule out nothing"
        names = knowledge.attributes(target.original, target.released)
        return no_claims(target, names, target.confidential())

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Claim the value that is left where few are possible."""
        names = knowledge.attributes(target.original, target.released)
        parts = []
        for column in target.confidential():
            made = classes_of(target, target.released, names, column)
            number, low, _ = made.distinct()
            few = (number > 1) & (number <= knowledge.excluded + 1) & (low >= 0)
            claimed = few[made.class_of] & (made.person >= 0)
            people = made.person[claimed]
            right = _is_possible(made, claimed)
            parts.append((column, people, right, _guessed(made, claimed)))
        question = f"Learn confidential values by ruling out {knowledge.excluded} of them"
        return claimed_outcome(target, parts, question, excluded=knowledge.excluded)


def _is_possible(made: Classes, claimed: np.ndarray) -> np.ndarray:
    """Say whether the true value is among those of the class: what is ruled out is never true."""
    width = made.n_values + 1
    present = np.unique(made.class_of * width + made.value)
    wanted = made.class_of[claimed] * width + made.truth[made.person[claimed]]
    return np.isin(wanted, present)


def _guessed(made: Classes, claimed: np.ndarray) -> np.ndarray:
    """Say whether the most common value that is not ruled out is the true one.

    Ruled out are the other values of the class, so the guess is right if the true value is more
    common in the release than every value outside the class.
    """
    order = np.argsort(-made.shares, kind="stable")
    truth, width = made.truth[made.person[claimed]], made.n_values + 1
    present = np.unique(made.class_of * width + made.value)
    classes = made.class_of[claimed]
    guess = np.full(len(truth), -1)
    for value in order:
        outside = ~np.isin(classes * width + value, present)
        free = (guess < 0) & (outside | (truth == value))
        guess[free] = value
        if (guess >= 0).all():
            break
    return np.asarray(guess == truth)

"""The homogeneity attack: classes of equal keys in which everybody has the same value."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._claims import claimed_outcome, classes_of, no_claims
from tacit.attack.target import MicrodataTarget


class Homogeneity(
    Attack,
    key="homogeneity",
    title="Homogeneity attack",
    cites=("machanavajjhala2007", "sweeney2002"),
):
    r"""Learn a confidential value that all records with somebody's keys share.

    Missing values: a class with a gap allows no claim. Weights: not used. Households: not
    considered.

    Notes
    -----
    Nobody has to be found: if all records of a class have value :math:`v`, everybody in it has it
    [machanavajjhala2007]_. Success is the share of such claims that are true of the person;
    guessing claims the most common value of the release for the same people. People alone in
    their class count: their class has one value.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> data = tacit.datasets.census(500).with_roles(confidential=["employed"])
    >>> attack.Homogeneity().run((data, data)).success.value
    1.0
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Ask for several confidential values in each class: l-diversity or t-closeness of "
        "mask.Generalise or mask.Mondrian."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no keys or nothing confidential."""
        names = knowledge.attributes(target.original, target.released)
        return no_claims(target, names, target.confidential())

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Claim the value of every class that has only one."""
        names = knowledge.attributes(target.original, target.released)
        parts = []
        for column in target.confidential():
            made = classes_of(target, target.released, names, column)
            number, low, _ = made.distinct()
            claimed = (number == 1)[made.class_of] & (low >= 0)[made.class_of] & (made.person >= 0)
            people = made.person[claimed]
            right = made.truth[people] == made.value[claimed]
            guessed = made.truth[people] == int(np.argmax(made.shares))
            parts.append((column, people, right, guessed))
        question = (
            f"Learn confidential values shared by all records with the same {', '.join(names)}"
        )
        return claimed_outcome(target, parts, question)

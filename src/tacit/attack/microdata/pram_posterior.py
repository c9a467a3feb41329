"""The posterior of randomised categories: what was most likely there before."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.target import MicrodataTarget
from tacit.core.common_scale import common_codes


class PramPosterior(
    Attack,
    key="pram-posterior",
    title="Posterior of randomised categories",
    cites=("gouweleeuw1998",),
):
    r"""Name the category that most likely stood there before post-randomisation.

    Missing values: stay missing in PRAM; they are left out. Weights: not used. Households: not
    considered.

    Notes
    -----
    With the transition matrix :math:`p_{kl}`, which users need to correct their counts
    [gouweleeuw1998]_, and the shares :math:`\pi_k`, the intruder names
    :math:`\arg\max_k \pi_k p_{kl}` for a record that shows :math:`l`. Guessing names the most
    common category whatever the record shows.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(1000)
    >>> release = tacit.Plan([mask.Pram(columns=["marital"], stay=0.9)]).apply(data, seed=1)
    >>> attack.PramPosterior().run(release).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Lower the chance to stay, or randomise only columns that nobody links with people."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that nothing was randomised, or that the intruder does not know."""
        if not knowledge.method:
            return "the intruder does not know the method"
        if not _randomised(target):
            return "no categories were randomised"
        return None if target.has_own_records else "no released record is that of a person"

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Name the most likely original of every released category."""
        at, to = target.matched
        hits, guesses, people = [], [], []
        names = _randomised(target)
        for name in names:
            before, after = common_codes(target.original.local[name], target.released.local[name])
            truth, seen = before[at], after[to]
            known = (truth >= 0) & (seen >= 0)
            truth, seen = truth[known], seen[known]
            size = int(max(truth.max(initial=0), seen.max(initial=0))) + 1
            joint = np.bincount(truth * size + seen, minlength=size * size).reshape(size, size)
            hits.append(joint.argmax(axis=0)[seen] == truth)
            guesses.append(truth == int(joint.sum(axis=1).argmax()))
            people.append(at[known])
        right = np.concatenate(hits).astype(float)
        return Outcome(
            hits=right, guesses=np.concatenate(guesses).astype(float), unit="value",
            question=f"Name what {', '.join(names)} were before randomisation",
            positions=np.concatenate(people),
            worst=f"{int(right.sum()):,} of {len(right):,} categories named rightly",
            details={"columns": names},
        )  # fmt: skip


def _randomised(target: MicrodataTarget) -> list[str]:
    names: list[str] = []
    for step in target.steps_of("pram"):
        names += [n for n in getattr(step, "columns", ()) if n not in names]
    return [n for n in names if n in target.released.schema]

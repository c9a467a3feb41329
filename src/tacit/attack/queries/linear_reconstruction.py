"""Linear reconstruction: a secret bit of everybody from many subset counts."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker, most_common, secret_of
from tacit.attack.target import QueryTarget

_SILENT = 20
"""Refusals in a row after which the server is taken to refuse all."""


class LinearReconstruction(
    Attack,
    key="linear-reconstruction",
    title="Linear reconstruction (Dinur-Nissim)",
    cites=("dinur2003",),
):
    r"""Solve for a secret bit of each person from counts over random subsets.

    Missing values: a category of its own. Weights: not used. Households: not considered.

    Notes
    -----
    With :math:`m` random subsets :math:`A \in \{0,1\}^{m \times n}` and noisy counts
    :math:`b = Ax + e`, the rounded least-squares solution recovers almost all of the bits
    :math:`x` if the noise stays below the order of :math:`\sqrt n` [dinur2003]_. The server is
    taken to let users name people one by one, which is the most a set of conditions can do; `n`
    people are drawn for it. Bits of people whom the answers do not settle are guessed.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> data = tacit.datasets.census(500)
    >>> bits = attack.LinearReconstruction(secret="employed", n=40)
    >>> bits.run((data, query.Policy(name="open"))).success.value
    1.0
    """

    kind: ClassVar[type] = QueryTarget
    remedy: ClassVar[str] = (
        "Allow whole categories only, limit the number of requests, and let noise grow with the "
        "number of answers (guards whole-categories, budget, ledger; policy dp)."
    )

    secret: str | None = None
    """Variable to be learnt; by default the confidential one with the fewest categories."""
    n: Annotated[int, Ge(2)] = 120
    """People who are attacked."""
    subsets: Annotated[int, Ge(1)] = 4
    """Random subsets for each of them."""

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to be learnt."""
        found = secret_of(target, self.secret)
        return None if found else "the server has no confidential variable"

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Ask for random subsets and solve."""
        import polars as pl

        rng, secret = knowledge.rng, str(secret_of(target, self.secret))
        labels = target.labels(secret).astype(str)
        people = np.sort(rng.permutation(len(labels))[: self.n])
        bit = most_common(target, secret)
        truth = labels[people] == bit
        names = [f"p{k:05}" for k in range(len(people))]
        frame = pl.DataFrame({"person": names, "bit": np.where(truth, "yes", "no")})
        asker = Asker(target.serving(frame), knowledge.queries)
        rows, sums = self._answers(asker, names, rng)
        guess = np.full(len(people), truth.mean() >= 0.5)
        found = guess.copy()
        if len(sums) >= len(people) // 2:
            found = np.linalg.lstsq(np.array(rows, float), np.array(sums), rcond=None)[0] > 0.5
        return Outcome(
            hits=(found == truth).astype(float), guesses=(guess == truth).astype(float),
            question=f"Solve for whether {secret} is {bit!r}, for {len(people)} people", unit="bit",
            positions=people,
            worst=f"{int((found == truth).sum())} of {len(people)} bits are right",
            warnings=asker.warnings(),
            details={**asker.told(), "answers": len(sums)},
        )  # fmt: skip

    def _answers(
        self, asker: Asker, names: list[str], rng: np.random.Generator
    ) -> tuple[list[np.ndarray], list[float]]:
        """Ask for the count over many random subsets."""
        rows: list[np.ndarray] = []
        sums: list[float] = []
        for trial in range(self.subsets * len(names)):
            chosen = rng.random(len(names)) < 0.5
            universe = {"person": [names[k] for k in np.flatnonzero(chosen)]}
            found = asker.counts("bit", universe)
            if found is not None:
                rows.append(chosen)
                sums.append(float(found.get("yes", 0.0)))
            elif not rows and trial >= _SILENT:
                break
        return rows, sums

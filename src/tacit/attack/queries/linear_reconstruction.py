"""Linear reconstruction: a secret bit of everybody from many subset counts."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker, most_common, secret_of
from tacit.attack.target import QueryTarget

_SILENT = 20
"""Refusals in a row after which the server is taken to refuse all."""
_RIDGE = 1.0
"""How far bits that the answers do not settle are drawn to the share that everybody knows."""


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
    people are drawn for it. Where a server refuses such sets, the attack goes through *facts*:
    every person has `facts` random two-valued ones that the intruder knows, and tables of the bit
    by each pair of them are asked for, whole categories all of them. Bits that the answers do not
    settle are guessed.

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
    """Random subsets for each of them, if people are named one by one."""
    through: Literal["people", "facts"] = "people"
    """How sets are described: by naming people, or by facts known about them."""
    facts: Annotated[int, Ge(2)] = 20
    """Facts known about everybody."""

    @classmethod
    def in_audit(cls) -> list[Self]:
        """Return both ways: servers that refuse names may answer about facts."""
        return [cls(), cls(through="facts", n=400)]

    @property
    def in_words(self) -> str:
        """Say that facts are used."""
        return "through facts" if self.through == "facts" else ""

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to be learnt."""
        found = secret_of(target, self.secret)
        return None if found else "the server has no confidential variable"

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Ask for random subsets and solve."""
        rng, secret = knowledge.rng, str(secret_of(target, self.secret))
        labels = target.labels(secret).astype(str)
        people = np.sort(rng.permutation(len(labels))[: self.n])
        bit = most_common(target, secret)
        truth = labels[people] == bit
        ask = self._through_people if self.through == "people" else self._through_facts
        asker, rows, sums = ask(target, knowledge, truth, rng)
        guess = np.full(len(people), truth.mean() >= 0.5)
        found = _solved(rows, sums, float(truth.mean()))
        return Outcome(
            hits=(found == truth).astype(float), guesses=(guess == truth).astype(float),
            question=f"Solve for whether {secret} is {bit!r}, for {len(people)} people", unit="bit",
            positions=people,
            worst=f"{int((found == truth).sum())} of {len(people)} bits are right",
            warnings=asker.warnings(),
            details={**asker.told(), "answers": len(sums)},
        )  # fmt: skip

    def _through_people(
        self, target: QueryTarget, knowledge: Knowledge, bits: np.ndarray, rng: np.random.Generator
    ) -> tuple[Asker, np.ndarray, np.ndarray]:
        """Ask for the count over many random subsets."""
        import polars as pl

        names = [f"p{k:05}" for k in range(len(bits))]
        frame = pl.DataFrame({"person": names, "bit": np.where(bits, "yes", "no")})
        asker = Asker(target.serving(frame, categories=["person", "bit"]), knowledge.queries)
        rows: list[np.ndarray] = []
        sums: list[float] = []
        for trial in range(self.subsets * len(names)):
            chosen = rng.random(len(names)) < 0.5
            found = asker.counts("bit", {"person": [names[k] for k in np.flatnonzero(chosen)]})
            if found is not None:
                rows.append(chosen)
                sums.append(float(found.get("yes", 0.0)))
            elif not rows and trial >= _SILENT:
                break
        return asker, np.array(rows, float).reshape(-1, len(bits)), np.array(sums)

    def _through_facts(
        self, target: QueryTarget, knowledge: Knowledge, bits: np.ndarray, rng: np.random.Generator
    ) -> tuple[Asker, np.ndarray, np.ndarray]:
        """Ask for tables of the bit by every pair of facts."""
        import polars as pl

        facts = np.where(rng.random((len(bits), self.facts)) < 0.5, "a", "b")
        columns = {f"fact{j}": facts[:, j] for j in range(self.facts)}
        frame = pl.DataFrame({**columns, "bit": np.where(bits, "yes", "no")})
        asker = Asker(target.serving(frame), knowledge.queries)
        rows: list[np.ndarray] = []
        sums: list[float] = []
        for pair in combinations(columns, 2):
            answer = asker.ask({"method": "crosstab", "by": [*pair, "bit"]})
            if answer is None or "count" not in answer.columns:
                continue
            told = [answer.columns[name] for name in (*pair, "bit", "count")]
            for one, two, bit, count in zip(*told, strict=True):
                if bit == "yes" and count is not None:
                    rows.append((columns[pair[0]] == one) & (columns[pair[1]] == two))
                    sums.append(float(count))
        return asker, np.array(rows, float).reshape(-1, len(bits)), np.array(sums)


def _solved(rows: np.ndarray, sums: np.ndarray, share: float) -> np.ndarray:
    """Return the bits by least squares, drawn to the share where the answers leave them open."""
    if len(sums) == 0:
        return np.full(rows.shape[1], share >= 0.5)
    left = sums - share * rows.sum(axis=1)
    inner = rows @ rows.T + _RIDGE * np.eye(len(rows))
    return np.asarray(share + rows.T @ np.linalg.solve(inner, left) >= 0.5)

"""Correct attribution: a person's keys looked up in all synthetic data sets of a release."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._affected import affected_groups
from tacit.attack.microdata._predicting import (
    FOLDS,
    coded_targets,
    features,
    pooled,
    told_by_others,
    unpredictable,
)
from tacit.attack.target import MicrodataTarget
from tacit.core.keys import group_ids


class CorrectAttribution(
    Attack,
    key="correct-attribution",
    title="Look-up in synthetic data (CAP)",
    cites=("elliot2014", "taub2018"),
):
    r"""Take a confidential value from the synthetic records that have somebody's keys.

    Missing values: a missing key is a value of its own; people whose confidential value is missing
    are not attacked. Weights: not used. Households: not considered.

    Notes
    -----
    The correct attribution probability of [elliot2014]_ takes the value of one released record
    with a person's keys. An intruder has all :math:`m` data sets of the release and names the value
    that most records with these keys have in all of them together (:math:`1/t` of a success if
    :math:`t` values tie); where no record has the keys, the most common value of the release.
    Numbers are taken in `bins` quantile groups. The baseline is what the true records of everybody
    else tell about the same people (five folds, the better of two models), so that a relation that
    holds for everybody is no leak. A hold-out would be no fair control: its keys are seldom in the
    release.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(500)
    >>> release = tacit.Plan([mask.Synthesise(m=3)]).apply(data, seed=1)
    >>> found = attack.CorrectAttribution().run(release)
    >>> found.leaked, found.details["data_sets"]
    (False, 3)
    """

    kind: ClassVar[type] = MicrodataTarget
    every_set: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "Synthesise the keys too, in fewer data sets, or with larger leaves; replicate nobody's "
        "unique keys (originals='no-uniques' with originals_on)."
    )

    bins: Annotated[int, Ge(2)] = 5
    """Quantile groups into which numbers are cut."""
    most: Annotated[int, Ge(10)] = 5000
    """People who are attacked for each column."""
    training: Annotated[int, Ge(10)] = 20_000
    """Most true records that the baseline learns from."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that the records are those of people, or that nothing can be looked up."""
        if target.has_own_records and not target.copies:
            return "released records are those of people, whom linkage and homogeneity attack"
        return unpredictable(target, knowledge.attributes(target.original, target.released))

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Look everybody up."""
        names = knowledge.attributes(target.original, target.released)
        parts = {c: self._column(target, knowledge, names, c) for c in target.confidential()}
        hits, guesses, people = (np.concatenate(side) for side in zip(*parts.values(), strict=True))
        by_column = {c: {"success": _mean(h), "control": _mean(g)} for c, (h, g, _) in
                     parts.items()}  # fmt: skip
        best = max(by_column, key=lambda c: by_column[c]["success"] - by_column[c]["control"])
        return Outcome(
            hits=hits, guesses=guesses, unit="claim", positions=people,
            question=f"Look up {', '.join(by_column)} under {', '.join(names)}",
            worst=f"{best}: {100 * by_column[best]['success']:.3g} % right, "
            f"{100 * by_column[best]['control']:.3g} % without the release",
            details={"by_column": by_column,
                     "affected": affected_groups(target.original, people, hits > 0.5)},
        )  # fmt: skip

    def _column(
        self, target: MicrodataTarget, knowledge: Knowledge, names: list[str], column: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return chances of a right value, those without the release, and the people."""
        rng, n_sets = knowledge.rng, len(target.data_sets)
        files = [*target.data_sets, target.original]
        known = pooled(features(files, names), n_sets)
        value = pooled(coded_targets(files, column, self.bins), n_sets)
        people = rng.permutation(np.flatnonzero(value[1] >= 0))[: self.most]
        hits = looked_up(known[0], value[0], known[1][people], value[1][people])
        fold = rng.integers(0, FOLDS, len(value[1]))
        kept = rng.permutation(np.flatnonzero(value[1] >= 0))[: self.training]
        everybody = known[1][kept], value[1][kept], fold[kept]
        asked = known[1][people], value[1][people], fold[people]
        return hits, told_by_others(everybody, asked, knowledge.seed).astype(float), people


def looked_up(
    known: np.ndarray, value: np.ndarray, asked: np.ndarray, truth: np.ndarray
) -> np.ndarray:
    """Return the chance that the value of most records with a person's keys is the person's."""
    told = value >= 0
    known, value = known[told], value[told]
    if not len(value):
        return np.zeros(len(truth))
    both = np.vstack([known, asked])
    ranks = [np.unique(column, return_inverse=True)[1] for column in both.T]
    ids, n_classes = group_ids(np.column_stack(ranks))
    here, there = ids[: len(known)], ids[len(known) :]
    width = int(max(value.max(), truth.max(initial=0))) + 1
    cells, counts = np.unique(here * width + value, return_counts=True)
    top, tied = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    np.maximum.at(top, cells // width, counts)
    np.add.at(tied, cells // width, counts == top[cells // width])
    place = np.searchsorted(cells, there * width + truth).clip(0, len(cells) - 1)
    count = np.where(cells[place] == there * width + truth, counts[place], 0)
    found = top[there] > 0
    by_keys = (count == top[there]) / np.maximum(tied[there], 1)
    return np.asarray(np.where(found, by_keys, truth == np.bincount(value).argmax()))


def _mean(chances: Any) -> float:
    return float(np.mean(chances)) if len(chances) else 0.0

"""Attribute inference: a model trained on the release, asked about people it was made from."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._affected import affected_groups
from tacit.attack.microdata._links import not_compared
from tacit.attack.microdata._predicting import (
    FOLDS,
    coded_targets,
    features,
    left_out,
    pooled,
    told_by_others,
    trained,
    unpredictable,
)
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.pairing import pair


class AttributeInference(
    Attack,
    key="attribute-inference",
    title="Attribute inference by a trained model",
    cites=("giomi2023",),
    example={},
):
    r"""Predict a confidential value with a model trained on the release.

    Missing values: a gap is a value of its own among what is known; people whose confidential
    value is missing are not attacked. Weights: not used. Households: not considered, but relatives
    in other folds make the baseline better.

    Notes
    -----
    Trees that learn the release by heart predict the confidential value of people from what the
    intruder knows. A release that is of any use predicts something of everybody; what leaks is
    what it predicts better of people whose own record it holds. So the baseline is the same model
    asked about people who are not in it: the hold-out if there is one (`Knowledge.holdout`), as
    [giomi2023]_ does, and otherwise the same people with their records left out of the training
    (five folds). Records of nobody cannot be left out; there the baseline is what the true records
    of everybody else tell, by the better of two models. All data sets of a release are learnt
    from together. Numbers are predicted in `bins` quantile groups.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> data = tacit.datasets.census(1000)
    >>> attack.AttributeInference(most=500).run((data, data)).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = MicrodataTarget
    every_set: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "Make own records less telling: coarser keys, more noise on the confidential columns, or "
        "synthetic records from a model that does not copy."
    )

    bins: Annotated[int, Ge(2)] = 5
    """Quantile groups into which numbers are cut."""
    most: Annotated[int, Ge(10)] = 2000
    """People who are attacked for each column."""
    training: Annotated[int, Ge(10)] = 20_000
    """Most released records of each data set that the model is trained on."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to learn from, or nobody to compare with."""
        return unpredictable(target, knowledge.attributes(target.original, target.released))

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Predict each confidential column of members, and of people who are not in the release."""
        names = knowledge.attributes(target.original, target.released)
        hits, guesses, people, by_column = [], [], [], {}
        for column in target.confidential():
            asked = _Question.of(self, target, knowledge, names, column)
            right, control = asked.answered()
            hits.append(right)
            guesses.append(control)
            people.append(asked.people)
            by_column[column] = {"success": _mean(right), "control": _mean(control)}
        found, who = np.concatenate(hits), np.concatenate(people)
        best = max(by_column, key=lambda c: by_column[c]["success"] - by_column[c]["control"])
        return Outcome(
            hits=found.astype(float), guesses=np.concatenate(guesses).astype(float),
            question=f"Predict {', '.join(by_column)} from {', '.join(names)}",
            unit="prediction", positions=who, warnings=not_compared(_strange(target, names)),
            worst=f"{best}: {100 * by_column[best]['success']:.3g} % right about members, "
            f"{100 * by_column[best]['control']:.3g} % about others",
            details={"by_column": by_column,
                     "affected": affected_groups(target.original, who, found)},
        )  # fmt: skip


class _Question:
    """One confidential column: what is known, what is asked, of whom."""

    def __init__(self, x: list[np.ndarray], y: list[np.ndarray], folds: Any, seed: int) -> None:
        (self.seen, self.known, self.control), (self.told, self.truth, self.control_truth) = x, y
        self.own_fold, self.person_fold, self.people = folds
        self.everybody: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.seed = seed

    @classmethod
    def of(
        cls,
        attack: AttributeInference,
        target: MicrodataTarget,
        knowledge: Knowledge,
        names: list[str],
        column: str,
    ) -> _Question:
        rng = knowledge.rng
        sets = target.data_sets
        others = knowledge.control(target.original)
        files = [*sets, target.original, *([] if others is None else [others])]
        x = pooled(features(files, names), len(sets))
        y = pooled(coded_targets(files, column, attack.bins), len(sets))
        fold = rng.integers(0, FOLDS, target.original.n_records)
        rows = np.concatenate([_people(target, one) for one in sets])
        own = np.where(rows >= 0, fold[rows], -1)
        used = np.flatnonzero(y[0] >= 0)
        used = rng.permutation(used)[: attack.training * len(sets)]
        candidates = np.unique(rows[used][rows[used] >= 0])
        nobody = not len(candidates)
        if nobody:
            candidates = np.arange(len(y[1]))
        people = rng.permutation(candidates[y[1][candidates] >= 0])[: attack.most]
        control = np.arange(len(y[2])) if len(y) > 2 else np.empty(0, np.int64)
        control = rng.permutation(control)[: attack.most]
        if len(x) == 2:
            x, y = [*x, x[1][:0]], [*y, y[1][:0]]
        made = cls(
            [x[0][used], x[1][people], x[2][control]], [y[0][used], y[1][people], y[2][control]],
            (own[used], fold[people], people), knowledge.seed,
        )  # fmt: skip
        if nobody:
            kept = rng.permutation(np.flatnonzero(y[1] >= 0))[: attack.training]
            made.everybody = x[1][kept], y[1][kept], fold[kept]
        return made

    def answered(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which predictions are right: of members, and of the control."""
        model = trained(self.seen, self.told, self.seed)
        right = model.predict(self.known) == self.truth
        if len(self.control_truth):
            known = self.control_truth >= 0
            return right, model.predict(self.control[known]) == self.control_truth[known]
        asked = (self.known, self.truth, self.person_fold)
        if self.everybody is not None:
            return right, told_by_others(self.everybody, asked, self.seed)
        return right, left_out((self.seen, self.told, self.own_fold), asked, self.seed)


def _people(target: MicrodataTarget, released: Microdata) -> np.ndarray:
    """Return which person each record of a data set is of, -1 for nobody."""
    rows = pair(target.original, released).rows
    return np.full(released.n_records, -1) if rows is None else rows


def _mean(right: np.ndarray) -> float:
    return float(right.mean()) if len(right) else 0.0


def _strange(target: MicrodataTarget, names: list[str]) -> list[str]:
    """Return the columns whose released labels are mostly not those of the original."""
    import polars as pl

    found = []
    for name in names:
        before, after = (side.local[name] for side in (target.original, target.released))
        labels = after.cast(pl.String).drop_nulls()
        known = before.cast(pl.String).drop_nulls().unique()
        numbers = before.dtype.is_numeric() and after.dtype.is_numeric()
        if len(labels) and not numbers and labels.is_in(known.to_list()).mean() < 0.5:
            found.append(name)
    return found

"""Attribute inference: a model trained on the release, asked about people it was made from."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._affected import affected_groups
from tacit.attack.microdata._claims import no_claims
from tacit.attack.microdata._links import not_compared
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.schema import Kind

_FOLDS = 5


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
    (five folds). Numbers are predicted in `bins` quantile groups.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> data = tacit.datasets.census(1000)
    >>> attack.AttributeInference(most=500).run((data, data)).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Make own records less telling: coarser keys, more noise on the confidential columns, or "
        "synthetic records from a model that does not copy."
    )

    bins: Annotated[int, Ge(2)] = 5
    """Quantile groups into which numbers are cut."""
    most: Annotated[int, Ge(10)] = 2000
    """People who are attacked for each column."""
    training: Annotated[int, Ge(10)] = 20_000
    """Most released records that the model is trained on."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to learn from, or no control."""
        names = knowledge.attributes(target.original, target.released)
        if not names or not target.confidential():
            return no_claims(target, names, target.confidential())
        if knowledge.holdout is None and not target.has_own_records:
            return "records of nobody need a hold-out as a control (Knowledge.holdout)"
        return None

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
        self._seed = seed

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
        files = [target.released, target.original]
        if knowledge.holdout is not None:
            files.append(Microdata.of(knowledge.holdout))
        x, y = _features(files, names), _targets(files, column, attack.bins)
        fold = rng.integers(0, _FOLDS, target.original.n_records)
        rows = target.pair.rows
        rows = np.full(len(y[0]), -1) if rows is None else rows
        own = np.where(rows >= 0, fold[rows], -1)
        used = np.flatnonzero(y[0] >= 0)
        used = rng.permutation(used)[: attack.training]
        candidates = np.unique(rows[used][rows[used] >= 0])
        if not len(candidates):
            candidates = np.arange(len(y[1]))
        people = rng.permutation(candidates[y[1][candidates] >= 0])[: attack.most]
        control = np.arange(len(y[2])) if len(y) > 2 else np.empty(0, np.int64)
        control = rng.permutation(control)[: attack.most]
        if len(x) == 2:
            x, y = [*x, x[1][:0]], [*y, y[1][:0]]
        features = [x[0][used], x[1][people], x[2][control]]
        values = [y[0][used], y[1][people], y[2][control]]
        return cls(features, values, (own[used], fold[people], people), knowledge.seed)

    def answered(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which predictions are right: of members, and of the control."""
        model = self._trained(np.ones(len(self.told), dtype=bool))
        right = model.predict(self.known) == self.truth
        if len(self.control_truth):
            known = self.control_truth >= 0
            return right, model.predict(self.control[known]) == self.control_truth[known]
        control = np.zeros(len(self.truth), dtype=bool)
        for fold in range(_FOLDS):
            asked = self.person_fold == fold
            if asked.any():
                model = self._trained(self.own_fold != fold)
                control[asked] = model.predict(self.known[asked]) == self.truth[asked]
        return right, control

    def _trained(self, used: np.ndarray) -> Any:
        from sklearn.dummy import DummyClassifier
        from sklearn.ensemble import ExtraTreesClassifier

        if not used.any() or len(np.unique(self.told[used])) < 2:
            constant = DummyClassifier(strategy="most_frequent")
            use = used if used.any() else np.ones(len(used), dtype=bool)
            return constant.fit(self.seen[use], self.told[use])
        model = ExtraTreesClassifier(n_estimators=30, random_state=self._seed)
        return model.fit(self.seen[used], self.told[used])


def _features(files: list[Microdata], names: list[str]) -> list[np.ndarray]:
    """Return what is known as numbers; categories as codes that are alike in all files."""
    import polars as pl

    from tacit.core.keys import encode_series

    columns = []
    for name in names:
        series = [f.local[name] for f in files]
        if all(f.schema[name].kind is Kind.NUMERIC for f in files):
            columns.append([s.cast(pl.Float64).fill_null(-1e9).to_numpy() for s in series])
            continue
        text = pl.concat([s.cast(pl.String).rename("value") for s in series])
        cuts = np.cumsum([len(s) for s in series])[:-1]
        columns.append(np.split(encode_series(text).astype(float), cuts))
    return [np.column_stack([column[k] for column in columns]) for k in range(len(files))]


def _targets(files: list[Microdata], column: str, bins: int) -> list[np.ndarray]:
    """Return the confidential values as codes, numbers in quantile groups of the release."""
    import polars as pl

    from tacit.core.keys import encode_series

    if all(f.schema[column].kind is Kind.NUMERIC for f in files):
        values = [f.numeric([column])[:, 0] for f in files]
        cuts = np.unique(np.nanquantile(values[0], np.linspace(0, 1, bins + 1)[1:-1]))
        return [np.where(np.isnan(v), -1, np.searchsorted(cuts, v, side="right")) for v in values]
    series = [f.local[column].cast(pl.String).rename("value") for f in files]
    codes = encode_series(pl.concat(series)).astype(np.int64)
    return np.split(codes, np.cumsum([len(s) for s in series])[:-1])


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

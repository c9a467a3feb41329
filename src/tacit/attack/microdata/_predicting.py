"""Predicting a confidential column: codes, models, and what others would tell without a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.attack.microdata._claims import no_claims
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.schema import Kind

FOLDS = 5
_HUGE = 1e30
_SMOOTH = 20
"""Records in a leaf of the model that learns the relation and nobody by heart."""

Told = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What is known of people, their confidential value, and their fold."""


def unpredictable(target: MicrodataTarget, names: Sequence[str]) -> str | None:
    """Say that there is nothing to predict from, or nothing to predict."""
    confidential = target.confidential()
    if not names or not confidential:
        return no_claims(target, names, confidential)
    return None if target.original.n_records >= FOLDS else "there are too few people"


def pooled(arrays: Sequence[np.ndarray], n_sets: int) -> list[np.ndarray]:
    """Put the data sets of a release, which come first, into one."""
    return [np.concatenate(arrays[:n_sets]), *arrays[n_sets:]]


def features(files: Sequence[Microdata], names: Sequence[str]) -> list[np.ndarray]:
    """Return what is known as numbers; categories as codes that are alike in all files."""
    import polars as pl

    from tacit.core.keys import encode_series

    columns = []
    for name in names:
        series = [f.local[name] for f in files]
        if all(f.schema[name].kind is Kind.NUMERIC for f in files):
            columns.append([_plain(s.cast(pl.Float64).to_numpy()) for s in series])
            continue
        text = pl.concat([s.cast(pl.String).rename("value") for s in series])
        cuts = np.cumsum([len(s) for s in series])[:-1]
        columns.append(np.split(encode_series(text).astype(float), cuts))
    return [np.column_stack([column[k] for column in columns]) for k in range(len(files))]


def _plain(values: np.ndarray) -> np.ndarray:
    """Return numbers that trees take: a gap is a value of its own, and none is without limit."""
    whole = np.nan_to_num(values, nan=-1e9, posinf=_HUGE, neginf=-_HUGE)
    return np.asarray(whole.clip(-_HUGE, _HUGE))


def coded_targets(files: Sequence[Microdata], column: str, bins: int) -> list[np.ndarray]:
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


def trained(seen: np.ndarray, told: np.ndarray, seed: int, leaf: int = 1) -> Any:
    """Return a model of the confidential value; with leaves of one record it learns by heart."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import ExtraTreesClassifier

    if not len(told):  # a column that was suppressed altogether tells nothing
        nothing = np.zeros((1, seen.shape[1]))
        return DummyClassifier(strategy="constant", constant=-1).fit(nothing, [-1])
    if len(np.unique(told)) < 2:
        return DummyClassifier(strategy="most_frequent").fit(seen, told)
    model = ExtraTreesClassifier(n_estimators=30, min_samples_leaf=leaf, random_state=seed)
    return model.fit(seen, told)


def left_out(told: Told, asked: Told, seed: int, leaf: int = 1) -> np.ndarray:
    """Return which predictions are right where everybody's own fold is left out of the training."""
    right = np.zeros(len(asked[1]), dtype=bool)
    for fold in range(FOLDS):
        who, used = asked[2] == fold, told[2] != fold
        if who.any():
            use = used if used.any() else np.ones(len(used), dtype=bool)
            model = trained(told[0][use], told[1][use], seed, leaf)
            right[who] = model.predict(asked[0][who]) == asked[1][who]
    return right


def told_by_others(everybody: Told, asked: Told, seed: int) -> np.ndarray:
    """Return which values the true records of everybody else tell, by the better of two models.

    Several synthetic data sets together are smoother than the truth; a model with large leaves is
    as smooth, so that a relation learnt well is not taken for a leak.
    """
    found = [left_out(everybody, asked, seed, leaf) for leaf in (1, _SMOOTH)]
    return max(found, key=lambda right: float(right.mean()) if len(right) else 0.0)

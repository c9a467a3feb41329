"""The composition attack: two releases of the same people, each safe alone."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._claims import claimed_outcome, no_claims
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.keys import encode, encode_series, group_ids

_MOST_VALUES = 256
"""Columns with more values are cut into as many ranks."""


class Composition(
    Attack,
    key="composition",
    title="Composition of several releases",
    cites=("ganta2008",),
):
    r"""Intersect what several releases of the same people allow.

    Missing values: a gap allows every value. Weights: not used. Households: not considered.

    Notes
    -----
    A person's class in each release allows a set of confidential values; the true one is in all of
    them, so an intersection of one value is known [ganta2008]_, provided the releases leave values
    as they are. Success is the share of people whose value is the only one left, and right;
    the baseline takes the single release that tells most.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(1000).with_roles(
    ...     keys=["region", "age"], confidential=["occupation"]
    ... )
    >>> plans = [[mask.Mondrian(k=6)], [mask.Sample(fraction=1.0), mask.Generalise(k=6)]]
    >>> releases = [tacit.Plan(steps).apply(data, seed=1) for steps in plans]
    >>> attack.Composition().run(releases).gain >= 0
    True
    """

    kind: ClassVar[type] = MicrodataTarget
    every_set: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "Release the same people once; or coarsen the next release along the same classes."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there is only one release."""
        if not (target.others or target.copies):
            return "there is only one release of these data"
        names = knowledge.attributes(target.original, target.released)
        return no_claims(target, names, target.confidential())

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Intersect the values that each release allows for a person."""
        releases = (*target.data_sets, *target.others)
        parts = []
        for column in target.confidential():
            truth, codes = _coded(target, releases, column)
            allowed = [
                _allowed(r, c, knowledge.attributes(target.original, r), truth)
                for r, c in zip(releases, codes, strict=True)
            ]
            everywhere = np.logical_and.reduce(allowed)
            single = max((_known(one, truth) for one in allowed), key=lambda k: float(k.mean()))
            people = np.flatnonzero(truth >= 0)
            parts.append((column, people, _known(everywhere, truth)[people], single[people]))
        question = f"Combine {len(releases)} releases of the same people"
        return claimed_outcome(target, parts, question, releases=len(releases))


def _coded(
    target: MicrodataTarget, releases: tuple[Microdata, ...], column: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Code a column alike in all files; many values are cut into ranks."""
    import polars as pl

    series = [target.original.local[column], *(r.local[column] for r in releases)]
    if len({s.dtype for s in series}) > 1:
        series = [s.cast(pl.String) for s in series]
    codes = encode_series(pl.concat([s.rename("value") for s in series])).astype(np.int64)
    n_values = int(codes.max(initial=0)) + 1
    if n_values > _MOST_VALUES:
        codes = np.where(codes >= 0, codes * _MOST_VALUES // n_values, -1)
    cuts = np.cumsum([len(s) for s in series])[:-1]
    first, *others = np.split(codes, cuts)
    return first, others


def _allowed(
    released: Microdata, codes: np.ndarray, names: list[str], truth: np.ndarray
) -> np.ndarray:
    """Return which values each person may have: those of their class; all if not released."""
    n_values = _MOST_VALUES
    class_of, n_classes = group_ids(encode(released, names))
    present = np.zeros((n_classes, n_values), dtype=bool)
    known = codes >= 0
    present[class_of[known], codes[known]] = True
    present[np.unique(class_of[~known])] = True
    allowed = np.ones((len(truth), n_values), dtype=bool)
    rows = np.arange(len(codes)) if released.rows is None else released.rows
    real = rows >= 0
    allowed[rows[real]] = present[class_of[real]]
    return allowed


def _known(allowed: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Say of whom exactly one value is left, the right one."""
    only = (allowed.sum(axis=1) == 1) & (truth >= 0)
    return np.asarray(only & (allowed.argmax(axis=1) == truth))

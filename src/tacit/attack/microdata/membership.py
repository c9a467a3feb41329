"""Membership inference: telling the people behind a release from people like them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._links import not_compared
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.pairing import Pair, substantive_columns


class Membership(
    Attack,
    key="membership",
    title="Membership inference",
    cites=("chen2020", "giomi2023"),
):
    r"""Tell members from others by how close the nearest released record is.

    Missing values: a gap counts as a typical distance. Weights: not used. Households: not
    considered; a hold-out should not contain relatives of members.

    Notes
    -----
    The intruder knows all columns of somebody and says "member" if the nearest released record is
    no farther than the median distance of all who are asked about [chen2020]_; of a release of
    several data sets the mean of the distances to the nearest record of each is taken. Members
    are the records the release was made from; the others are `Knowledge.holdout`, or the
    original records that were left out of the release. As many of each are asked about, so
    guessing is right half of the time.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> everybody = tacit.datasets.census(1000)
    >>> inside, outside = everybody.take(range(500)), everybody.take(range(500, 1000))
    >>> known = attack.Knowledge(holdout=outside)
    >>> attack.Membership().run((inside, inside), known).success.value > 0.8
    True
    """

    kind: ClassVar[type] = MicrodataTarget
    every_set: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "Release records that are no copies: more noise, larger groups, or a generator that was "
        "fitted with fewer leaves; check it against a hold-out."
    )

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there is no control."""
        if knowledge.holdout is None and not len(_left_out(target)):
            return "there is nobody outside to compare with (Knowledge.holdout)"
        names = _columns(target)
        return None if names else "the two files have no column in common"

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Ask about as many members as others."""
        rng = knowledge.rng
        members, others = _sides(target, knowledge)
        size = min(len(members), len(others))
        chosen = rng.permutation(len(members))[:size]
        asked = _together(members.take(chosen), others.take(rng.permutation(len(others))[:size]))
        distances, skipped = _distances(target, asked)
        mean, closest = distances.mean(axis=0), distances.min(axis=0)
        cut = np.median(mean)
        right = np.concatenate([mean[:size] <= cut, mean[size:] > cut])
        copies = int(np.sum(closest[:size] <= 1e-12))
        return Outcome(
            hits=right.astype(float), guesses=0.5, unit="verdict",
            question="Say whether somebody is among the people the release was made from",
            warnings=not_compared(skipped),
            worst=f"{copies:,} of {size:,} members are in the release as they are",
            details={"asked": 2 * size, "copies": copies,
                     "copies_of_others": int(np.sum(closest[size:] <= 1e-12))},
        )  # fmt: skip


def _left_out(target: MicrodataTarget) -> np.ndarray:
    """Return the originals that were not released, where anybody was."""
    if not target.has_own_records:
        return np.empty(0, np.int64)
    return np.setdiff1d(np.arange(target.original.n_records), target.matched[0])


def _sides(target: MicrodataTarget, knowledge: Knowledge) -> tuple[Microdata, Microdata]:
    original = target.original
    others = knowledge.control(original)
    if others is not None:
        return original, others
    return original.take(np.unique(target.matched[0])), original.take(_left_out(target))


def _columns(target: MicrodataTarget) -> list[str]:
    return [n for n in substantive_columns(target.original) if n in target.released.schema]


def _together(members: Microdata, others: Microdata) -> Microdata:
    """Return both groups in one file: scales of their own would tell them apart."""
    import polars as pl

    names = substantive_columns(members)
    tables = [side.local.select(names) for side in (members, others)]
    schema = members.schema.select(names)
    return Microdata.of(pl.concat(tables, how="vertical_relaxed")).with_schema(schema)


def _distances(target: MicrodataTarget, people: Microdata) -> tuple[np.ndarray, list[str]]:
    """Return each person's distance to the nearest record of each data set.

    Also return the columns that cannot be compared.
    """
    found = [_nearest(target, people, one) for one in target.data_sets]
    return np.stack([distance for distance, _ in found]), found[0][1]


def _nearest(
    target: MicrodataTarget, people: Microdata, released: Microdata
) -> tuple[np.ndarray, list[str]]:
    from tacit.core.errors import DataError
    from tacit.risk._linkage_fields import linkage_fields
    from tacit.risk._linkage_index import PointIndex
    from tacit.risk._linkage_space import space

    fields, skipped = [], []
    both = Pair(people, released, None)
    for name in _columns(target):
        try:
            fields += linkage_fields(both, [name])
        except DataError:
            skipped.append(name)
    if not fields:
        raise DataError("membership: no column can be compared with the release")
    where = space(fields, "standardised", by="membership")
    return np.sqrt(PointIndex(*where.parts).nearest(where.targets)), skipped

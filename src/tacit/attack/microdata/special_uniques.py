"""Special uniques: people who are alone with very few of their keys."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._affected import affected_groups
from tacit.attack.microdata._links import unlinked
from tacit.attack.target import MicrodataTarget
from tacit.core.common_scale import common_codes
from tacit.core.keys import group_ids


class SpecialUniques(
    Attack,
    key="special-uniques",
    title="Hunt for special uniques",
    cites=("elliot2002",),
):
    r"""Name the person behind released records that are unique on one to three keys.

    Missing values: a combination with a gap is not used. Weights: not used. Households: not
    considered.

    Notes
    -----
    A record that is unique on few keys is most likely unique in the population [elliot2002]_. The
    intruder looks for records that are unique in the release on at most `size` keys, looks these
    values up in their own file, and names the person if one has them. Success is the share of
    names that are right; guessing names somebody at random.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack
    >>> data = tacit.datasets.census(1000)
    >>> attack.SpecialUniques().run((data, data)).success.value
    1.0
    """

    kind: ClassVar[type] = MicrodataTarget
    remedy: ClassVar[str] = (
        "Recode the keys that make people unique, or suppress them locally "
        "(mask.LocalSuppression with importance)."
    )

    size: Annotated[int, Ge(1), Le(3)] = 2
    """Most keys on which a record must be unique."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no keys, or nobody to be named."""
        return unlinked(target, knowledge.attributes(target.original, target.released))

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Name the people whose few keys are unique in both files."""
        names = knowledge.attributes(target.original, target.released)
        file, covered = knowledge.external(target.original)
        codes = [common_codes(file.local[n], target.released.local[n]) for n in names]
        named = np.full(target.released.n_records, -1)
        for width in range(1, self.size + 1):
            for chosen in combinations(codes, width):
                found = _pairs(chosen, covered)
                fresh = (named < 0) & (found >= 0)
                named[fresh] = found[fresh]
        claims = np.flatnonzero(named >= 0)
        rows = target.pair.rows
        truth = np.arange(len(named)) if rows is None else rows
        right = truth[claims] == named[claims]
        return Outcome(
            hits=right.astype(float), guesses=1.0 / max(target.original.n_records, 1),
            question=f"Name the people whose values of up to {self.size} keys nobody else has",
            unit="claim", positions=named[claims],
            worst=f"{int(right.sum()):,} people named rightly from up to {self.size} keys",
            details={"claims": len(claims), "keys": names,
                     "affected": affected_groups(target.original, named[claims], right)},
        )  # fmt: skip


def _pairs(chosen: tuple[tuple[np.ndarray, np.ndarray], ...], covered: np.ndarray) -> np.ndarray:
    """Return for each released record the one person with its values, -1 unless both are unique."""
    external = np.column_stack([e for e, _ in chosen])
    released = np.column_stack([r for _, r in chosen])
    ids, n_groups = group_ids(np.vstack([external, released]))
    here, there = ids[: len(external)], ids[len(external) :]
    usable = covered & (external >= 0).all(axis=1)
    n_people = np.bincount(here[usable], minlength=n_groups)
    n_records = np.bincount(there, minlength=n_groups)
    person = np.full(n_groups, -1)
    person[here[usable]] = np.flatnonzero(usable)
    sure = (n_people == 1) & (n_records == 1)
    return np.where((released >= 0).all(axis=1) & sure[there], person[there], -1)

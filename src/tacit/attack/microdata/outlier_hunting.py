"""Outlier hunting: the people who stick out are looked for first."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Le

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._links import linked_outcome, linked_with_views, unlinked
from tacit.attack.target import MicrodataTarget
from tacit.core.pairing import substantive_columns
from tacit.core.schema import Kind

_FEWEST = 10


class OutlierHunting(
    Attack,
    key="outlier-hunting",
    title="Outlier hunting",
    cites=("domingoferrer2007", "truta2003"),
):
    r"""Find the records of people whose numbers are far from everybody's.

    Missing values: count as the mean. Weights: not used. Households: not considered.

    Notes
    -----
    The largest firm or the highest income is known from the newspaper. The `share` of people with
    the largest sum of squared standardised ranks at the ends is linked by distance on all numbers
    of the release; averages over the whole file hide how easily these are found
    [domingoferrer2007]_. Guessing picks a record blindly.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(1000)
    >>> step = mask.UncorrelatedNoise(columns=["age", "hours", "income", "taxes"], level=0.1)
    >>> attack.OutlierHunting().run(tacit.Plan([step]).apply(data, seed=1)).verdict.value
    'leaked'
    """

    kind: ClassVar[type] = MicrodataTarget
    every_set: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "Top-code or microaggregate the tails, or leave the outliers out of the release."
    )

    share: Annotated[float, Gt(0), Le(1)] = 0.01
    """Share of people who are hunted; ten at least."""

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there is no number, or nobody to be found."""
        return unlinked(target, _numbers(target, knowledge))

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Link the people who stick out most."""
        from tacit import risk

        names = _numbers(target, knowledge)
        file, covered = knowledge.external(target.original)
        values = target.original.numeric(names)
        spread = np.where(np.nanstd(values, axis=0) > 0, np.nanstd(values, axis=0), 1.0)
        far = np.nan_to_num(np.abs(values - np.nanmedian(values, axis=0)) / spread).max(axis=1)
        linkage = risk.DistanceLinkage(attributes=names)
        chance, warnings = linked_with_views(linkage, target, file)
        here = covered & np.isin(np.arange(len(file)), target.matched[0])
        far = np.where(here, far, -1.0)
        size = min(max(_FEWEST, round(self.share * len(far))), int(here.sum()))
        chosen = np.argsort(-far, kind="stable")[:size]
        return linked_outcome(
            target, chance, np.sort(chosen), names,
            question=f"Find the {size} people whose {', '.join(names)} stick out most",
            details={"hunted": size}, warnings=warnings,
        )  # fmt: skip


def _numbers(target: MicrodataTarget, knowledge: Knowledge) -> list[str]:
    names = knowledge.columns or substantive_columns(target.original, [Kind.NUMERIC])
    both = (target.original.schema, target.released.schema)
    return [n for n in names if all(n in s and s[n].kind is Kind.NUMERIC for s in both)]

"""Record linkage: the intruder's file against the release."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.microdata._links import (
    can_be_compared,
    link_question,
    linked_outcome,
    linked_with_views,
    own_class_chances,
    unlinked,
)
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.schema import Kind

Way = Literal["distance", "probabilistic", "rank"]
Scenario = Literal["prosecutor", "journalist", "marketer"]


class Linkage(
    Attack,
    key="linkage",
    title="Record linkage",
    cites=("domingoferrer2001", "domingoferrer2007", "winkler1995", "nin2008"),
):
    r"""Link the intruder's own file with the release, record by record.

    Missing values: a gap tells nothing, on either side. Weights: not used; each record is one
    person. Households: records are linked one by one.

    Notes
    -----
    Each person of the intruder's file is linked with the released record that is nearest
    [domingoferrer2001]_, has the largest linkage weight [winkler1995]_ (weights fitted by
    expectation-maximisation: an intruder has no true pairs to learn them from), or lies in the
    windows of rank of all attributes [nin2008]_; ties are broken at random, so that a person is
    found with chance :math:`1/t` among :math:`t` tied records. Of a release of several data
    sets whose records stand in one order (partially synthetic data) the averages are linked:
    the intruder has all of them; in another order, a person counts as found as often as in one
    of them. The *prosecutor* knows that the person is in the release, the *journalist* does not
    (success is multiplied by `Knowledge.membership`, and people who were not released count),
    the *marketer* wants as many released records as possible. Guessing finds a person with
    chance :math:`1/n`.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, mask
    >>> data = tacit.datasets.census(500)
    >>> found = attack.Linkage().run((data, data))
    >>> found.success.value > 0.9, found.verdict.value
    (True, 'leaked')
    """

    kind: ClassVar[type] = MicrodataTarget
    every_set: ClassVar[bool] = True
    remedy: ClassVar[str] = (
        "Make more people alike on the columns an intruder knows: recode or microaggregate keys, "
        "suppress values of rare combinations, release a sample, or use synthetic records."
    )

    scenario: Scenario | None = None
    """What the intruder knows about membership and wants; by default the prosecutor, and the
    journalist where membership is not certain."""
    way: Way | None = None
    """How records are linked; by default by distance, and by weight where no key is a number."""

    @classmethod
    def in_audit(cls) -> list[Self]:
        """Return all ways of linking: which one finds most depends on how records were masked."""
        return [cls(), cls(way="probabilistic"), cls(way="rank")]

    @property
    def in_words(self) -> str:
        """Say how records are linked, where that is chosen."""
        return {"rank": "by rank", "probabilistic": "by weight"}.get(self.way or "", self.way or "")

    def repeats(self, target: MicrodataTarget, knowledge: Knowledge) -> bool:
        """Say that the usual way is by weight already, or has to make do with classes."""
        if self.way is None:
            return False
        names = knowledge.attributes(target.original, target.released)
        alike = unlinked(target, names) or not can_be_compared(target, names)
        return bool(alike) or not _numbers(target, names)

    def objection(self, target: MicrodataTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to link by, or nobody to be found."""
        return unlinked(target, knowledge.attributes(target.original, target.released))

    def attacked(self, target: MicrodataTarget, knowledge: Knowledge) -> Outcome:
        """Link everybody in the intruder's file."""
        names = knowledge.attributes(target.original, target.released)
        file, covered = knowledge.external(target.original)
        chance, details, warnings = self._chances(target, file, names)
        released = np.zeros(len(chance), dtype=bool)
        released[target.matched[0]] = True
        scenario = self.scenario or ("prosecutor" if knowledge.membership == 1 else "journalist")
        chosen = covered & released if scenario != "journalist" else covered
        hits = chance * (knowledge.membership if scenario == "journalist" else 1.0)
        return linked_outcome(
            target, hits, np.flatnonzero(chosen), names,
            question=link_question(scenario, names), warnings=warnings,
            details={"scenario": scenario, **details},
        )  # fmt: skip

    def _chances(
        self, target: MicrodataTarget, file: Microdata, names: list[str]
    ) -> tuple[np.ndarray, dict[str, str], tuple[str, ...]]:
        """Return each original's chance of being linked, and how it was linked.

        Labels that are no function of the original ones (local recoding) cannot be compared one by
        one; there the intruder finds the class of the person, and picks one of its records.
        """
        if self.way is None and not can_be_compared(target, names):
            return own_class_chances(target, names), {"way": "classes"}, ()
        measure = self._measure(target, names)
        chance, warnings = linked_with_views(measure, target, file)
        return chance, {"way": measure.key}, warnings

    def _measure(self, target: MicrodataTarget, names: list[str]) -> Risk:
        from tacit import risk

        numbers = _numbers(target, names)
        way = self.way or ("distance" if numbers else "probabilistic")
        if way == "rank" and not numbers:
            raise DataError(f"{self.key}: ranks need a number among the columns known")
        built: dict[str, Risk] = {
            "distance": risk.DistanceLinkage(attributes=names),
            "probabilistic": risk.ProbabilisticLinkage(attributes=names, estimation="em"),
        }
        return risk.RankLinkage(attributes=numbers) if way == "rank" else built[way]


def _numbers(target: MicrodataTarget, names: list[str]) -> list[str]:
    return [n for n in names if target.pair.kinds(n) == {Kind.NUMERIC}]

"""Trackers: padding a forbidden question until it is allowed."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np

from tacit.attack.queries._asking import Asker, Victim
from tacit.attack.queries._naming import NamesSecrets, difference, likeliest
from tacit.attack.target import QueryTarget


class Tracker(
    NamesSecrets,
    key="tracker",
    title="Individual and general trackers",
    cites=("denning1979", "adam1989"),
):
    r"""Learn a secret of one person from answers about large sets.

    Missing values: a category of its own. Weights: not used. Households: not considered; people
    are attacked one by one.

    Notes
    -----
    The person is alone in :math:`C = A \wedge B`. The *individual* tracker asks about :math:`A`
    and :math:`A \wedge \neg B`; their difference is the person. The *general* tracker takes any
    set :math:`T` of about half the people and computes
    :math:`q(C) = q(C \vee T) + q(C \vee \neg T) - q(T) - q(\neg T)`, which no control of sizes
    stops [denning1979]_. Guessing names the most common category.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> data = tacit.datasets.census(2000)
    >>> tracker = attack.Tracker(secret="occupation", most=20)
    >>> tracker.run((data, query.Policy(name="open"))).success.value
    1.0
    """

    question: ClassVar[str] = "Name {secret} of one person as the difference of two large sets"
    remedy: ClassVar[str] = (
        "Refuse sets that differ by few units from sets asked before (guards differencing, "
        "near-cells, or the policy strict)."
    )

    variant: Literal["individual", "general"] = "individual"
    """The individual tracker, or the general one."""

    @classmethod
    def in_audit(cls) -> list[Self]:
        """Return both: what sizes alone refuse to the one, they answer to the other."""
        return [cls(), cls(variant="general")]

    @property
    def in_words(self) -> str:
        """Say that it is the general tracker."""
        return "" if self.variant == "individual" else self.variant

    def named(self, asker: Asker, victim: Victim, secret: str, target: QueryTarget) -> str | None:
        """Subtract the group without the victim from the group."""
        if self.variant == "individual":
            change = difference(
                asker.counts(secret, victim.known), asker.counts(secret, victim.rest)
            )
        else:
            change = _general(asker, victim, secret, target)
        return None if change is None else likeliest(change)


def _general(
    asker: Asker, victim: Victim, secret: str, target: QueryTarget
) -> dict[str, float] | None:
    """Return q(C or T) + q(C or not T) - q(T) - q(not T) for each category."""
    alone = {**victim.known, victim.apart: victim.own}
    one, other = _halves(target, secret)
    parts = [
        asker.counts(secret, universe) for universe in ([alone, one], [alone, other], one, other)
    ]
    if any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    categories = {c for part in found for c in part}
    with_, without = found[:2], found[2:]
    return {
        c: sum(p.get(c, 0.0) for p in with_) - sum(p.get(c, 0.0) for p in without)
        for c in categories
    }


def _halves(target: QueryTarget, secret: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return two universes that divide everybody into about equal parts."""
    best: tuple[float, str, list[str], list[str]] | None = None
    for name in target.variables:
        if name == secret:
            continue
        levels = target.levels(name)
        values, counts = list(levels), np.array(list(levels.values()))
        upto = np.cumsum(counts) / counts.sum()
        at = int(np.argmin(np.abs(upto - 0.5)))
        if at < len(values) - 1 and (best is None or abs(upto[at] - 0.5) < best[0]):
            best = (abs(upto[at] - 0.5), name, values[: at + 1], values[at + 1 :])
    if best is None:
        return {}, {}
    return {best[1]: best[2]}, {best[1]: best[3]}

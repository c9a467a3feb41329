"""Padding: hiding a small set in a large one, so that what is dropped falls elsewhere."""

from __future__ import annotations

from typing import ClassVar

from tacit.attack.queries._asking import Asker, Victim
from tacit.attack.queries._naming import NamesSecrets, likeliest
from tacit.attack.target import QueryTarget


class Padding(
    NamesSecrets,
    key="padding",
    title="Padding against dropped records",
    cites=("lucero2011",),
):
    r"""Name a secret from a small set that is asked for together with a large one.

    Missing values: a category of its own. Weights: not used. Households: not considered.

    Notes
    -----
    Dropping :math:`q` of :math:`n` records protects a set of :math:`n` people. Asked for together
    with a disjoint large set, and tabulated by the variable that divides them, the few records
    that are dropped fall into the large part almost surely, and the difference in the small part is
    exact: 99 percent are named where the formula of [lucero2011]_ gives 1.5. Guessing names the
    most common category.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> data = tacit.datasets.census(2000)
    >>> padding = attack.Padding(secret="employed", most=10)
    >>> padding.run((data, query.Policy(name="open"))).success.value
    1.0
    """

    question: ClassVar[str] = "Name {secret} of one person in a small part of a large set"
    remedy: ClassVar[str] = (
        "Drop records in every block by itself (drop-q with block), or use noise that sticks to "
        "the units of a cell (policy strict)."
    )

    def named(self, asker: Asker, victim: Victim, secret: str, target: QueryTarget) -> str | None:
        """Tabulate the small part with and without the victim, everybody else beside it."""
        name = self._divider(target, victim)
        if name is None:
            return None
        own = victim.known[name]
        others = [v for v in target.levels(name) if v != own]
        large = {name: others}
        tables = [
            self._part(asker, name, secret, [universe, large], own)
            for universe in (victim.known, victim.rest)
        ]
        if tables[0] is None or tables[1] is None:
            return None
        categories = {*tables[0], *tables[1]}
        change = {c: tables[0].get(c, 0.0) - tables[1].get(c, 0.0) for c in categories}
        return likeliest(change)

    @staticmethod
    def _divider(target: QueryTarget, victim: Victim) -> str | None:
        """Return the known variable whose other categories hold most people."""
        inside = {n: target.levels(n).get(own, 0) for n, own in victim.known.items()}
        return min(inside, key=lambda n: inside[n], default=None)

    @staticmethod
    def _part(
        asker: Asker, name: str, secret: str, universe: object, own: str
    ) -> dict[str, float] | None:
        answer = asker.ask({"method": "crosstab", "by": [name, secret], "universe": universe})
        if answer is None or "count" not in answer.columns:
            return None
        rows = zip(*(answer.columns[c] for c in (name, secret, "count")), strict=True)
        found = {c: n for part, c, n in rows if part == own}
        return None if not found or None in found.values() else found

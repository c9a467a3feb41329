"""Confidential numbers that a release holds exactly as they were, and how to blur them."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.core.errors import TacitError
from tacit.core.plan import Plan
from tacit.core.release import Release
from tacit.core.schema import Kind, Role
from tacit.tradeoff.objective import Condition


def exposed(release: Release) -> list[str]:
    """Name the confidential columns that are released as they were.

    Examples
    --------
    >>> import tacit
    >>> exposed(tacit.Plan([]).apply(tacit.datasets.patients(), seed=1))
    ['Diagnosis', 'Income', 'Billing']
    """
    before, after = release.original.local, release.data.local
    return [
        name
        for name in release.original.schema.names(Role.CONFIDENTIAL)
        if name in release.data.columns and before[name].equals(after[name], null_equal=True)
    ]


def blurred(release: Release, conditions: Iterable[Condition]) -> Release:
    """Return the release without exact confidential numbers, if it still meets the conditions.

    Conditions mostly speak of keys, so other columns stay as they are. Means of three neighbours in
    rank move numbers little, and no amount is anybody's own any more.

    Examples
    --------
    >>> import tacit
    >>> exposed(blurred(tacit.Plan([]).apply(tacit.datasets.patients(), seed=1), ()))
    ['Diagnosis']
    """
    from tacit.mask import IndividualRanking, Round

    original = release.original
    numbers = [name for name in exposed(release) if original.schema[name].kind == Kind.NUMERIC]
    if not numbers:
        return release
    whole = [name for name in numbers if original.local[name].dtype.is_integer()]
    steps = [IndividualRanking(columns=numbers, k=3)]
    steps += [Round(columns=whole, base=1)] if whole else []
    try:
        changed = Plan([*release.plan, *steps]).apply(original, seed=release.seed)
    except TacitError:
        return release  # such as too few records: what meets the conditions is kept
    met = all(c.is_met(c.value(original, changed)) for c in conditions)
    return changed if met and not changed.newly_broken else release

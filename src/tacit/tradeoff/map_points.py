"""Anything with a risk and a utility as points of a map: tables, query policies, releases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from tacit.core.errors import ParameterError, nearest
from tacit.tradeoff.frontier import Frontier, Point

TABLE_RISK = "risk (9)"
TABLE_LOSS = "absolute loss per cell (%)"
_NEEDED = ("label", "risk", "utility")


@runtime_checkable
class Compared(Protocol):
    """Protections of one table, each with its measures: `tacit.tables.compare` gives one."""

    @property
    def measures(self) -> Mapping[str, Mapping[str, float]]:
        """For each protection the value of each measure."""


def frontier_of_tables(
    comparison: Compared, *, risk: str = TABLE_RISK, loss: str = TABLE_LOSS
) -> Frontier:
    """Put the protections of one table on a map, as in Fig. 1 of M3A.

    Parameters
    ----------
    comparison
        What `tacit.tables.compare` gives.
    risk
        The measure that is the risk.
    loss
        The measure that is lost utility. Utility is its negative or, for a loss in percent of the
        cells, the percentage that was not modified, as in the paper.

    Notes
    -----
    A table that was not changed has an infinite risk (9) and no place on the map; it is listed
    among the releases that failed. Risks are drawn by factors, since they span many.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> measures = {"M3A": {"risk (9)": 0.5, "absolute loss per cell (%)": 4.0}}
    >>> frontier_of_tables(SimpleNamespace(measures=measures)).points[0].utility
    96.0
    """
    found, failed = [], {}
    is_share = loss == TABLE_LOSS
    for name, measures in comparison.measures.items():
        at = {what: _measure(measures, what) for what in (risk, loss)}
        utility = 100.0 - at[loss] if is_share else -at[loss]
        if math.isfinite(at[risk]) and math.isfinite(utility):
            parts = {k: float(v) for k, v in measures.items() if math.isfinite(v)}
            found.append(Point(str(name), at[risk], utility, group="table", parts=parts))
        else:
            failed[str(name)] = f"{risk} is {at[risk]:g}, {loss} is {at[loss]:g}"
    title = "information not modified, %" if is_share else f"minus {loss}"
    by_factors = bool(found) and all(p.risk > 0 for p in found)
    return Frontier.of(
        found, failed=failed, risk_title=risk, utility_title=title, risk_by_factors=by_factors
    )


def frontier_of_policies(policies: Iterable[Any], **about: Any) -> Frontier:
    """Put policies of a query server, or anything else, on a map.

    Parameters
    ----------
    policies
        For each a label, a risk and a utility, in this order or as a mapping with these names.
        Further numbers of a mapping are shown on hovering.
    about
        Titles of the axes: ``risk_title``, ``utility_title``.

    Examples
    --------
    >>> front = frontier_of_policies([("round to 3", 0.2, 0.8), ("round to 5", 0.1, 0.6)])
    >>> [p.label for p in front.points]
    ['round to 5', 'round to 3']
    """
    return Frontier.of([_point(policy) for policy in policies], **about)


def _measure(measures: Mapping[str, float], name: str) -> float:
    if name not in measures:
        raise ParameterError(f"there is no measure {name!r}", do=nearest(name, list(measures)))
    return float(measures[name])


def _point(policy: Any) -> Point:
    if isinstance(policy, Point):
        return policy
    named = policy if isinstance(policy, Mapping) else _named(policy)
    missing = [name for name in _NEEDED if name not in named]
    if missing:
        raise ParameterError(f"a policy has a {missing[0]}", got=repr(policy))
    try:
        risk, utility = float(named["risk"]), float(named["utility"])
    except (TypeError, ValueError) as error:
        raise ParameterError("risk and utility are numbers", got=repr(policy)) from error
    parts = {
        str(name): float(value)
        for name, value in named.items()
        if name not in _NEEDED and isinstance(value, int | float)
    }
    return Point(str(named["label"]), risk, utility, group="policy", parts=parts)


def _named(policy: Any) -> dict[str, Any]:
    if isinstance(policy, str) or not isinstance(policy, list | tuple) or len(policy) != 3:
        raise ParameterError("a policy is a label, a risk and a utility", got=repr(policy))
    return dict(zip(_NEEDED, policy, strict=True))

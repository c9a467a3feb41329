"""Regression where agencies hold different variables of the same units."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated.alignment import align
from tacit.federated.analyses._vertical import (
    Holder,
    Moments,
    gram_of,
    places,
    put,
    require_shared_out,
    units_of,
)
from tacit.federated.answer import Answer
from tacit.federated.joint_leverage import leverage_bound
from tacit.federated.matrix_product import PRODUCT, shared_product
from tacit.federated.policy import Policy


def regress_vertically(
    parts: Mapping[str, Any],
    *,
    unit: str,
    y: str,
    x: tuple[str, ...] | list[str],
    policy: Policy | None = None,
) -> Answer:
    r"""Regress a variable of one agency on variables of several, for the units all of them have.

    Parameters
    ----------
    parts
        The records of each agency, by name: its variables and the identifier of the unit.
    unit
        Column of the identifier, the same at every agency.
    y
        Response.
    x
        Predictors; each column is taken from the one agency that has it.
    policy
        Rules of all agencies.

    Notes
    -----
    Records are aligned by keyed tags (`align`). Every pair of agencies gets shares of the products
    of their variables (`shared_product`); own products and shares add up to :math:`X^T X` and
    :math:`X^T y` of centred and scaled variables, which is all that is shown [sanil2004]_.
    Units with a missing value at any agency are left out. Deviation: Sanil et al. minimise by
    Powell's method with secure sums, where every agency learns the residuals; products in closed
    form [karr2009]_ show sums only. With two agencies each learns the moments of both, which are
    the result, and the masks of `shared_product` hide the records. A regression in which a unit
    could have too large a leverage is refused; `leverage_bound` finds that without showing any.
    """
    policy = policy or Policy()
    data = {name: Microdata.of(part) for name, part in parts.items()}
    wanted = (y, *x)
    owners = _owners(data, wanted, unit)
    holders = _aligned(data, owners, unit, policy)
    if len(holders) < 2:
        raise ParameterError("all variables are at one agency", got=list(holders))
    members = list(holders.values())
    centre = {name: m for h in members for name, m in zip(h.names, h.centre, strict=True)}
    spread = {name: s for h in members for name, s in zip(h.names, h.spread, strict=True)}
    moments = Moments(
        len(members[0].z),
        wanted,
        _gram(members, wanted),
        np.array([centre[name] for name in wanted]),
        np.array([spread[name] for name in wanted]),
    )
    root = moments.root()
    require_shared_out(leverage_bound([h.scores(root, wanted[1:]) for h in members]), policy)
    return Answer(moments.answer(policy), tuple(sorted(holders)))


def _owners(
    data: Mapping[str, Microdata], wanted: tuple[str, ...], unit: str
) -> dict[str, tuple[str, ...]]:
    """Return for each agency its variables of the regression."""
    if len(set(wanted)) != len(wanted) or unit in wanted or len(wanted) < 2:
        raise ParameterError("response, predictors and unit are different columns", got=wanted)
    found: dict[str, list[str]] = {}
    for column in wanted:
        having = [name for name, part in data.items() if column in part.columns]
        if len(having) != 1:
            raise ParameterError(f"{column!r} must be at exactly one agency", got=having)
        found.setdefault(having[0], []).append(column)
    return {name: tuple(columns) for name, columns in found.items()}


def _aligned(
    data: Mapping[str, Microdata], owners: Mapping[str, tuple[str, ...]], unit: str, policy: Policy
) -> dict[str, Holder]:
    """Let each agency drop its incomplete records, then put the common ones into one order."""
    values = {name: data[name].numeric(list(columns)) for name, columns in owners.items()}
    kept = {name: np.flatnonzero(np.isfinite(v).all(axis=1)) for name, v in values.items()}
    units = {name: units_of(data[name], unit)[kept[name]] for name in owners}
    rows = align([units[name].tolist() for name in owners], at_least=policy.min_records)
    return {
        name: Holder.of(columns, values[name][kept[name]][own], policy)
        for (name, columns), own in zip(owners.items(), rows, strict=True)
    }


def _gram(holders: list[Holder], wanted: tuple[str, ...]) -> np.ndarray:
    """Return the products of all scaled variables: own blocks, and shares of those of pairs."""
    size = len(wanted)
    at = [places(one.names, wanted) for one in holders]
    added = [PRODUCT.zeros(size * size) for _ in holders]
    for k, one in enumerate(holders):
        put(added[k], size, at[k], at[k], PRODUCT.encode(one.z.T @ one.z, len(holders)))
    for k, j in combinations(range(len(holders)), 2):
        for i, share in zip((k, j), shared_product(holders[k].z, holders[j].z), strict=True):
            put(added[i], size, at[k], at[j], share)
    total = added[0]
    for other in added[1:]:  # own blocks are part of the result, shares are uniform alone
        total = PRODUCT.add(total, other)
    return gram_of(total, size)

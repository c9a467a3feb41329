"""Regression where agencies hold different variables of the same units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated.alignment import align
from tacit.federated.analyses._design import solved
from tacit.federated.analysis import require_records, require_varied
from tacit.federated.answer import Answer
from tacit.federated.joint_leverage import leverage_bound
from tacit.federated.matrix_product import PRODUCT, shared_product
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


@dataclass(frozen=True)
class _Holder:
    """One agency's variables of the common units, scaled."""

    names: tuple[str, ...]
    centre: np.ndarray
    spread: np.ndarray
    z: np.ndarray

    @classmethod
    def of(cls, names: tuple[str, ...], values: np.ndarray, policy: Policy) -> _Holder:
        require_records(len(values), policy)
        require_varied(values, policy)
        centre, spread = values.mean(axis=0), values.std(axis=0)
        if np.any(spread <= 1e-12 * np.maximum(np.abs(centre), 1e-300)):
            raise RefusedError("a variable is constant among the common units")
        z = (values - centre) / spread
        # The leverage of a record is at least that in each variable alone, which its holder sees.
        if (z**2).max() / len(z) > policy.max_leverage:
            raise RefusedError(f"a record has a leverage above {policy.max_leverage:g}")
        return cls(names, centre, spread, z)


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
    n = len(next(iter(holders.values())).z)
    if n <= len(wanted):
        raise RefusedError("no more common units than coefficients (p >= n)")
    gram = _gram(list(holders.values()), wanted)
    _require_shared_out(gram, wanted, list(holders.values()), policy)
    values = _coefficients(gram, n, wanted, list(holders.values()), policy)
    return Answer(values, tuple(sorted(holders)))


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
) -> dict[str, _Holder]:
    """Let each agency drop its incomplete records, then put the common ones into one order."""
    values = {name: data[name].numeric(list(columns)) for name, columns in owners.items()}
    kept = {name: np.flatnonzero(np.isfinite(v).all(axis=1)) for name, v in values.items()}
    units = {name: _units(data[name], unit)[kept[name]] for name in owners}
    rows = align([units[name].tolist() for name in owners], at_least=policy.min_records)
    return {
        name: _Holder.of(columns, values[name][kept[name]][own], policy)
        for (name, columns), own in zip(owners.items(), rows, strict=True)
    }


def _units(data: Microdata, unit: str) -> np.ndarray:
    import polars as pl

    data.schema.require([unit])
    texts = data.local[unit].cast(pl.String)
    if texts.null_count():
        raise RefusedError("a record has no identifier of its unit")
    return np.asarray(texts.to_numpy())


def _gram(holders: list[_Holder], wanted: tuple[str, ...]) -> np.ndarray:
    """Return the products of all scaled variables: own blocks, and shares of those of pairs."""
    place = {name: i for i, name in enumerate(wanted)}
    size = len(wanted)
    added = [PRODUCT.zeros(size * size) for _ in holders]
    for k, one in enumerate(holders):
        at = [place[name] for name in one.names]
        _put(added[k], size, at, at, PRODUCT.encode(one.z.T @ one.z, len(holders)))
    for k, j in combinations(range(len(holders)), 2):
        rows, columns = ([place[n] for n in holders[i].names] for i in (k, j))
        for i, share in zip((k, j), shared_product(holders[k].z, holders[j].z), strict=True):
            _put(added[i], size, rows, columns, share)
    upper = _summed(added).reshape(size, size)
    return np.where(upper != 0, upper, upper.T)


def _put(
    matrix: np.ndarray, size: int, rows: list[int], columns: list[int], block: np.ndarray
) -> None:
    where = np.add.outer(np.array(rows) * size, np.array(columns)).ravel()
    matrix[:, where] = block


def _summed(added: list[np.ndarray]) -> np.ndarray:
    """Add own blocks, which are part of the result, and shares, which are uniform alone."""
    total = added[0]
    for other in added[1:]:
        total = PRODUCT.add(total, other)
    return PRODUCT.decode(total)


def _require_shared_out(
    gram: np.ndarray, wanted: tuple[str, ...], holders: list[_Holder], policy: Policy
) -> None:
    """Refuse predictors of which one unit, seen over all agencies, might decide a combination."""
    root = np.linalg.cholesky(solved(gram[1:, 1:]))
    place = {name: i for i, name in enumerate(wanted[1:])}
    scores = []
    for holder in holders:
        own = [i for i, name in enumerate(holder.names) if name in place]
        rows = [place[holder.names[i]] for i in own]
        scores.append(holder.z[:, own] @ root[rows])
    if leverage_bound(scores) > policy.max_leverage:
        raise RefusedError(
            f"a record may have a leverage above {policy.max_leverage:g} in all variables together"
        )


def _coefficients(
    gram: np.ndarray, n: int, wanted: tuple[str, ...], holders: list[_Holder], policy: Policy
) -> dict[str, Any]:
    centre = {name: m for h in holders for name, m in zip(h.names, h.centre, strict=True)}
    spread = {name: s for h in holders for name, s in zip(h.names, h.spread, strict=True)}
    inverse = solved(gram[1:, 1:])
    b = inverse @ gram[1:, 0]
    rss = float(gram[0, 0] - b @ gram[1:, 0])
    r_squared = 1 - rss / float(gram[0, 0])
    if r_squared > policy.max_r_squared:
        raise RefusedError("the fit is (nearly) perfect, which tells every response")
    s = np.array([spread[name] for name in wanted[1:]])
    m = np.array([centre[name] for name in wanted[1:]])
    scale, sigma2 = spread[wanted[0]], rss / (n - len(wanted))
    beta = scale * b / s
    covariance = sigma2 * scale**2 * inverse / np.outer(s, s)
    errors = np.sqrt([sigma2 * scale**2 / n + m @ covariance @ m, *np.diag(covariance)])
    terms = ["(constant)", *wanted[1:]]
    constant = centre[wanted[0]] - beta @ m
    return {
        "n": n,
        "coefficients": dict(zip(terms, [float(constant), *beta.tolist()], strict=True)),
        "standard_errors": dict(zip(terms, errors.tolist(), strict=True)),
        "r_squared": r_squared,
        "residual_error": float(np.sqrt(sigma2)) * scale,
    }

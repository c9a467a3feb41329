"""Social networks: who is how many links away from whom, and the scores of COP, Section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Network:
    """Users and the links between them, which work both ways."""

    n_users: int
    """How many users there are, numbered from 0."""
    links: np.ndarray
    """One row per link: two users, the smaller number first, no link twice."""

    @classmethod
    def of(cls, links: Sequence[Sequence[int]] | np.ndarray, n_users: int | None = None) -> Network:
        """Read a network from pairs of users.

        Parameters
        ----------
        links
            Pairs of users, numbered from 0; repeated pairs count once.
        n_users
            How many users there are, where some may have no link.
        """
        pairs = np.asarray(links)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise DataError("links must be pairs of user numbers", got=f"shape {pairs.shape}")
        n = int(pairs.max(initial=-1)) + 1 if n_users is None else int(n_users)
        if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
            raise DataError("a link names a user that does not exist", got=f"{n} users")
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise DataError("a user cannot have a link to herself")
        return cls(n, np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int64))

    @property
    def degrees(self) -> np.ndarray:
        """How many links each user has."""
        return np.bincount(self.links.ravel(), minlength=self.n_users)

    def within(self, distance: int) -> list[Any]:
        """Return for each distance from 1 on a sparse matrix of the pairs so many links apart."""
        from scipy.sparse import csr_array, eye_array

        if distance < 1:
            raise ParameterError("the largest distance must be 1 or more", got=distance)
        a, b = self.links.T
        ones = np.ones(2 * len(a))
        adjacency = csr_array(
            (ones, (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(self.n_users,) * 2
        )
        reached, edge, found = eye_array(self.n_users, format="csr"), adjacency, [adjacency]
        for _ in range(distance - 1):
            reached = ((reached + edge) > 0).astype(float)
            ahead = ((edge @ adjacency) > 0).astype(float)
            edge = ahead - ahead.multiply(reached)
            edge.eliminate_zeros()
            found.append(edge)
        return found


def random_network(n_users: int, *, degree: float = 10.0, seed: int | None = None) -> Network:
    """Draw links between users at random.

    Parameters
    ----------
    n_users
        Number of users.
    degree
        Mean number of links of a user.
    seed
        Makes the draw repeatable.
    """
    if n_users < 2 or not 0 < degree <= n_users - 1:
        raise ParameterError(
            "a random network needs two users or more, and fewer links than others",
            got=f"{n_users} users, degree {degree:g}",
        )
    rng = np.random.default_rng(seed)
    wanted = round(n_users * degree / 2)
    if 2 * wanted > n_users * (n_users - 1) / 2:  # dense: choose among all pairs
        pairs = np.stack(np.triu_indices(n_users, 1), axis=1)
        return Network.of(rng.choice(pairs, wanted, replace=False), n_users)
    keys = np.zeros(0, dtype=np.int64)
    while len(keys) < wanted:
        pairs = np.sort(rng.integers(0, n_users, (2 * wanted, 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        keys = np.unique(np.concatenate([keys, pairs[:, 0] * n_users + pairs[:, 1]]))
    keys = rng.choice(keys, wanted, replace=False)
    return Network.of(np.stack(np.divmod(keys, n_users), axis=1), n_users)


# -- scores ------------------------------------------------------------------------------------


def privacy_risk(visibility: np.ndarray, sensitivity: np.ndarray) -> np.ndarray:
    r"""Return each user's privacy risk score PR.

    Parameters
    ----------
    visibility
        V(i, j, k), of shape (users, attributes, distances): how far user j's attribute i can be
        seen by users at most k links away, from 0 to 1. Of shape (users, attributes) where an
        attribute is public or secret.
    sensitivity
        The sensitivities :math:`\beta_{ik}`, of shape (attributes, distances) or (attributes,).

    Notes
    -----
    :math:`PR(j) = \sum_i \sum_k \beta_{ik} V(i, j, k)` ([liu2009]_, [domingoferrer2011]_). What
    users k links away can see, nearer ones see too: V must not grow with k.
    """
    seen, weights = _checked_scores(visibility, sensitivity)
    risk: np.ndarray = np.einsum("jik,ik->j", seen, weights)
    return risk


def privacy_functionality(
    network: Network, visibility: np.ndarray, sensitivity: np.ndarray
) -> np.ndarray:
    r"""Return each user's score PRF: what the network shows her, against what she shows.

    Parameters
    ----------
    network
        The network.
    visibility, sensitivity
        As for `privacy_risk`.

    Notes
    -----
    :math:`PRF(j) = \sum_{j' \ne j} \sum_i \sum_k \beta_{ik} V(i, j', k) I(j, j', k) /
    (1 + PR(j))`, where I is 1 if j and j' are k links away from each other [domingoferrer2011]_.
    """
    seen, weights = _checked_scores(visibility, sensitivity)
    if len(seen) != network.n_users:
        raise DataError("visibility needs one row per user", got=f"{len(seen)}, {network.n_users}")
    offered = np.einsum("jik,ik->jk", seen, weights)
    shown = sum(
        (apart @ offered[:, k] for k, apart in enumerate(network.within(offered.shape[1]))),
        np.zeros(network.n_users),
    )
    score: np.ndarray = shown / (1 + offered.sum(axis=1))
    return score


def privacy_functionality_2(visibility: np.ndarray, sensitivity: np.ndarray) -> np.ndarray:
    r"""Return each user's score PRF2, where an attribute is public to all or secret.

    Parameters
    ----------
    visibility
        1 where a user's attribute is public, otherwise 0; of shape (users, attributes).
    sensitivity
        Sensitivity of each attribute.

    Notes
    -----
    Expression (3) of [domingoferrer2011]_: what all others publish, over one plus what the user
    publishes, both weighted by sensitivity.

    Examples
    --------
    >>> privacy_functionality_2([[0], [1]], [1]).tolist()
    [1.0, 0.0]
    """
    public = np.asarray(visibility, dtype=float)
    if public.ndim != 2 or not np.isin(public, (0, 1)).all():
        raise DataError("an attribute is public (1) or secret (0)", got=f"shape {public.shape}")
    risk = privacy_risk(public, sensitivity)
    # Eq. (3) of domingoferrer2011
    score: np.ndarray = (risk.sum() - risk) / (1 + risk)
    return score


def _checked_scores(
    visibility: np.ndarray, sensitivity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    seen, weights = np.asarray(visibility, dtype=float), np.asarray(sensitivity, dtype=float)
    seen = seen[:, :, None] if seen.ndim == 2 else seen
    weights = weights[:, None] if weights.ndim == 1 else weights
    if seen.ndim != 3 or weights.shape != seen.shape[1:]:
        raise DataError(
            "visibility needs users, attributes and distances, sensitivity the last two",
            got=f"{seen.shape} and {weights.shape}",
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError("sensitivities must be finite and 0 or above")
    if not ((seen >= 0) & (seen <= 1)).all():
        raise DataError("visibility must be from 0 to 1", do="fill missing values first")
    if (np.diff(seen, axis=2) > 0).any():
        raise DataError("what is visible farther away must be visible nearer too")
    return seen, weights

"""Groups of at least k users with similar interests."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from tacit.core.errors import ParameterError, ProtectionError
from tacit.core.progress import track

Way = Literal["greedy", "mdav"]
_LISTED = 8
"""Best partners that are remembered of each user."""
_USERS_PER_REPORT = 256
_GROUPS_PER_REPORT = 512


def partition(
    profiles: Any, k: int, *, way: Way = "greedy", block: int = 5000, levels: Any = None
) -> np.ndarray:
    """Return the group (0, 1, ...) of each user; every group has at least `k` users.

    Parameters
    ----------
    profiles
        Sparse matrix users by categories, from `user_profiles`.
    k
        Smallest group.
    way
        ``greedy`` merges the most similar users as in [erola2011]_; ``mdav`` forms groups around
        the users farthest from the mean profile.
    block
        Most users compared with one another. Larger logs are cut into blocks of users with the
        same main interests, so that time grows in proportion to users. Memory never does worse.
    levels
        Level of each column, which sorts users into blocks; by default in order of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> profiles = csr_array(np.array([[3, 0], [0, 2], [2, 0], [0, 5]], dtype=np.int32))
    >>> partition(profiles, 2).tolist()
    [0, 1, 0, 1]
    """
    n_users = profiles.shape[0]
    check_size(n_users, k)
    if block < 2 * k:
        raise ParameterError("a block must hold at least two groups", got=f"{block} for k = {k}")
    if way not in ("greedy", "mdav"):
        raise ParameterError("groups are formed greedy or by mdav", got=repr(way))
    form = _greedy if way == "greedy" else _mdav
    groups = np.empty(n_users, dtype=np.int64)
    n_groups = 0
    with track("grouping users", n_users) as advance:
        for users in blocks(profiles, block, levels):
            inside = form(profiles[users], k, advance)
            groups[users] = inside + n_groups
            n_groups += int(inside.max()) + 1
    if np.bincount(groups).min() < k:
        raise ProtectionError("a group has fewer than k users", do="report this as a bug")
    return groups


def check_size(n_users: int, k: int) -> None:
    """Refuse a size of groups that cannot be met."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 2:
        raise ParameterError("k is a whole number, 2 or above", got=repr(k))
    if n_users < k:
        raise ProtectionError(
            f"k = {k} needs at least {k} users with queries", got=n_users, do="lower k or add users"
        )


def blocks(profiles: Any, block: int, levels: Any = None) -> list[np.ndarray]:
    """Cut the users into parts of at most `block` who share their main interests.

    Users are sorted by their most frequent category of level 1, then by that of level 2, and so on.
    """
    n_users = profiles.shape[0]
    if n_users <= block:
        return [np.arange(n_users)]
    level = np.zeros(profiles.shape[1], dtype=np.int64) if levels is None else np.asarray(levels)
    main = [_main_category(profiles, level == value) for value in np.unique(level)]
    order = np.lexsort([np.arange(n_users), *reversed(main)])
    return [np.sort(part) for part in np.array_split(order, -(-n_users // block))]


def _main_category(profiles: Any, columns: np.ndarray) -> np.ndarray:
    """Return each user's most frequent category among some columns, or -1."""
    part = profiles[:, np.flatnonzero(columns)].tocsr()
    main = np.full(part.shape[0], -1, dtype=np.int64)
    if not part.nnz:
        return main
    user = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
    order = np.lexsort([part.indices, -part.data, user])
    first = np.unique(user[order], return_index=True)
    main[first[0]] = part.indices[order][first[1]]
    return main


def _kernel() -> Any:
    from tacit.logs import _partition_kernel

    return _partition_kernel


def _arrays(profiles: Any) -> Any:
    return (
        profiles.indptr.astype(np.int64),
        profiles.indices.astype(np.int64),
        profiles.data.astype(np.int32),
    )


def _greedy(profiles: Any, k: int, advance: Any) -> np.ndarray:
    """Algorithms 2 to 4 of erola2011 without the matrix of all pairs."""
    kernel = _kernel()

    n_users, n_nodes = profiles.shape
    arrays = _arrays(profiles)
    alive = np.ones(n_users, dtype=bool)
    groups = np.full(n_users, -1, dtype=np.int64)
    index = kernel.build_index(*arrays, alive, n_nodes)
    size = min(_LISTED, n_users - 1)
    found = np.full((n_users, size), -1, dtype=np.int32)
    values = np.zeros((n_users, size), dtype=np.int32)
    state = (*arrays, *index, alive, found, values)
    starts = range(0, n_users, _USERS_PER_REPORT)
    ends = [min(start + _USERS_PER_REPORT, n_users) for start in starts]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = [
            pool.submit(kernel.nearest_users, *span, *state)
            for span in zip(starts, ends, strict=True)
        ]
        for future, start, end in zip(done, starts, ends, strict=True):
            future.result()
            advance((end - start) / 2)
    best = values[:, 0].copy()
    queue, queued = kernel.queue_of(best), n_users
    n_groups, indexed = 0, n_users
    while n_groups < n_users // k:
        if 2 * (n_users - n_groups * k) < indexed:  # half of the index is about users who have gone
            index, indexed = kernel.build_index(*arrays, alive, n_nodes), n_users - n_groups * k
        wanted = min(_GROUPS_PER_REPORT, n_users // k - n_groups)
        queued = kernel.form_groups(
            queue, queued, best, wanted, k, *arrays, *index, alive, found, values, groups, n_groups
        )
        n_groups += wanted
        advance(wanted * k / 2)
    left = np.flatnonzero(alive)
    if len(left):
        index = kernel.build_index(*arrays, np.ones(n_users, dtype=bool), n_nodes)
        kernel.place_leftovers(left, groups, n_groups, *arrays, *index)
        advance(len(left) / 2)
    return groups


def _mdav(profiles: Any, k: int, advance: Any) -> np.ndarray:
    from tacit.logs import _profile_mdav_kernel as kernel

    n_users, n_nodes = profiles.shape
    totals = np.maximum(np.asarray(profiles.sum(axis=1)).ravel(), 1)
    shares = profiles.data / np.repeat(totals, np.diff(profiles.indptr))
    groups = kernel.mdav(
        profiles.indptr.astype(np.int64), profiles.indices.astype(np.int64), shares, n_nodes, k
    )
    advance(n_users)
    return np.asarray(groups)


def incidence_matrix(profiles: Any) -> np.ndarray:
    """Return the similarity of all pairs of users, for looking at small logs.

    Algorithm 2 of [erola2011]_: the sum over levels and categories of the smaller of both counts.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> incidence_matrix(csr_array(np.array([[3, 1], [2, 0], [0, 4]], dtype=np.int32)))
    array([[4, 2, 1], [2, 2, 0], [1, 0, 4]], dtype=int32)
    """
    kernel = _kernel()

    n_users = profiles.shape[0]
    arrays = _arrays(profiles)
    index = kernel.build_index(*arrays, np.ones(n_users, dtype=bool), profiles.shape[1])
    matrix = np.zeros((n_users, n_users), dtype=np.int32)
    for user in range(n_users):
        kernel.add_similarities(user, *arrays, *index, matrix[user])
    return matrix

# mypy: ignore-errors
"""Groups of users with similar profiles, from an inverted index instead of a matrix of all pairs.

Symbols: ``indptr, nodes, counts`` are the profiles, user by user; ``heads, posting, held`` the
index: for each category the users who have it and how often. ``alive`` marks users without a group.
Similarities of users who are left never change, so the best few partners of a user are kept in a
list and looked up again only when all of them have gone.
"""

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True)
def build_index(indptr, nodes, counts, alive, n_nodes):
    """Return the users of each category who are alive, and how often they have it."""
    heads = np.zeros(n_nodes + 1, dtype=np.int64)
    for user in range(len(indptr) - 1):
        if alive[user]:
            for e in range(indptr[user], indptr[user + 1]):
                heads[nodes[e] + 1] += 1
    heads = np.cumsum(heads)
    fill = heads[:-1].copy()
    posting = np.empty(heads[-1], dtype=np.int32)
    held = np.empty(heads[-1], dtype=np.int32)
    for user in range(len(indptr) - 1):
        if alive[user]:
            for e in range(indptr[user], indptr[user + 1]):
                at = fill[nodes[e]]
                posting[at], held[at] = user, counts[e]
                fill[nodes[e]] += 1
    return heads, posting, held


@njit(cache=True)
def add_similarities(user, indptr, nodes, counts, heads, posting, held, row):
    """Add the similarity of `user` with everybody to `row` (Algorithm 2 of erola2011)."""
    for e in range(indptr[user], indptr[user + 1]):
        own, first, last = counts[e], heads[nodes[e]], heads[nodes[e] + 1]
        if own == 1:  # the smaller of 1 and any count
            for p in range(first, last):
                row[posting[p]] += 1
        else:
            for p in range(first, last):
                row[posting[p]] += min(own, held[p])


@njit(cache=True)
def best_of(row, alive, user, found, values):
    """Write the most similar users to `found`, highest first, lower number first among equals."""
    size = 0
    for other in range(len(row)):
        if other == user or not alive[other]:
            continue
        if size == len(found) and row[other] <= values[size - 1]:
            continue
        at = size if size < len(found) else size - 1
        while at > 0 and values[at - 1] < row[other]:
            if at < len(found):
                found[at], values[at] = found[at - 1], values[at - 1]
            at -= 1
        found[at], values[at] = other, row[other]
        size = min(size + 1, len(found))
    found[size:] = -1
    return size


@njit(cache=True, nogil=True)
def nearest_users(first, last, indptr, nodes, counts, heads, posting, held, alive, found, values):
    """Fill the list of the best partners of users `first` to `last`, the latter left out."""
    row = np.zeros(len(indptr) - 1, dtype=np.int32)
    for user in range(first, last):
        row[:] = 0
        add_similarities(user, indptr, nodes, counts, heads, posting, held, row)
        best_of(row, alive, user, found[user], values[user])


@njit(cache=True)
def _first_alive(found, alive):
    for place in range(len(found)):
        if found[place] < 0:
            return -1
        if alive[found[place]]:
            return place
    return -1


@njit(cache=True)
def _join(members, size, indptr, nodes, counts, heads, posting, held, alive, row):
    """Let the users who are most similar to the merged group join it (Algorithm 4 of erola2011)."""
    row[:] = 0
    add_similarities(members[0], indptr, nodes, counts, heads, posting, held, row)
    while size < len(members):
        add_similarities(members[size - 1], indptr, nodes, counts, heads, posting, held, row)
        best = -1
        for other in range(len(row)):
            if alive[other] and (best < 0 or row[other] > row[best]):
                best = other
        members[size] = best
        alive[best] = False
        size += 1


@njit(cache=True)
def _sift_down(queue, size, at, best):
    """Restore the order below a place of the queue: highest similarity, then lowest number."""
    while True:
        down = 2 * at + 1
        if down >= size:
            return
        right = down + 1
        if right < size and _before(queue[right], queue[down], best):
            down = right
        if not _before(queue[down], queue[at], best):
            return
        queue[at], queue[down] = queue[down], queue[at]
        at = down


@njit(cache=True)
def _before(a, b, best):
    return best[a] > best[b] or (best[a] == best[b] and a < b)


@njit(cache=True)
def queue_of(best):
    """Return a queue of all users, the one with the most similar partner first."""
    queue = np.arange(len(best))
    for at in range(len(best) // 2, -1, -1):
        _sift_down(queue, len(best), at, best)
    return queue


@njit(cache=True)
def form_groups(
    queue,
    size,
    best,
    n_groups,
    k,
    indptr,
    nodes,
    counts,
    heads,
    posting,
    held,
    alive,
    found,
    values,
    groups,
    first,
):
    """Form up to `n_groups` groups of k users, the most similar pair first (Algorithm 3).

    `best` holds upper bounds: a pair counts only if both are still alive, otherwise its user looks
    for the next best partner. Returns how long the queue is then.
    """
    row = np.zeros(len(alive), dtype=np.int32)
    members = np.empty(k, dtype=np.int64)
    formed = 0
    while formed < n_groups:
        user = queue[0]
        if not alive[user]:
            size -= 1
            queue[0] = queue[size]
            _sift_down(queue, size, 0, best)
            continue
        place = _first_alive(found[user], alive)
        if place < 0:
            row[:] = 0
            add_similarities(user, indptr, nodes, counts, heads, posting, held, row)
            best_of(row, alive, user, found[user], values[user])
            place = 0
        if values[user, place] < best[user]:
            best[user] = values[user, place]
            _sift_down(queue, size, 0, best)
            continue
        members[0], members[1] = user, found[user, place]
        alive[members[0]] = alive[members[1]] = False
        if k > 2:
            _join(members, 2, indptr, nodes, counts, heads, posting, held, alive, row)
        for member in members:
            groups[member] = first + formed
        formed += 1
    return size


@njit(cache=True)
def place_leftovers(users, groups, n_groups, indptr, nodes, counts, heads, posting, held):
    """Put users who are left into the group they are most similar to, on average per member."""
    size = np.zeros(n_groups, dtype=np.int64)
    for group in groups:
        if group >= 0:
            size[group] += 1
    row = np.zeros(len(groups), dtype=np.int32)
    chosen = np.empty(len(users), dtype=np.int64)
    for at in range(len(users)):
        row[:] = 0
        add_similarities(users[at], indptr, nodes, counts, heads, posting, held, row)
        total = np.zeros(n_groups)
        for other in range(len(groups)):
            if groups[other] >= 0:
                total[groups[other]] += row[other]
        chosen[at] = np.argmax(total / size)
    for at in range(len(users)):
        groups[users[at]] = chosen[at]

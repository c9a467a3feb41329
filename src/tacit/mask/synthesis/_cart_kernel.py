# mypy: ignore-errors
"""Classification and regression trees on coded predictors.

Symbols: ``codes[f, i]`` code of predictor f on record i; ``y`` numbers, or ``classes`` (then
``n_classes > 0``); ``order`` records, those of a node one after another.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.compiled import njit
from tacit.mask.synthesis._cut_kernel import (
    best_cut,
    cut_of_counts,
    cut_of_sums,
    level_ranks,
    sorted_by,
)


class Problem(NamedTuple):
    """What a tree is grown on."""

    codes: np.ndarray
    is_nominal: np.ndarray
    n_codes: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    n_classes: int
    least: int


class Space(NamedTuple):
    """Arrays that are written to again and again, so that nodes allocate nothing.

    `keys`, `y` and `classes` hold the records of a node one after another: records lie all over
    the file, and to fetch each of them once for a predictor is most of the work.
    """

    out: np.ndarray
    keys: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    grid: np.ndarray
    count: np.ndarray
    level_count: np.ndarray
    level_sum: np.ndarray
    rank: np.ndarray
    found: np.ndarray
    best_rank: np.ndarray
    best_found: np.ndarray
    total: np.ndarray
    left: np.ndarray
    score: np.ndarray


class Nodes(NamedTuple):
    """Nodes by number: predictor is -1 for a leaf; the right child follows the left one."""

    predictor: np.ndarray
    cut: np.ndarray
    child: np.ndarray
    first: np.ndarray
    last: np.ndarray
    depth: np.ndarray
    offset: np.ndarray


class Cut(NamedTuple):
    """The best cut of a node; predictor -1 if there is none."""

    gain: float
    predictor: int
    at: int
    behind: int
    n_found: int


@njit(cache=True)
def _space(n, n_codes, n_classes):
    widest = 2
    for f in range(len(n_codes)):
        widest = max(widest, n_codes[f] + 1)
    kinds = max(n_classes, 1)
    return Space(
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n if n_classes == 0 else 0),
        np.empty(n if n_classes > 0 else 0, dtype=np.int64),
        np.empty(min(2 * n, widest * kinds) if n_classes > 0 else 0, dtype=np.int64),
        np.zeros(widest + 1, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(kinds, dtype=np.int64),
        np.zeros(kinds, dtype=np.int64),
        np.zeros(2 * kinds),
    )


@njit(cache=True)
def _nodes(most):
    return Nodes(
        np.full(most, -1, dtype=np.int32),
        np.zeros(most, dtype=np.int32),
        np.zeros(most, dtype=np.int32),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int32),
        np.zeros(most, dtype=np.int64),
    )


@njit(cache=True)
def _described(problem, space, order, a, b):
    """Return what a node explains uncut, what is left to explain, and its most frequent class."""
    m = b - a
    if problem.n_classes == 0:
        here, square = 0.0, 0.0
        for i in range(a, b):
            value = problem.y[order[i]]
            space.y[i - a] = value
            here += value
            square += value**2
        base = here * here / m
        return base, square - base, -1
    total = space.total
    for k in range(problem.n_classes):
        total[k] = 0
    for i in range(a, b):
        k = problem.classes[order[i]]
        space.classes[i - a] = k
        total[k] += 1
    base, modal = 0.0, 0
    for k in range(problem.n_classes):
        base += float(total[k]) * total[k]
        if total[k] > total[modal]:
            modal = k
    base /= m
    return base, m - base, modal


@njit(cache=True)
def _fetched(column, order, a, b, keys):
    """Fetch the codes of a node's records; returns whether they differ at all."""
    low, differ = column[order[a]], False
    for i in range(a, b):
        code = column[order[i]]
        keys[i - a] = code
        differ |= code != low
    return differ


@njit(cache=True)
def _cut_of(problem, space, f, m, modal):
    """Return gain and place of the best cut by one predictor, and its number of levels."""
    keys, n_keys, n_classes = space.keys, problem.n_codes[f], problem.n_classes
    n_found = 0
    if problem.is_nominal[f]:
        for k in range(n_classes):
            space.score[k] = 1.0 if k == modal else 0.0
            space.score[n_classes + k] = space.total[k]
        n_found = level_ranks(
            keys, m, space.y, space.classes, n_classes, space.score, space.level_sum,
            space.level_count, space.rank, space.found,
        )  # fmt: skip
        for i in range(m):
            keys[i] = space.rank[keys[i]]
        n_keys = n_found
    if n_classes == 0 and n_keys <= 4 * m:
        gain, at, behind = cut_of_sums(
            keys, m, n_keys, space.y, space.count, space.level_sum, problem.least
        )
    elif n_classes > 0 and n_keys * n_classes <= 2 * m:
        gain, at, behind = cut_of_counts(
            keys, m, n_keys, space.classes, n_classes, space.grid, space.total, space.left,
            problem.least,
        )  # fmt: skip
    else:
        sorted_by(keys, m, n_keys, space.count, space.out)
        gain, at, behind = best_cut(
            space.out, m, keys, space.y, space.classes, n_classes, space.total, space.left,
            problem.least,
        )  # fmt: skip
    return gain, at, behind, n_found


@njit(cache=True)
def _best_of(problem, space, tried, order, a, b, base, modal):
    """Return the best cut of a node by any of the predictors that are tried."""
    best, best_f, best_at, best_behind, best_n = base, -1, -1, -1, 0
    for f in tried:
        if not _fetched(problem.codes[f], order, a, b, space.keys):
            continue
        gain, at, behind, n_found = _cut_of(problem, space, f, b - a, modal)
        if gain > best * (1 + 1e-12) + 1e-12:
            best, best_f, best_at, best_behind, best_n = gain, f, at, behind, n_found
            for i in range(n_found):
                level = space.found[i]
                space.best_found[i] = level
                space.best_rank[level] = space.rank[level]
    return Cut(best, best_f, best_at, best_behind, best_n)


@njit(cache=True)
def _partition(problem, space, order, a, b, cut):
    """Put the records that go left before the others; return where the others begin."""
    column, nominal = problem.codes[cut.predictor], problem.is_nominal[cut.predictor]
    place, n_right = a, 0
    for i in range(a, b):
        row = order[i]
        if (space.best_rank[column[row]] if nominal else column[row]) <= cut.at:
            order[place] = row
            place += 1
        else:
            space.out[n_right] = row
            n_right += 1
    for i in range(n_right):  # backwards, as trees always were
        order[place + i] = space.out[n_right - 1 - i]
    return place


@njit(cache=True)
def _write_left_levels(problem, space, sets, start, cut, unseen_go_left):
    """Mark the levels that go left; those that nobody here has follow the larger branch."""
    n_codes = problem.n_codes[cut.predictor]
    if unseen_go_left:
        for level in range(n_codes):
            sets[start + level // 64] |= np.uint64(1) << np.uint64(level % 64)
    for i in range(cut.n_found):
        level = space.best_found[i]
        bit = np.uint64(1) << np.uint64(level % 64)
        if space.best_rank[level] <= cut.at:
            sets[start + level // 64] |= bit
        elif unseen_go_left:
            sets[start + level // 64] &= ~bit


@njit(cache=True)
def _random(state):
    """Advance a xorshift generator and return a number in [0, 1)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return (x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def _choose(features, n_tried, state):
    """Put predictors drawn at random first, if not all are tried."""
    if n_tried == len(features):
        return
    for j in range(n_tried):
        other = j + int(_random(state) * (len(features) - j))
        features[j], features[other] = features[other], features[j]


@njit(cache=True)
def _add_children(nodes, node, n_nodes, cut, place):
    nodes.predictor[node] = cut.predictor
    nodes.cut[node] = (cut.at + cut.behind) // 2
    nodes.child[node] = n_nodes
    nodes.first[n_nodes], nodes.last[n_nodes] = nodes.first[node], place
    nodes.first[n_nodes + 1], nodes.last[n_nodes + 1] = place, nodes.last[node]
    nodes.depth[n_nodes : n_nodes + 2] = nodes.depth[node] + 1


@njit(cache=True)
def grow(
    codes, is_nominal, n_codes, y, classes, n_classes, least, deepest, n_tried, seed, smallest,
    evidence,
):  # fmt: skip
    """Grow a tree; returns its nodes (see `Nodes`), sets of levels, and the records by leaf.

    The offset of a node is the start of its set of levels that go left.
    """
    n_predictors, n = codes.shape
    problem = Problem(codes, is_nominal, n_codes, y, classes, n_classes, least)
    space, nodes = _space(n, n_codes, n_classes), _nodes(2 * (n // max(least, 1)) + 3)
    sets, n_words = np.zeros(1024, dtype=np.uint64), 0
    order, features = np.arange(n), np.arange(n_predictors)
    state = np.array([np.uint64(seed) | np.uint64(1)], dtype=np.uint64)
    nodes.last[0] = n
    n_nodes = 1
    node = -1
    while node + 1 < n_nodes:
        node += 1
        a, b = nodes.first[node], nodes.last[node]
        m = b - a
        if m < 2 * least or nodes.depth[node] >= deepest:
            continue
        base, spread, modal = _described(problem, space, order, a, b)
        if spread <= smallest * m:
            continue
        _choose(features, n_tried, state)
        cut = _best_of(problem, space, features[:n_tried], order, a, b, base, modal)
        # a cut at random explains spread / m on average, whatever the number of classes
        if cut.predictor < 0 or (cut.gain - base) * m < evidence * spread:
            continue
        place = _partition(problem, space, order, a, b, cut)
        if is_nominal[cut.predictor]:
            words = n_codes[cut.predictor] // 64 + 1
            while n_words + words > len(sets):
                sets = np.concatenate((sets, np.zeros(len(sets), dtype=np.uint64)))
            _write_left_levels(problem, space, sets, n_words, cut, place - a > b - place)
            nodes.offset[node] = n_words
            n_words += words
        _add_children(nodes, node, n_nodes, cut, place)
        n_nodes += 2
    return (
        nodes.predictor[:n_nodes].copy(), nodes.cut[:n_nodes].copy(), nodes.child[:n_nodes].copy(),
        nodes.first[:n_nodes].copy(), nodes.last[:n_nodes].copy(), nodes.offset[:n_nodes].copy(),
        sets[: max(n_words, 1)].copy(), order,
    )  # fmt: skip

# mypy: ignore-errors
"""Classification and regression trees on coded predictors, and draws from their leaves.

Symbols: ``codes[f, i]`` code of predictor f on record i; ``y`` numbers, or ``k`` classes (then
``n_classes > 0``); ``order`` records, those of a node one after another.
"""

import numpy as np

from tacit.core.compiled import njit


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
def _level_ranks(codes, order, start, end, y, classes, n_classes, score, sums, counts, rank, found):
    """Order the levels of a predictor so that the best cut of the order is the best partition.

    For numbers (and two classes) levels are ordered by the mean of the target, which is exact; for
    more classes by the first axis of reciprocal averaging. Returns the number of levels present.
    """
    n_found = 0
    for i in range(start, end):
        level = codes[order[i]]
        if counts[level] == 0:
            found[n_found] = level
            n_found += 1
        counts[level] += 1
    rounds = 1 if n_classes <= 2 else 3
    for turn in range(rounds):
        for j in range(n_found):
            sums[found[j]] = 0.0
        for i in range(start, end):
            row = order[i]
            sums[codes[row]] += y[row] if n_classes == 0 else score[classes[row]]
        for j in range(n_found):
            sums[found[j]] /= counts[found[j]]
        if turn == rounds - 1:
            break
        # the score of a class becomes the mean over its records of their levels' means
        for i in range(start, end):
            score[classes[order[i]]] = 0.0
        for i in range(start, end):
            row = order[i]
            score[classes[row]] += sums[codes[row]]
        for k in range(n_classes):
            if score[n_classes + k] > 0:
                score[k] /= score[n_classes + k]
    means = np.empty(n_found)
    for j in range(n_found):
        means[j] = sums[found[j]]
    by_mean = np.argsort(means)
    for j in range(n_found):
        rank[found[by_mean[j]]] = j
    for j in range(n_found):
        counts[found[j]] = 0
    return n_found


@njit(cache=True)
def _sorted_by(keys, order, start, end, n_keys, count, out):
    """Write the records of a node to `out` by rising key; counting, or sorting if they are few."""
    m = end - start
    if m * 4 < n_keys:
        packed = np.empty(m, dtype=np.int64)
        for i in range(m):
            packed[i] = (np.int64(keys[order[start + i]]) << 32) | i
        packed.sort()
        for i in range(m):
            out[i] = order[start + (packed[i] & 0xFFFFFFFF)]
        return
    for j in range(n_keys + 1):
        count[j] = 0
    for i in range(start, end):
        count[keys[order[i]] + 1] += 1
    for j in range(n_keys):
        count[j + 1] += count[j]
    for i in range(start, end):
        row = order[i]
        key = keys[row]
        out[count[key]] = row
        count[key] += 1


@njit(cache=True)
def _best_cut(out, m, keys, y, classes, n_classes, total, left, least):
    """Return the gain of the best cut of sorted records and the key it comes after."""
    best, at, behind = -1.0, -1, -1
    if n_classes == 0:
        right_sum, left_sum = 0.0, 0.0
        for i in range(m):
            right_sum += y[out[i]]
    else:
        left_square, right_square = 0.0, 0.0
        for i in range(m):
            left[classes[out[i]]] = 0
        for k in range(n_classes):
            right_square += float(total[k]) * total[k]
    for i in range(m - 1):
        row = out[i]
        if n_classes == 0:
            left_sum += y[row]
            right_sum -= y[row]
        else:
            k = classes[row]
            left_square += 2.0 * left[k] + 1.0
            right_square -= 2.0 * (total[k] - left[k]) - 1.0
            left[k] += 1
        n_left, n_right = i + 1, m - i - 1
        if n_right < least:
            break
        if n_left < least or keys[row] == keys[out[i + 1]]:
            continue
        if n_classes == 0:
            gain = left_sum * left_sum / n_left + right_sum * right_sum / n_right
        else:
            gain = left_square / n_left + right_square / n_right
        if gain > best:
            best, at, behind = gain, keys[row], keys[out[i + 1]]
    return best, at, behind


@njit(cache=True)
def grow(
    codes,
    is_nominal,
    n_codes,
    y,
    classes,
    n_classes,
    least,
    deepest,
    n_tried,
    seed,
    smallest,
    evidence,
):
    """Grow a tree; returns its nodes, the records leaf by leaf, and the leaf of each record.

    Node arrays: predictor (-1 for a leaf), cut, left child (the right one follows), first and last
    record, offset of the set of levels that go left.
    """
    n_predictors, n = codes.shape
    most = 2 * (n // max(least, 1)) + 3
    predictor = np.full(most, -1, dtype=np.int32)
    cut = np.zeros(most, dtype=np.int32)
    child = np.zeros(most, dtype=np.int32)
    first = np.zeros(most, dtype=np.int64)
    last = np.zeros(most, dtype=np.int64)
    depth = np.zeros(most, dtype=np.int32)
    offset = np.zeros(most, dtype=np.int64)
    sets = np.zeros(1024, dtype=np.uint64)
    n_words = 0
    order = np.arange(n)
    out = np.empty(n, dtype=np.int64)
    widest = 2
    for f in range(n_predictors):
        widest = max(widest, n_codes[f] + 1)
    count = np.zeros(widest + 1, dtype=np.int64)
    level_count = np.zeros(widest, dtype=np.int64)
    level_sum = np.zeros(widest)
    rank = np.zeros(widest, dtype=np.int64)
    found = np.zeros(widest, dtype=np.int64)
    ranked = np.zeros(n, dtype=np.int64)
    best_rank = np.zeros(widest, dtype=np.int64)
    best_found = np.zeros(widest, dtype=np.int64)
    total = np.zeros(max(n_classes, 1), dtype=np.int64)
    left = np.zeros(max(n_classes, 1), dtype=np.int64)
    score = np.zeros(2 * max(n_classes, 1))
    features = np.arange(n_predictors)
    state = np.array([np.uint64(seed) | np.uint64(1)], dtype=np.uint64)
    last[0] = n
    n_nodes = 1
    node = 0
    while node < n_nodes:
        a, b = first[node], last[node]
        m = b - a
        if m < 2 * least or depth[node] >= deepest:
            node += 1
            continue
        if n_classes == 0:
            here, square = 0.0, 0.0
            for i in range(a, b):
                here += y[order[i]]
                square += y[order[i]] ** 2
            base = here * here / m
            spread = square - base
            if spread <= smallest * m:
                node += 1
                continue
        else:
            for k in range(n_classes):
                total[k] = 0
            for i in range(a, b):
                total[classes[order[i]]] += 1
            base, modal = 0.0, 0
            for k in range(n_classes):
                base += float(total[k]) * total[k]
                if total[k] > total[modal]:
                    modal = k
            base /= m
            spread = m - base
            if total[modal] == m:
                node += 1
                continue
        if n_tried < n_predictors:
            for j in range(n_tried):
                other = j + int(_random(state) * (n_predictors - j))
                features[j], features[other] = features[other], features[j]
        best, best_f, best_at, best_behind, best_n = base, -1, -1, -1, 0
        for j in range(n_tried):
            f = features[j]
            column = codes[f]
            low = column[order[a]]
            same = True
            for i in range(a + 1, b):
                if column[order[i]] != low:
                    same = False
                    break
            if same:
                continue
            if is_nominal[f]:
                if n_classes > 0:
                    for k in range(n_classes):
                        score[k] = 1.0 if k == modal else 0.0
                        score[n_classes + k] = total[k]
                n_found = _level_ranks(
                    column,
                    order,
                    a,
                    b,
                    y,
                    classes,
                    n_classes,
                    score,
                    level_sum,
                    level_count,
                    rank,
                    found,
                )
                for i in range(a, b):
                    ranked[order[i]] = rank[column[order[i]]]
                _sorted_by(ranked, order, a, b, n_found, count, out)
                gain, at, behind = _best_cut(
                    out, m, ranked, y, classes, n_classes, total, left, least
                )
            else:
                n_found = 0
                _sorted_by(column, order, a, b, n_codes[f], count, out)
                gain, at, behind = _best_cut(
                    out, m, column, y, classes, n_classes, total, left, least
                )
            if gain > best * (1 + 1e-12) + 1e-12:
                best, best_f, best_at, best_behind, best_n = gain, f, at, behind, n_found
                for i in range(n_found):
                    best_found[i] = found[i]
                    best_rank[found[i]] = rank[found[i]]
        # a cut at random explains spread / m on average, whatever the number of classes
        if best_f < 0 or (best - base) * m < evidence * spread:
            node += 1
            continue
        column = codes[best_f]
        if is_nominal[best_f]:
            words = n_codes[best_f] // 64 + 1
            while n_words + words > len(sets):
                sets = np.concatenate((sets, np.zeros(len(sets), dtype=np.uint64)))
            offset[node] = n_words
            for i in range(best_n):
                level = best_found[i]
                if best_rank[level] <= best_at:
                    sets[n_words + level // 64] |= np.uint64(1) << np.uint64(level % 64)
        place, back = a, b
        for i in range(a, b):
            row = order[i]
            if is_nominal[best_f]:
                goes = best_rank[column[row]] <= best_at
            else:
                goes = column[row] <= best_at
            if goes:
                order[place] = row
                place += 1
            else:
                back -= 1
                out[back - a] = row
        for i in range(place, b):
            order[i] = out[i - a]
        if is_nominal[best_f]:
            if place - a > b - place:  # levels that nobody here has follow the larger branch
                for level in range(n_codes[best_f]):
                    level_count[level] = 0
                for i in range(best_n):
                    level_count[best_found[i]] = 1
                for level in range(n_codes[best_f]):
                    if level_count[level] == 0:
                        sets[n_words + level // 64] |= np.uint64(1) << np.uint64(level % 64)
                    level_count[level] = 0
            n_words += words
        predictor[node] = best_f
        cut[node] = (best_at + best_behind) // 2
        child[node] = n_nodes
        first[n_nodes], last[n_nodes] = a, place
        first[n_nodes + 1], last[n_nodes + 1] = place, b
        depth[n_nodes] = depth[node] + 1
        depth[n_nodes + 1] = depth[node] + 1
        n_nodes += 2
        node += 1
    return (
        predictor[:n_nodes].copy(),
        cut[:n_nodes].copy(),
        child[:n_nodes].copy(),
        first[:n_nodes].copy(),
        last[:n_nodes].copy(),
        offset[:n_nodes].copy(),
        sets[: max(n_words, 1)].copy(),
        order,
    )


@njit(cache=True)
def leaf_of(codes, is_nominal, predictor, cut, child, offset, sets):
    """Return the leaf that each record falls into."""
    n = codes.shape[1]
    leaf = np.zeros(n, dtype=np.int32)
    for i in range(n):
        node = 0
        while predictor[node] >= 0:
            f = predictor[node]
            code = codes[f, i]
            if is_nominal[f]:
                word = sets[offset[node] + code // 64]
                goes = (word >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)
            else:
                goes = code <= cut[node]
            node = child[node] if goes else child[node] + 1
        leaf[i] = node
    return leaf


@njit(cache=True)
def sort_leaves(predictor, first, last, order, y):
    """Return the values of the records leaf by leaf, rising inside each leaf."""
    values = np.empty(len(order))
    for i in range(len(order)):
        values[i] = y[order[i]]
    for node in range(len(predictor)):
        if predictor[node] < 0:
            values[first[node] : last[node]].sort()
    return values


@njit(cache=True)
def _neighbour(values, at, a, b, upwards):
    """Return another value of the leaf, next above or below; if there is none, of the next leaf.

    A bootstrap sample may fill a leaf with copies of one record, whose value must not get out.
    """
    n = len(values)
    for turn in range(2):
        first, last = (a, b) if turn == 0 else (0, n)
        for side in range(2):
            step = 1 if upwards == (side == 0) else -1
            other = at + step
            while first <= other < last:
                if values[other] != values[at]:
                    return values[other]
                other += step
    return values[at]


@njit(cache=True)
def draw_numbers(leaf, first, last, values, shared, low, high, uniform, step, between):
    """Draw a value from each record's leaf, inside its bounds.

    A value that is not `shared` by many moves a random part of the way to a neighbour in its leaf.
    """
    n = len(leaf)
    drawn = np.empty(n)
    for i in range(n):
        a, b = first[leaf[i]], last[leaf[i]]
        if low[i] > -np.inf:
            a = a + np.searchsorted(values[a:b], low[i], side="left")
        if high[i] < np.inf:
            b = a + np.searchsorted(values[a:b], high[i], side="right")
        if b <= a:  # nobody in the leaf is inside the bounds: the nearest one moves to the border
            middle = min(max(a, first[leaf[i]]), last[leaf[i]] - 1)
            drawn[i] = min(max(values[middle], low[i]), high[i])
            continue
        at = a + int(uniform[i] * (b - a))
        value = values[at]
        if between and not shared[at]:
            value += abs(step[i]) * (_neighbour(values, at, a, b, step[i] > 0) - value)
        drawn[i] = min(max(value, low[i]), high[i])
    return drawn

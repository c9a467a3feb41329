# mypy: ignore-errors
"""The best cut of the records of a node by one predictor.

Symbols: arrays hold the records of one node one after another, the first `m` entries of them:
``keys`` codes or ranks, ``y`` numbers, or ``classes`` if ``n_classes > 0``.
"""

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True)
def level_ranks(codes, m, y, classes, n_classes, score, sums, counts, rank, found):
    """Order the levels of a predictor so that the best cut of the order is the best partition.

    For numbers (and two classes) levels are ordered by the mean of the target, which is exact; for
    more classes by the first axis of reciprocal averaging. Returns the number of levels present.
    """
    n_found = 0
    for i in range(m):
        level = codes[i]
        if counts[level] == 0:
            found[n_found] = level
            n_found += 1
        counts[level] += 1
    rounds = 1 if n_classes <= 2 else 3
    for turn in range(rounds):
        for j in range(n_found):
            sums[found[j]] = 0.0
        for i in range(m):
            sums[codes[i]] += y[i] if n_classes == 0 else score[classes[i]]
        for j in range(n_found):
            sums[found[j]] /= counts[found[j]]
        if turn == rounds - 1:
            break
        # the score of a class becomes the mean over its records of their levels' means
        for k in range(n_classes):
            score[k] = 0.0
        for i in range(m):
            score[classes[i]] += sums[codes[i]]
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
def sorted_by(keys, m, n_keys, count, out):
    """Write the places of the records to `out` by rising key; counting, or sorting if few."""
    if m * 4 < n_keys:
        packed = np.empty(m, dtype=np.int64)
        for i in range(m):
            packed[i] = (np.int64(keys[i]) << 32) | i
        packed.sort()
        for i in range(m):
            out[i] = packed[i] & 0xFFFFFFFF
        return
    for j in range(n_keys + 1):
        count[j] = 0
    for i in range(m):
        count[keys[i] + 1] += 1
    for j in range(n_keys):
        count[j + 1] += count[j]
    for i in range(m):
        key = keys[i]
        out[count[key]] = i
        count[key] += 1


@njit(cache=True)
def cut_of_sums(keys, m, n_keys, y, count, sums, least):
    """Return the gain of the best cut of numbers and the keys around it, from sums by key."""
    total = 0.0
    for j in range(n_keys):
        count[j] = 0
        sums[j] = 0.0
    for i in range(m):
        count[keys[i]] += 1
        sums[keys[i]] += y[i]
        total += y[i]
    best, at, behind, before = -1.0, -1, -1, -1
    n_left, left_sum = 0, 0.0
    for j in range(n_keys):
        if count[j] == 0:
            continue
        n_right = m - n_left
        if n_right < least:
            break
        if n_left >= least and before >= 0:
            right_sum = total - left_sum
            gain = left_sum * left_sum / n_left + right_sum * right_sum / n_right
            if gain > best:
                best, at, behind = gain, before, j
        n_left += count[j]
        left_sum += sums[j]
        before = j
    return best, at, behind


@njit(cache=True)
def cut_of_counts(keys, m, n_keys, classes, n_classes, grid, total, left, least):
    """Return the gain of the best cut of classes and the keys around it, from counts by key."""
    for j in range(n_keys * n_classes):
        grid[j] = 0
    for i in range(m):
        grid[keys[i] * n_classes + classes[i]] += 1
    right_square, left_square = 0.0, 0.0
    for k in range(n_classes):
        left[k] = 0
        right_square += float(total[k]) * total[k]
    best, at, behind, before, n_left = -1.0, -1, -1, -1, 0
    for j in range(n_keys):
        here = 0
        for k in range(n_classes):
            here += grid[j * n_classes + k]
        if here == 0:
            continue
        n_right = m - n_left
        if n_right < least:
            break
        if n_left >= least and before >= 0:
            gain = left_square / n_left + right_square / n_right
            if gain > best:
                best, at, behind = gain, before, j
        for k in range(n_classes):
            c = float(grid[j * n_classes + k])
            left_square += c * (2.0 * left[k] + c)
            right_square -= c * (2.0 * (total[k] - left[k]) - c)
            left[k] += grid[j * n_classes + k]
        n_left += here
        before = j
    return best, at, behind


@njit(cache=True)
def best_cut(out, m, keys, y, classes, n_classes, total, left, least):
    """Return the gain of the best cut of sorted records and the keys around it."""
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

# mypy: ignore-errors
"""The best cut of the records of a node by one predictor.

Symbols: ``order`` records, those of a node one after another; ``y`` numbers, or ``classes`` if
``n_classes > 0``; ``keys`` codes or ranks by record.
"""

import numpy as np

from tacit.core.compiled import njit


@njit(cache=True)
def level_ranks(codes, order, start, end, y, classes, n_classes, score, sums, counts, rank, found):
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
def sorted_by(keys, order, start, end, n_keys, count, out):
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
def best_cut(out, m, keys, y, classes, n_classes, total, left, least):
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

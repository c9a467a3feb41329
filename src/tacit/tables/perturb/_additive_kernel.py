# mypy: ignore-errors
"""Local search for whole numbers at the finest cells whose sums come near to given values."""

import numpy as np

from tacit.core.compiled import njit


@njit
def _cost_of(leaf, step, start, cells, deviation, weight, bend):
    """Change of the objective when one leaf changes by `step`."""
    total = 0.0
    for at in range(start[leaf], start[leaf + 1]):
        c = cells[at]
        before, after = deviation[c], deviation[c] + step
        total += weight[c] * (abs(after) - abs(before) + bend * (after * after - before * before))
    return total


@njit
def _apply(leaf, step, start, cells, deviation):
    for at in range(start[leaf], start[leaf + 1]):
        deviation[cells[at]] += step


@njit
def _allowed(value, least, zero, low):
    """Whether a leaf may have this value: zero where it may vanish, or at least `least`."""
    if value == 0:
        return zero
    return value >= least and value >= low


@njit
def _best_step(leaf, counts, least, zero, start, cells, deviation, weight, bend):
    best, gain = 0, -1e-9
    now = counts[leaf]
    if now != 0 and now < least:
        gain = np.inf
    for proposed in (now - 1, now + 1, 0, least, now - 2, now + 2, now - 3, now + 3):
        if proposed < 0 or proposed == now or not _allowed(proposed, least, zero, 0):
            continue
        change = _cost_of(leaf, proposed - now, start, cells, deviation, weight, bend)
        if change < gain:
            best, gain = proposed - now, change
    return best, gain


@njit
def single_sweep(counts, least, zero, order, start, cells, deviation, weight, bend):
    """Set each leaf to its best value in turn; return how many changed."""
    n_changed = 0
    for place in range(order.shape[0]):
        j = order[place]
        step, _ = _best_step(j, counts, least, zero, start, cells, deviation, weight, bend)
        if step != 0:
            _apply(j, step, start, cells, deviation)
            counts[j] += step
            n_changed += 1
    return n_changed


@njit
def pair_sweep(
    counts, least, zero, order, start, cells, deviation, weight, bend, first, members, most, shift
):
    """Change two leaves of a common sum at once where no single change helps.

    ``members[first[c] : first[c + 1]]`` are the leaves of cell c; at most `most` of each sum are
    tried, beginning at a place that moves with `shift`.
    """
    n_changed = 0
    for place in range(order.shape[0]):
        j = order[place]
        now = counts[j]
        best_gain, best_step, best_k, best_other = -1e-9, 0, -1, 0
        for proposed in (now - 1, now + 1, 0, least, now - 3, now + 3):
            if proposed < 0 or proposed == now or not _allowed(proposed, least, zero, 0):
                continue
            step = proposed - now
            own = _cost_of(j, step, start, cells, deviation, weight, bend)
            _apply(j, step, start, cells, deviation)
            if own < best_gain:
                best_gain, best_step, best_k = own, step, -1
            for at in range(start[j], start[j + 1]):
                c = cells[at]
                size = first[c + 1] - first[c]
                if size < 2 or size > 50 * most:
                    continue
                tried = min(size, most)
                begin = (j * 7919 + shift * 104729) % size if size > most else 0
                for m in range(tried):
                    k = members[first[c] + (begin + m) % size]
                    if k == j:
                        continue
                    other, gain = _best_step(
                        k, counts, least, zero, start, cells, deviation, weight, bend
                    )
                    if other != 0 and own + gain < best_gain:
                        best_gain, best_step, best_k, best_other = own + gain, step, k, other
            _apply(j, -step, start, cells, deviation)
        if best_step != 0:
            _apply(j, best_step, start, cells, deviation)
            counts[j] += best_step
            n_changed += 1
            if best_k >= 0:
                _apply(best_k, best_other, start, cells, deviation)
                counts[best_k] += best_other
    return n_changed

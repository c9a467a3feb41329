"""Blocks of neighbouring points: halves of halves along the direction of widest spread."""

from __future__ import annotations

import numpy as np


def split_into_blocks(
    points: np.ndarray, largest: int, rng: np.random.Generator | None = None
) -> list[np.ndarray]:
    """Cut points into blocks of at most `largest` neighbours, each of at least half of that.

    Parameters
    ----------
    points
        Points by coordinates.
    largest
        Largest number of points in a block.
    rng
        Turn the axes and shift the cuts at random first, so that another call gives other borders.
    """
    turned = points if rng is None else points @ _random_rotation(points.shape[1], rng)
    waiting, blocks = [np.arange(len(points))], []
    while waiting:
        part = waiting.pop()
        if len(part) <= largest:
            blocks.append(part)
            continue
        values = turned[part]
        axis = int(np.argmax(values.var(axis=0)))
        share = 0.5 if rng is None else rng.uniform(0.4, 0.6)
        cut = int(len(part) * share)
        order = np.argpartition(values[:, axis], cut)
        waiting += [part[order[cut:]], part[order[:cut]]]
    return blocks


def _random_rotation(n_dimensions: int, rng: np.random.Generator) -> np.ndarray:
    rotation, upper = np.linalg.qr(rng.standard_normal((n_dimensions, n_dimensions)))
    return np.asarray(rotation * np.sign(np.diag(upper)))

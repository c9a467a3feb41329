"""Randomness: one seed per release, one independent child per step."""

from __future__ import annotations

import secrets

import numpy as np


def fresh_seed() -> int:
    """Return 128 bits from the operating system, for a release whose seed nobody chose."""
    return secrets.randbits(128)


def step_generator(seed: int, step: int, copy: int = 0) -> np.random.Generator:
    """Return the generator of one step of a plan, in one of the data sets of a release.

    Each step owns a child of one `SeedSequence`, so that it draws the same numbers whatever the
    other steps draw.

    Examples
    --------
    >>> a, b = step_generator(7, 0), step_generator(7, 0)
    >>> bool(a.random() == b.random())
    True
    """
    place = (step, copy) if copy else (step,)
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=place))

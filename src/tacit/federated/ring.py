"""Secure summation around a ring, as Karr and Sanil tell it, and how two neighbours break it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import ParameterError
from tacit.federated.fixed_point import FixedPoint


@dataclass(frozen=True)
class RingSum:
    """A sum made by passing a running total around, and what each agency saw."""

    total: np.ndarray
    """The sum, which agency 1 shares with everybody."""
    seen: tuple[np.ndarray, ...]
    """For each agency the message it received, as ring elements; the first sees the last."""
    sent: tuple[np.ndarray, ...]
    """For each agency the message it sent."""
    encoding: FixedPoint


def ring_sum(values: Sequence[Any], *, encoding: FixedPoint | None = None) -> RingSum:
    r"""Add the values of K > 2 agencies by KS's protocol, for teaching: it has no collusion.

    Parameters
    ----------
    values
        The array of each agency, all of one shape, in the order of the ring.
    encoding
        How numbers are held.

    Notes
    -----
    Agency 1 draws R and sends :math:`R + v_1`; each agency adds its value and passes the total on;
    agency 1 subtracts R from what comes back [karr2004]_. R is uniform over the ring of integers,
    so that each message alone is uniform. Agencies j - 1 and j + 1 together see the total before
    and after agency j, and so its value: see `neighbours_learn`. One lost agency stops the sum.
    Use `secure_sum` instead.

    Examples
    --------
    >>> done = ring_sum([3.0, 5.0, 9.0])
    >>> done.total
    array([17.])
    >>> neighbours_learn(done, 1)
    array([5.])
    """
    encoding = encoding or FixedPoint()
    arrays = [np.asarray(value, dtype=np.float64) for value in values]
    if len(arrays) < 3 or len({a.shape for a in arrays}) != 1:
        raise ParameterError(
            "a ring needs more than two agencies with arrays of one shape",
            got=f"{len(arrays)} of shapes {sorted({a.shape for a in arrays})}",
        )
    added = [encoding.encode(a, len(arrays)) for a in arrays]
    r = np.frombuffer(secrets.token_bytes(added[0].nbytes), dtype="<u8").reshape(added[0].shape)
    sent, running = [], r
    for own in added:
        running = encoding.add(running, own)
        sent.append(running)
    total = encoding.decode(encoding.subtract(running, r))
    seen = (sent[-1], *sent[:-1])
    return RingSum(total.reshape(arrays[0].shape or (1,)), seen, tuple(sent), encoding)


def neighbours_learn(done: RingSum, agency: int) -> np.ndarray:
    """Return the value of an agency, as its two neighbours work it out together (attack F1).

    The one before knows what it sent, the one after what it received; for the first agency, which
    alone knows R, this does not work.
    """
    if not 1 <= agency < len(done.seen):
        raise ParameterError("the neighbours of the first agency lack R", got=agency)
    after = done.sent[agency]
    return done.encoding.decode(done.encoding.subtract(after, done.seen[agency]))

"""Drop-q: a few records are left out, always the same ones."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Drop, Guard, Memory, Stage
from tacit.tables.perturb.record_keys import MODULUS


class DropQ(Guard, key="drop-q", title="Drop q records at random", cites=("lucero2011",)):
    r"""Leave out q records of the universe, q from 2 to k; the same units, the same records.

    Which and how many depends on a secret and on the units of the universe alone, so that asking
    again gains nothing. With a block variable q is drawn for every block the universe touches:
    padding a small region with a large one then no longer moves the drops away from it. Missing
    values of the block are a block. Weights play no part.

    A unit may be a household.

    Notes
    -----
    Section 3.1.5 of [lucero2011]_. The records with the smallest :math:`(a r_1 + b) \bmod p` of
    their first key go, with a, b and q from the fingerprint of the set. By itself it does not stop
    padding, nor averaging over variants of the universe (`tacit.query.likely_cells`); it costs q
    records of every answer.

    Examples
    --------
    >>> DropQ(k=7).describe()
    'Drop q records at random: k = 7'
    """

    stage: ClassVar[Stage] = "data"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "the published difference of two tables"
    misses: ClassVar[str] = "padding (T5) unless per block, re-seeding (T6)"
    costs: ClassVar[str] = "two to k records are left out; one more pass over the data"
    k: Annotated[int, Ge(2), Le(1000)] = 5
    """Largest number of records left out."""
    block: str | None = None
    """Variable for each of whose categories q is drawn apart."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with the numbers that pick the records."""
        keys = self._keys(context)
        first = context.sticky.numbers("drop", keys)
        again = context.sticky.numbers("drop count", keys)
        q = 2 + again[:, 0] * (self.k - 1) // MODULUS
        a = 1 + first[:, 0] % (MODULUS - 1)
        numbers = zip(q.tolist(), a.tolist(), first[:, 1].tolist(), strict=True)
        drop = Drop(tuple(numbers), self.block)
        note = "A few records were left out at random, always the same for the same units."
        return context.amended(note, drop=drop)

    def _keys(self, context: Context) -> np.ndarray:
        """Return the fingerprint of the set, or of its part in each block."""
        if self.block is None:
            return context.selection.key_pair
        cube, inside = context.state.cube, context.selection.atoms
        n_blocks = len(context.schema.variable(self.block).labels)
        at = cube.codes[inside, cube.place[self.block]]
        keys = np.zeros((n_blocks, 2), dtype=np.int64)
        np.add.at(keys, at, cube.keys[inside])
        return np.asarray(keys % MODULUS)

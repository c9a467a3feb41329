"""Data swapping between pairs of records."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from annotated_types import Gt, Le
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.mask._edit_rules import swapped_within_rules


class DataSwap(
    Mask,
    key="data-swap",
    title="Data swapping between pairs of records",
    cites=("dalenius1982", "karr2004"),
    example={"columns": ["education", "marital"], "rate": 0.1},
):
    """Exchange the values of some variables between random pairs of records.

    The distribution of the swapped variables together, and that of all others together, are kept
    exactly, and so are the joint distributions with the variables that are forced equal. When not
    to use it: at a high rate where relations between swapped and other variables matter.

    Missing values: swapped like any other value. Weights: not used; weights stay with their
    records. Households: not considered; use targeted record swapping to move households.

    Notes
    -----
    A share of the records (the rate) is drawn and paired, and each pair exchanges its values of the
    swap attributes [dalenius1982]_. Constraints on the unswapped attributes [karr2004]_: `equal`
    keeps swaps inside their categories, say a region; `different` asks that partners differ in each
    of them. A pair must also differ in at least one swap attribute, else nothing would change.
    Where constraints leave too few partners, fewer records are swapped.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> method = mask.DataSwap(columns=["education"], rate=0.2, equal=["sex"])
    >>> frame = tacit.Plan([method]).apply(data, seed=1).frame
    >>> frame.group_by("sex", "education").len().sort("sex", "education").equals(
    ...     data.frame.group_by("sex", "education").len().sort("sex", "education")
    ... )
    True
    """

    columns: Columns
    """Variables whose values are exchanged, together."""
    rate: Annotated[float, Gt(0), Le(1), Try(0.01, 0.02, 0.05, 0.1)] = 0.05
    """Share of the records that are swapped."""
    equal: Columns | None = None
    """Variables on which partners must agree."""
    different: Columns | None = None
    """Variables on which partners must differ, each of them."""
    keep_rules: bool = True
    """Take back exchanges after which a record would break an edit rule of the schema."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in ("equal", "different"):
            both = set(self.columns) & set(getattr(self, name) or ())
            if both:
                raise ValueError(f"should not have swapped columns in {name!r}: {min(both)}")
        return self

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with values exchanged."""
        data.schema.require([*self.columns, *(self.equal or ()), *(self.different or ())])
        if data.n_records < 2:
            raise DataError("swapping needs at least two records", got=f"{data.n_records}")
        swapped = group_ids(encode(data, self.columns))[0]
        must_differ = encode(data, self.different or ())
        block = group_ids(encode(data, self.equal or ()))[0]
        n_wanted = 2 * round(self.rate * data.n_records / 2)
        pairs = paired(block, swapped, must_differ, n_wanted, rng)
        source = np.arange(data.n_records)
        source[pairs[:, 0]], source[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
        if self.keep_rules:
            source = swapped_within_rules(data, self.columns, source)
        table = data.local
        return data.with_local(
            table.with_columns(table[name][source].alias(name) for name in self.columns)
        )


def paired(
    block: np.ndarray,
    swapped: np.ndarray,
    must_differ: np.ndarray,
    n_wanted: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Pair records of the same block that differ where they must, up to `n_wanted` records.

    Records are put in random order within blocks; neighbours that may be paired are. What is left
    is put in order anew, a few times over.
    """
    free = np.ones(len(block), dtype=bool)
    found: list[np.ndarray] = []
    n_found = 0
    for _ in range(8):
        left = np.flatnonzero(free)
        order = left[np.lexsort((rng.random(len(left)), block[left]))]
        first, second = order[:-1], order[1:]
        fits = (block[first] == block[second]) & (swapped[first] != swapped[second])
        fits &= (must_differ[first] != must_differ[second]).all(axis=1)
        chosen = _apart(fits)
        pairs = np.column_stack([first[chosen], second[chosen]])
        pairs = rng.permutation(pairs)[: (n_wanted - n_found) // 2]
        found.append(pairs)
        free[pairs.ravel()] = False
        n_found += pairs.size
        if n_found >= n_wanted or not len(pairs):
            break
    return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


def _apart(fits: np.ndarray) -> np.ndarray:
    """Choose fitting neighbours so that no record is in two pairs: every other one of each run."""
    position = np.arange(len(fits))
    breaks = np.where(fits, -1, position)
    since = position - np.maximum.accumulate(breaks) if len(fits) else position
    return np.flatnonzero(fits & (since % 2 == 1))

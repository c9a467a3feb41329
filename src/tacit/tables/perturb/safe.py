"""SAFE: microdata whose every table is free of ones and twos."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ProtectionError
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try

_MOST_CELLS = 50_000_000
"""Combinations times controlled tables that are held in memory."""


class Safe(
    Mask,
    key="safe",
    title="SAFE: no table has a count of 1 or 2",
    cites=("giessing2011", "hohne2003"),
    example={"columns": ["sex", "education", "marital"]},
):
    r"""Change how often combinations occur until every count is zero or at least three.

    Whatever table is made from the released records, no cell of it holds one or two. The
    *controlled* tables, all those of up to `controlled` variables, deviate as little as the search
    can manage; other tables may deviate more, and `tables.control_report` says by how much. Only
    the variables named are released. When not to use it: for files with more than a few dozen
    categories in every variable, where hardly any combination occurs three times; recode first.
    Of a block of 48 people, most of them alone in their combination, four records in ten stay as
    they are where guessing has two: treat small areas together with others.

    Missing values: a category of their own. Weights: counts are of records; a weight is not
    released. Households: not considered, and not released.

    Notes
    -----
    Let :math:`y_j` count the records of combination :math:`j` and :math:`a = Ay` be the controlled
    cells. SAFE seeks :math:`y` in :math:`\{0, 3, 4, \dots\}` that minimises
    :math:`\max_i |(Ay)_i - a_i|`, model (1) of [giessing2011]_, by a heuristic in two phases: first
    every 1 and 2 is removed where it hurts least, model (2), then the bound on the deviations is
    lowered while changes of one or two combinations still meet it, model (3). Records of a
    combination that gains are copies of those it has; those of one that loses are drawn by lot.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tables
    >>> data = tacit.datasets.census(500)
    >>> plan = tacit.Plan([tables.Safe(columns=["sex", "education", "marital"])])
    >>> frame = plan.apply(data, seed=1).frame
    >>> int(frame.group_by("sex", "education", "marital").len()["len"].min())
    3
    """

    columns: Columns
    """Categorical variables; only these are released."""
    controlled: Annotated[int, Ge(1), Le(6), Try(1, 2, 3)] = 3
    """Tables of up to this many variables are kept as near to the original as possible."""
    target: Annotated[int, Ge(1)] = 3
    """Largest deviation of a controlled cell at which the search may stop."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return records whose tables hold no 1 or 2."""
        from tacit.tables.perturb._safe_search import Elementary, up_to, without_small

        data.schema.require(self.columns)
        if data.n_records < 3:
            raise ProtectionError(
                "fewer than three records cannot be released by SAFE", got=data.n_records
            )
        codes = encode(data, list(self.columns)) + 1
        cell, n_cells = group_ids(codes)
        tables = up_to(len(self.columns), min(self.controlled, len(self.columns)))
        if n_cells * len(tables) > _MOST_CELLS:
            raise DataError(
                "there are too many combinations for these controlled tables",
                got=f"{n_cells:,} combinations, {len(tables)} tables",
                do="recode variables, or control tables of fewer variables",
            )
        counts = np.bincount(cell, minlength=n_cells)
        first = np.empty(n_cells, dtype=np.int64)
        first[cell[::-1]] = np.arange(len(cell))[::-1]
        table = Elementary.of(codes[first], counts, tables)
        new, _ = without_small(table, rng, self.target)
        others = [name for name in data.columns if name not in self.columns]
        kept = data.in_memory().take(_records(cell, counts, new, rng))
        return kept.drop(others) if others else kept


def _records(
    cell: np.ndarray, counts: np.ndarray, new: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return positions of records so that each combination occurs as often as it should."""
    order = rng.permutation(len(cell))
    order = order[np.argsort(cell[order], kind="stable")]
    start = np.cumsum(counts) - counts
    place = np.arange(int(new.sum())) - np.repeat(np.cumsum(new) - new, new)
    # A combination that gains goes through its own records again from the first.
    source = np.repeat(start, new) + place % np.repeat(counts, new)
    return np.sort(order[source])

"""Reconstruction of microdata from published margins by integer programming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import count_tables
from tacit.attack.target import TableTarget
from tacit.core.errors import DataError

if TYPE_CHECKING:
    from tacit.tables import Dimension, ProtectedTable

_DRAWS = 200
"""Draws over which the success of guessing is averaged."""


class MarginReconstruction(
    Attack,
    key="table-reconstruction",
    title="Reconstruction of records from margins",
    cites=("garfinkel2019", "dinur2003"),
):
    r"""Find records that give all published counts, and compare them with the true ones.

    Missing values: a suppressed count is no condition. Weights: tables of unweighted counts only.
    Households: not considered.

    Notes
    -----
    Every combination :math:`c` of the categories of all tables has an unknown number of people
    :math:`x_c \in \{0, 1, \dots\}`; each published count is a sum of them. The integer programme

    .. math:: \min \sum_t |s_t| \quad\text{subject to}\quad \sum_{c \in t} x_c + s_t = y_t

    finds records that fit all of them at once, or as well as possible where counts were changed
    [garfinkel2019]_. A person is reconstructed if a record with all categories is among those
    found, each record being used once; people whose category no table has are missed. Guessing
    draws as many records from the published one-way counts alone, as if the variables were
    independent; its success is averaged over 200 draws.

    From exact margins of three of four variables a block of 48 people is rebuilt whole. From those
    of cell keys or of SAFE, at their defaults, four or five records in ten are right and nobody
    can tell which, where guessing has two in ten: noise of mean 0 that publishes no 1 or 2 shows
    every third person who is alone in a cell as 3 or more, and an empty cell as empty.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from itertools import combinations
    >>> from tacit import attack, tables
    >>> frame = pl.DataFrame({"sex": list("fmfmfm"), "age": list("112233"), "ill": list("ynnnyn")})
    >>> made = [tacit.tabulate(frame, pair) for pair in combinations(frame.columns, 2)]
    >>> bare = [tables.ProtectedTable(t, t.sensitive(), t.value) for t in made]
    >>> target = attack.TableTarget(tuple(bare), tacit.Microdata.of(frame))
    >>> attack.MarginReconstruction().run(target).success.value
    1.0
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = (
        "Publish fewer margins of small areas, or suppress small counts and zeros alike "
        "(tables.ZeroUnsafe). Cell keys and SAFE halve what is rebuilt: more than guessing."
    )

    most: Annotated[int, Ge(1)] = 20_000
    """Combinations beyond which the programme is not tried."""
    seconds: Annotated[float, Gt(0)] = 30.0
    """Time for the programme; the best records so far are taken then."""

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that there is nothing to reconstruct, or too much."""
        tables = count_tables(target)
        if target.data is None:
            return "reconstructed records cannot be checked without the data"
        if len(tables) < 2:
            return "there are no two tables of counts"
        dimensions = _dimensions(tables)
        missing = set(dimensions) - set(target.data.columns)
        if missing:
            return f"the data have no column {min(missing)!r}"
        n = int(np.prod([float(len(d.leaves)) for d in dimensions.values()]))
        return None if n <= self.most else f"{n:,} combinations are too many"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Solve for the records and count those that are right."""
        tables = count_tables(target)
        dimensions = _dimensions(tables)
        truth = _true_counts(target.data, dimensions)
        matrix, published = _conditions(tables, dimensions)
        found, slack = _solved(matrix, published, self.seconds)
        right = np.minimum(found, truth)
        chance = _by_chance(tables, dimensions, truth, knowledge.rng)
        people = target.data.n_records if target.data is not None else 0
        return Outcome(
            hits=_each(right / np.maximum(truth, 1), truth, people),
            guesses=_each(chance, truth, people), unit="person",
            question=f"Rebuild the records of everybody from {len(tables)} tables",
            worst=f"{int(right.sum()):,} of {people:,} records rebuilt with all of "
            f"{', '.join(dimensions)}",
            details={"combinations": len(truth), "counts": len(published), "misfit": slack},
        )  # fmt: skip


def _each(chance: np.ndarray, truth: np.ndarray, people: int) -> np.ndarray:
    """Return the chance of each person; nobody is found whose category no table has."""
    inside = np.repeat(chance, truth.astype(np.int64))
    return np.concatenate([inside, np.zeros(people - len(inside))])


def _dimensions(tables: list[ProtectedTable]) -> dict[str, Dimension]:
    return {d.name: d for table in tables for d in table.original.dimensions}


def _true_counts(data: Any, dimensions: dict[str, Dimension]) -> np.ndarray:
    """Count the people in every combination of leaves, in the order of the last fastest."""
    import polars as pl

    shape = [len(d.leaves) for d in dimensions.values()]
    places = []
    for name, dimension in dimensions.items():
        at = {leaf: k for k, leaf in enumerate(dimension.leaves)}
        column = data.local[name].cast(pl.String)
        places.append(np.array([at.get(v, -1) for v in column.to_list()]))
    known = np.all([p >= 0 for p in places], axis=0)
    flat = np.ravel_multi_index([p[known] for p in places], shape)
    return np.bincount(flat, minlength=int(np.prod(shape)))


def _conditions(tables: list[ProtectedTable], dimensions: dict[str, Dimension]) -> tuple[Any, Any]:
    """Return which combinations each published count is the sum of, and the counts."""
    from scipy.sparse import csr_array, vstack

    shape = [len(d.leaves) for d in dimensions.values()]
    leaf = dict(zip(dimensions, np.indices(shape).reshape(len(shape), -1), strict=True))
    rows, values = [], []
    for table in tables:
        inside = np.ones((table.original.n_cells, int(np.prod(shape))), dtype=bool)
        for place, dimension in enumerate(table.original.dimensions):
            held = dimension.contains.toarray() > 0
            inside &= held[table.original.codes[:, place]][:, leaf[dimension.name]]
        seen = ~table.suppressed
        rows.append(csr_array(inside[seen].astype(float)))
        values.append(table.published[seen])
    return vstack(rows, format="csc"), np.concatenate(values)


def _solved(matrix: Any, published: np.ndarray, seconds: float) -> tuple[np.ndarray, float]:
    """Return the numbers of people that fit best, and by how much they miss."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import eye_array, hstack

    n_rows, n = matrix.shape
    both = hstack([matrix, eye_array(n_rows), -eye_array(n_rows)], format="csc")
    cost = np.concatenate([np.zeros(n), np.ones(2 * n_rows)])
    whole = np.concatenate([np.ones(n), np.zeros(2 * n_rows)])
    done = milp(
        cost,
        constraints=LinearConstraint(both, published, published),
        integrality=whole,
        bounds=Bounds(0, np.inf),
        options={"time_limit": seconds},
    )
    if done.x is None:
        raise DataError("table-reconstruction: no records were found in the time given")
    return np.round(done.x[:n]), float(done.fun)


def _by_chance(
    tables: list[ProtectedTable],
    dimensions: dict[str, Dimension],
    truth: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the chance to be among records drawn from the one-way counts, by combination."""
    shares = np.ones(1)
    for name, dimension in dimensions.items():
        table = next(t for t in tables if name in [d.name for d in t.original.dimensions])
        place = [d.name for d in table.original.dimensions].index(name)
        counts = _one_way(table, place, dimension)
        shares = np.outer(shares, counts / max(counts.sum(), 1.0)).ravel()
    drawn = rng.multinomial(int(truth.sum()), shares / shares.sum(), size=_DRAWS)
    return np.asarray(np.minimum(drawn, truth).mean(axis=0) / np.maximum(truth, 1))


def _one_way(table: ProtectedTable, place: int, dimension: Dimension) -> np.ndarray:
    """Return the published counts of one variable alone; where hidden, a mean share."""
    codes = table.original.codes
    margin = (np.delete(codes, place, axis=1) == 0).all(axis=1)
    counts = np.ones(len(dimension.leaves))
    for k, leaf in enumerate(dimension.leaves):
        cell = np.flatnonzero(margin & (codes[:, place] == dimension.index[leaf]))
        if len(cell) and np.isfinite(table.published[cell[0]]):
            counts[k] = max(table.published[cell[0]], 0.0)
    return counts

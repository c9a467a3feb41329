"""Synthetic records from counts that were measured with differential privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Gt
from pydantic import model_validator

from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.families import Mask
from tacit.core.knowledge import Knowledge
from tacit.core.value import Value
from tacit.mask.restore_rules import restored
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.edits import Edits
from tacit.mask.synthesis.originals import without_originals
from tacit.mask.synthesis.private_tree import (
    Ledger,
    PrivateTree,
    check_forest,
    chosen_tree,
    measured_pairs,
    measured_singles,
)
from tacit.mask.synthesis.rules import Combination, Scalar

_MOST_CELLS = 1_000_000


class NoisySingle(Value):
    """A column: its possible values, which are public, and noisy counts of them."""

    column: str
    """Name of the column."""
    levels: tuple[Scalar, ...]
    """Values that the column can have."""
    counts: tuple[int, ...]
    """Noisy counts of the values, and at the end of all that is missing or no such value."""


class NoisyPair(Value):
    """Noisy counts of two columns together."""

    columns: tuple[str, str]
    """Names of the columns."""
    counts: tuple[tuple[int, ...], ...]
    """Noisy counts, a row for each value of the first column."""


class DpMargins(
    Mask,
    key="dp-margins",
    title="Synthetic data (differentially private)",
    cites=("mckenna2021", "dwork2006", "chow1968"),
    example={
        "epsilon": 1.0,
        "singles": [
            {"column": "marital", "levels": ["married", "never married"], "counts": [88, 61, 3]},
            {"column": "sex", "levels": ["female", "male"], "counts": [79, 70, -1]},
        ],
        "pairs": [
            {"columns": ["marital", "sex"], "counts": [[45, 41, 0], [32, 28, 2], [0, -1, 1]]}
        ],
    },
):
    r"""Draw categorical records from noisy counts, with a proof of privacy.

    The only synthetic data here whose safety is proved and not measured. First measure, once:
    ``DpMargins.measured(data, levels=..., epsilon=1)`` counts the columns and some pairs of them
    with noise made by OpenDP. The method so made holds noisy counts only; as a step of a plan it
    reads column names and types from the data and no value, so that any number of data sets, sizes
    and repetitions costs nothing more. To measure again costs epsilon again. When not to use it:
    where relations of three variables matter, or with few records for many categories.

    Missing values: are a category, as are values that were not declared. Weights, households:
    refused when measuring, as one person then changes more than one count by one.

    Notes
    -----
    Files that differ by one record, there or not there, give any noisy counts with probabilities
    that differ at most by the factor :math:`e^{\varepsilon}` [dwork2006]_. A third of
    :math:`\varepsilon` is for counts of single columns, a third to choose pairs, a third to count
    these; if you name the pairs, half and half. Noise is discrete Laplace. Pairs form a tree
    [chow1968]_, chosen one by one by how far they are from independent, as MST does [mckenna2021]_.
    Counts are made to agree and records drawn along the tree.

    The noise comes from the operating system and not from the seed of the plan: who knew the seed
    could take the noise off. Intervals must allow for the noise, which no combining rule does.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(300).drop(["household", "weight"])
    >>> levels = {"sex": ["female", "male"], "employed": [True, False]}
    >>> method = mask.DpMargins.measured(data, levels=levels, epsilon=2.0)  # doctest: +SKIP
    >>> method = mask.DpMargins(**mask.DpMargins.example)
    >>> tacit.Plan([method]).apply(data, seed=1).frame.columns
    ['sex', 'marital']
    """

    calls_for: ClassVar[tuple[str, ...]] = ("matching-people", "replicated-uniques")

    epsilon: Annotated[float, Gt(0)]
    """Privacy loss that was stated when the counts were measured."""
    singles: tuple[NoisySingle, ...]
    """Columns and their noisy counts."""
    pairs: tuple[NoisyPair, ...] = ()
    """Noisy counts of pairs of columns."""
    m: Annotated[int, Ge(1)] = 1
    """Number of data sets in the release; more cost no privacy."""
    size: Annotated[int, Ge(1)] | None = None
    """Records to draw; by default as many as the noisy counts say."""
    impossible: tuple[Combination, ...] = ()
    """Combinations that cannot be, known without looking at the data; such records are drawn
    again: ``{"sex": "male", "pregnant": True}``."""

    @classmethod
    def measured(
        cls,
        data: Any,
        *,
        levels: Mapping[str, Sequence[Scalar]],
        epsilon: float,
        pairs: Sequence[tuple[str, str]] | None = None,
        m: int = 1,
        size: int | None = None,
    ) -> Self:
        """Count columns and pairs of them with noise; this is what costs epsilon.

        Parameters
        ----------
        data
            One record for each person.
        levels
            The values that each column can have, known without looking at the data.
        epsilon
            Privacy loss of all counts together.
        pairs
            Pairs to count, without circles; by default a tree is chosen, at a third of epsilon.
        m, size
            Data sets and records to draw later.
        """
        if not np.isfinite(epsilon) or epsilon <= 0:
            raise ParameterError("epsilon must be a number above zero", got=repr(epsilon))
        names = list(levels)
        codes, shape = _coded(Microdata.of(data), levels)
        wanted = None if pairs is None else [_places(names, p) for p in pairs]
        singles, tree, tables = _measured(codes, shape, wanted, Ledger(float(epsilon)))
        return cls(
            epsilon=epsilon,
            singles=[
                {"column": c, "levels": tuple(levels[c]), "counts": tuple(s.tolist())}
                for c, s in zip(names, singles, strict=True)
            ],
            pairs=[
                {"columns": (names[i], names[j]), "counts": t.tolist()}
                for (i, j), t in zip(tree, tables, strict=True)
            ],
            m=m,
            size=size,
        )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        length = {s.column: len(s.counts) for s in self.singles}
        if not length or len(length) < len(self.singles):
            raise ParameterError("noisy counts need one or more columns, each once")
        if any(len(s.levels) + 1 != len(s.counts) or not s.levels for s in self.singles):
            raise ParameterError("a column needs a count for each value and one for the rest")
        for pair in self.pairs:
            _places(list(length), pair.columns)
            shape = {len(row) for row in pair.counts}
            if len(pair.counts) != length[pair.columns[0]] or shape != {length[pair.columns[1]]}:
                raise ParameterError(f"the counts of {' and '.join(pair.columns)} do not fit")
        check_forest([_places(list(length), p.columns) for p in self.pairs], len(length))
        return self

    @property
    def n_data_sets(self) -> int:
        """Number of data sets in the release."""
        return self.m

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return records drawn from the noisy counts; no value of the data is read."""
        import polars as pl

        names = [s.column for s in self.singles]
        data.schema.require(names)
        types = data.local.schema
        kept = data.drop([c for c in data.columns if c not in names])
        tree = self.tree()
        edits = self._edits(types)

        def draw(n: int) -> tuple[Any, np.ndarray]:
            codes = tree.draw(n, rng)
            series = [_decoded(s, codes[:, j], types[s.column]) for j, s in enumerate(self.singles)]
            table = pl.DataFrame(series).select(kept.columns)
            table = table.with_columns(pl.lit(-1, dtype=pl.Int64).alias(ROW))
            return restored(kept._holding(table, kept.schema)).data.local, np.arange(n)

        size = self.size or max(round(tree.n), 1)
        table, _ = without_originals(draw, size, None, edits.impossible_rows)
        return replace(kept._holding(table, kept.schema), knowledge=Knowledge())

    def _edits(self, types: Mapping[str, Any]) -> Edits:
        """Code the impossible combinations by the declared values; no data are read."""
        none = np.empty(0, dtype=np.int64)
        levels = {s.column: _typed(s.column, s.levels, types[s.column]) for s in self.singles}
        columns = {c: Column(c, none, len(known), False, known) for c, known in levels.items()}
        return Edits(columns, impossible=self.impossible)

    def tree(self) -> PrivateTree:
        """Return the distribution that the noisy counts give."""
        names = [s.column for s in self.singles]
        return PrivateTree.of(
            [np.array(s.counts, dtype=np.int64) for s in self.singles],
            [_places(names, p.columns) for p in self.pairs],
            [np.array(p.counts, dtype=np.int64) for p in self.pairs],
        )

    def describe(self) -> str:
        """Say in plain words what was drawn and what it cost."""
        return f"{self.title}: epsilon {self.epsilon:g}, {len(self.pairs)} pairs of columns"

    def public_note(self) -> str:
        """Say that no record belongs to anybody."""
        return "All records are synthetic: drawn from counts with differentially private noise"


def _measured(
    codes: np.ndarray, shape: list[int], wanted: list[tuple[int, int]] | None, ledger: Ledger
) -> tuple[list[np.ndarray], list[tuple[int, int]], list[np.ndarray]]:
    """Spend epsilon on single columns, on the choice of pairs, and on pairs."""
    whole = ledger.epsilon
    if len(shape) == 1 or wanted == []:
        return measured_singles(codes, shape, ledger, whole), [], []
    if wanted is not None:
        check_forest(wanted, len(shape))
        singles = measured_singles(codes, shape, ledger, whole / 2)
        return singles, wanted, measured_pairs(codes, shape, wanted, ledger, whole / 2)
    singles = measured_singles(codes, shape, ledger, whole / 3)
    tree = chosen_tree(codes, singles, ledger, whole / 3)
    return singles, tree, measured_pairs(codes, shape, tree, ledger, whole / 3)


def _places(names: Sequence[str], pair: Sequence[str]) -> tuple[int, int]:
    unknown = [c for c in pair if c not in names]
    if unknown or len(set(pair)) != 2:
        raise ParameterError("a pair is two of the columns", got=" and ".join(map(str, pair)))
    return names.index(pair[0]), names.index(pair[1])


def _coded(data: Microdata, levels: Mapping[str, Sequence[Scalar]]) -> tuple[np.ndarray, list[int]]:
    """Code values by their declared place; the last code is for all others."""
    schema = data.schema
    schema.require(levels)
    if not levels:
        raise ParameterError("there is no column to count", do="declare levels")
    if schema.weight is not None or schema.household is not None:
        raise DataError(
            "privacy is proved for files with one unweighted record for each person",
            got="a weight" if schema.household is None else "households",
            do="drop the column if each person has one record, else do not use this method",
        )
    shape = [len(values) + 1 for values in levels.values()]
    largest = sorted(shape)[-2:]
    if np.prod(largest) > _MOST_CELLS:
        raise DataError("a pair of columns has too many cells", got=f"{np.prod(largest):,}")
    codes = [_placed(data.local[c], c, values) for c, values in levels.items()]
    return np.column_stack(codes), shape


def _placed(series: Any, name: str, values: Sequence[Scalar]) -> np.ndarray:
    """Return the place of each value among those declared, else their number."""
    if not values or len(set(values)) < len(values):
        raise ParameterError(f"the values of {name!r} must be given, each once")
    declared = _typed(name, values, series.dtype)
    old = declared.cast(declared.dtype).to_list()
    places = series.replace_strict(old, list(range(len(old))), default=len(old))
    return np.asarray(places.fill_null(len(old)).to_numpy(), dtype=np.int64)


def _typed(name: str, values: Sequence[Scalar], dtype: Any) -> Any:
    """Return declared values in the type of the column."""
    import polars as pl

    try:
        return pl.Series(name, list(values)).cast(dtype)
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise DataError(
            f"the values declared for {name!r} are not of the type of the column", got=str(dtype)
        ) from error


def _decoded(single: NoisySingle, codes: np.ndarray, dtype: Any) -> Any:
    import polars as pl

    index = pl.Series(codes)
    declared = _typed(single.column, single.levels, dtype)
    return declared.gather(index.set(index == len(declared), None)).alias(single.column)

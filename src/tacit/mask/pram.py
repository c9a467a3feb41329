"""Post-randomisation (PRAM)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Le
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.core.schema import Kind
from tacit.mask._strata import split_by, strata_of
from tacit.mask._transitions import (
    checked_matrix,
    corrected_counts,
    invariant_matrix,
    random_matrix,
    transitions,
)

__all__ = ["Transition", "corrected_counts", "transition_matrices"]

_MOST_CATEGORIES = 2000
_SEPARATOR = " | "


class Pram(
    Mask,
    key="pram",
    title="Post-randomisation (PRAM)",
    cites=("gouweleeuw1998", "kooiman1997"),
    example={"columns": ["marital", "occupation"], "stay": 0.8},
    at_scale="blocks",
):
    r"""Change categories at random by a known transition matrix.

    With an invariant matrix, the default, the expected counts of the categories stay as they are;
    otherwise `corrected_counts` gives unbiased counts from the released ones and the matrix. When
    not to use it: on numbers, or where a change makes records impossible (a married child); use
    `within` or `compound` to keep such combinations out.

    Missing values: stay missing. Weights: the distribution kept is that of the file, unweighted.
    Households: not considered.

    Notes
    -----
    A value :math:`k` becomes :math:`l` with probability :math:`p_{kl}` [gouweleeuw1998]_. Expected
    counts obey :math:`E[T^*|T] = P^\top T`, so :math:`\hat T = (P^{-1})^\top T^*` is unbiased
    [kooiman1997]_. An invariant matrix has :math:`P^\top T = T`. It is made here from any matrix
    :math:`P` by following it with the posterior matrix
    :math:`Q_{lk} = p_{kl}T_k / \sum_j p_{jl}T_j`, and mixed with the identity until no
    diagonal element lies below `stay`. With `compound` the columns are changed together, as one
    variable, so that only combinations that occur are made.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(2000)
    >>> frame = tacit.Plan([mask.Pram(columns=["marital"], stay=0.7)]).apply(data, seed=1).frame
    >>> bool((frame["marital"] == data.frame["marital"]).mean() > 0.65)
    True
    """

    columns: Columns
    """Categorical variables."""
    stay: Annotated[float, Ge(0), Le(1), Try(0.6, 0.7, 0.8, 0.9)] = 0.8
    """Smallest probability with which a category stays as it is."""
    invariant: bool = True
    """Choose the matrix so that expected counts stay as they are."""
    matrix: dict[str, dict[str, float]] | None = None
    """Transition probabilities given by hand, from each category to others; rows sum to 1."""
    within: Columns | None = None
    """Change categories only inside each category of these variables, with a matrix of its own."""
    compound: bool = False
    """Change all columns together, as one variable whose categories are their combinations."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.matrix is not None and len(self.columns) > 1 and not self.compound:
            raise ValueError("should name one column if the matrix is given by hand")
        return self

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with some categories changed."""
        table = data.local
        for chosen, codes, first, parts in self._variables(data, rng):
            source = np.arange(len(codes))
            for part in parts:
                source[part.rows] = first[part.changed(codes, rng)]
            table = table.with_columns(table[name][source].alias(name) for name in chosen)
        return data.with_local(table)

    def _variables(
        self, data: Microdata, rng: np.random.Generator
    ) -> Iterator[tuple[list[str], np.ndarray, np.ndarray, Iterator[_Part]]]:
        """Yield what is changed together: columns, codes, a record of each code, and its parts."""
        kinds = [Kind.NOMINAL, Kind.ORDINAL, Kind.TEXT]
        data.schema.require(self.columns, kinds=kinds, by=self.key)
        strata = strata_of(data, self.within)
        for chosen in [list(self.columns)] if self.compound else [[c] for c in self.columns]:
            codes, first = _combined(data, chosen)
            labels = _labels(data, chosen, first)
            yield chosen, codes, first, self._parts(codes, labels, strata, rng)

    def _parts(
        self,
        codes: np.ndarray,
        labels: list[str],
        strata: np.ndarray | None,
        rng: np.random.Generator,
    ) -> Iterator[_Part]:
        """Yield the records of each stratum with the matrix that changes them."""
        given = None if self.matrix is None else checked_matrix(self.matrix, labels)
        everything = np.arange(len(labels))
        for rows in split_by(strata, np.flatnonzero(codes >= 0)):
            if given is not None:  # the same in every stratum, whatever occurs there
                yield _Part(rows, everything, labels, given)
                continue
            counts = np.bincount(codes[rows], minlength=len(labels))
            present = np.flatnonzero(counts)
            matrix = self._matrix(counts[present], rng)
            yield _Part(rows, present, [labels[c] for c in present], matrix)

    def _matrix(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        matrix = random_matrix(len(counts), self.stay, rng)
        return invariant_matrix(matrix, counts, self.stay) if self.invariant else matrix


@dataclass(frozen=True)
class _Part:
    """Records whose categories are changed by one matrix."""

    rows: np.ndarray
    present: np.ndarray
    """Codes of the categories of the matrix, ascending."""
    labels: list[str]
    matrix: np.ndarray

    def changed(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the new codes."""
        place = np.zeros(int(self.present[-1]) + 1, dtype=np.int64)
        place[self.present] = np.arange(len(self.present))
        return np.asarray(self.present[transitions(place[codes[self.rows]], self.matrix, rng)])


@dataclass(frozen=True)
class Transition:
    """How one variable, or several together, is changed in one stratum."""

    columns: tuple[str, ...]
    """The variable; several where they are changed together."""
    stratum: dict[str, Any]
    """The values that make the stratum; none where there is only one."""
    categories: list[str]
    """Categories in the order of the matrix."""
    matrix: np.ndarray
    """Probabilities, from original (rows) to released (columns)."""


def transition_matrices(
    method: Pram, data: Microdata, rng: np.random.Generator
) -> list[Transition]:
    """Return the matrices that the columns are changed with, stratum by stratum.

    With the generator of the same step (`tacit.core.rng.step_generator`) these are the matrices of
    the release, which its maker may give to users for `corrected_counts`.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> from tacit.core.rng import step_generator
    >>> method = mask.Pram(columns=["marital"], within=["sex"])
    >>> found = transition_matrices(method, tacit.datasets.census(500), step_generator(1, 0))
    >>> [(t.stratum, t.matrix.shape) for t in found]
    [({'sex': 'male'}, (4, 4)), ({'sex': 'female'}, (4, 4))]
    """
    table, names = data.local, list(method.within or ())
    found = []
    for chosen, codes, _, parts in method._variables(data, rng):
        for part in parts:
            part.changed(codes, rng)  # the release draws here too, before the next matrix
            stratum = table.select(names).row(int(part.rows[0]), named=True) if names else {}
            found.append(Transition(tuple(chosen), stratum, part.labels, part.matrix))
    return found


def _combined(data: Microdata, columns: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return one code per record for the columns together, and a record that has each code.

    Codes are in the order of the values, so that the order of the records does not decide the
    matrix.
    """
    single = encode(data, columns)
    if len(columns) == 1:  # in the order of the values already
        codes = single[:, 0].astype(np.int64)
        n_codes = _few(int(codes.max(initial=-1)) + 1, columns)
        first = np.empty(n_codes + 1, dtype=np.int64)  # missing values write to the last place
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # the first record of a code comes last
        return codes, first[:-1]
    known = np.flatnonzero((single >= 0).all(axis=1))
    ids, n_codes = group_ids(single[known])
    first = np.full(_few(n_codes, columns), len(known), dtype=np.int64)
    np.minimum.at(first, ids, np.arange(len(known)))
    order = np.lexsort(single[known[first]].T[::-1])
    number = np.empty(n_codes, dtype=np.int64)
    number[order] = np.arange(n_codes)
    codes = np.full(len(single), -1, dtype=np.int64)
    codes[known] = number[ids]
    return codes, known[first[order]]


def _few(n_codes: int, columns: list[str]) -> int:
    if n_codes > _MOST_CATEGORIES:
        raise DataError(
            f"{_SEPARATOR.join(columns)} has too many categories for a transition matrix",
            got=f"{n_codes:,}, at most {_MOST_CATEGORIES:,}",
            do="recode first",
        )
    return n_codes


def _labels(data: Microdata, columns: list[str], first: np.ndarray) -> list[str]:
    rows = data.local[first].select(columns).rows() if len(first) else []
    return [_SEPARATOR.join(map(str, row)) for row in rows]

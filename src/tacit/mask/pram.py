"""Post-randomisation (PRAM)."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from annotated_types import Ge, Le
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.core.schema import Kind
from tacit.mask._strata import split_by
from tacit.mask._transitions import (
    checked_matrix,
    corrected_counts,
    invariant_matrix,
    random_matrix,
    transitions,
)

__all__ = ["corrected_counts", "transition_matrices"]

_MOST_CATEGORIES = 2000
_SEPARATOR = " | "


class Pram(
    Mask,
    key="pram",
    title="Post-randomisation (PRAM)",
    cites=("gouweleeuw1998", "kooiman1997"),
    example={"columns": ["marital", "occupation"], "stay": 0.8},
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
        kinds = [Kind.NOMINAL, Kind.ORDINAL, Kind.TEXT]
        data.schema.require(self.columns, kinds=kinds, by=self.key)
        strata = group_ids(encode(data, self.within))[0] if self.within else None
        sets = [list(self.columns)] if self.compound else [[c] for c in self.columns]
        table = data.local
        for chosen in sets:
            codes, first = _combined(data, chosen)
            changed = self._changed(data, chosen, codes, first, strata, rng)
            source = np.arange(len(codes))
            source[changed >= 0] = first[changed[changed >= 0]]
            table = table.with_columns(table[name][source].alias(name) for name in chosen)
        return data.with_local(table)

    def _changed(
        self,
        data: Microdata,
        chosen: list[str],
        codes: np.ndarray,
        first: np.ndarray,
        strata: np.ndarray | None,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return the new code of each record, -1 where a value is missing."""
        changed = codes.copy()
        labels = _labels(data, chosen, first)
        given = None if self.matrix is None else checked_matrix(self.matrix, labels)
        for part in split_by(strata, np.flatnonzero(codes >= 0)):
            if given is not None:  # the same in every stratum, whatever occurs there
                changed[part] = transitions(codes[part], given, rng)
                continue
            counts = np.bincount(codes[part], minlength=len(labels))
            present = np.flatnonzero(counts)
            inside = (np.cumsum(counts > 0) - 1)[codes[part]]
            matrix = self._matrix(counts[present], [labels[c] for c in present], rng)
            changed[part] = present[transitions(inside, matrix, rng)]
        return changed

    def _matrix(
        self, counts: np.ndarray, labels: list[str], rng: np.random.Generator
    ) -> np.ndarray:
        if self.matrix is not None:
            return checked_matrix(self.matrix, labels)
        matrix = random_matrix(len(counts), self.stay, rng)
        return invariant_matrix(matrix, counts, self.stay) if self.invariant else matrix


def transition_matrices(
    method: Pram, data: Microdata, rng: np.random.Generator
) -> dict[str, tuple[list[str], np.ndarray]]:
    """Return the matrix that each column is changed with, and its categories.

    With the generator of the same step (`tacit.core.rng.step_generator`) these are the matrices of
    the release, which its maker may give to users for `corrected_counts`. Not for matrices within
    strata.
    """
    if method.within:
        raise DataError("matrices within strata are not listed", do="ask stratum by stratum")
    found = {}
    sets = [list(method.columns)] if method.compound else [[c] for c in method.columns]
    for chosen in sets:
        codes, first = _combined(data, chosen)
        labels = _labels(data, chosen, first)
        known = codes[codes >= 0]
        matrix = method._matrix(np.bincount(known, minlength=len(labels)), labels, rng)
        transitions(known, matrix, rng)  # the release draws here too, before the next column
        found[_SEPARATOR.join(chosen)] = (labels, matrix)
    return found


def _combined(data: Microdata, columns: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return one code per record for the columns together, and a record that has each code."""
    single = encode(data, columns)
    known = np.flatnonzero((single >= 0).all(axis=1))
    ids, n_codes = group_ids(single[known])
    if n_codes > _MOST_CATEGORIES:
        raise DataError(
            f"{_SEPARATOR.join(columns)} has too many categories for a transition matrix",
            got=f"{n_codes:,}, at most {_MOST_CATEGORIES:,}",
            do="recode first",
        )
    first = np.full(n_codes, len(known), dtype=np.int64)
    np.minimum.at(first, ids, np.arange(len(known)))
    # In the order of the values, so that the order of the records does not decide the matrix.
    order = np.lexsort(single[known[first]].T[::-1])
    number = np.empty(n_codes, dtype=np.int64)
    number[order] = np.arange(n_codes)
    codes = np.full(len(single), -1, dtype=np.int64)
    codes[known] = number[ids]
    return codes, known[first[order]]


def _labels(data: Microdata, columns: list[str], first: np.ndarray) -> list[str]:
    rows = data.local[first].select(columns).rows() if len(first) else []
    return [_SEPARATOR.join(map(str, row)) for row in rows]

"""MDAV on a few related variables at a time."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.method import Columns, Try
from tacit.mask._grouped import MeansOfGroups
from tacit.mask._noise import finite_columns
from tacit.mask.mdav import mdav_groups


class PartitionedMdav(
    MeansOfGroups,
    key="partitioned-mdav",
    title="Microaggregation of a few variables at a time",
    cites=("domingoferrer2001", "domingoferrer2007"),
    example={"columns": ["income", "taxes", "hours", "age"], "k": 3, "variables_per_group": 2},
):
    """Microaggregate variables in small sets of related ones, each set by itself.

    Less is lost than with all variables at once, and less is protected: a record can be told from
    others by variables of different sets. When not to use it: where an intruder may know variables
    of several sets and k-anonymity on all of them is wanted.

    Missing values: as in MDAV, by pattern within each set. Weights: means are weighted where the
    schema has a weight. Households: not considered.

    Notes
    -----
    The sets are built from the correlations: the pair of free variables with the largest absolute
    correlation starts a set, which takes in the variable with the largest mean absolute correlation
    to its members until it is full. Sets of three variables did well in the comparison that DF07
    [domingoferrer2007]_ reports [domingoferrer2001]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> columns = ["income", "taxes", "hours", "age"]
    >>> method = mask.PartitionedMdav(columns=columns, variables_per_group=2)
    >>> release = tacit.Plan([method]).apply(tacit.datasets.census(300), seed=1)
    >>> bool(release.frame.group_by("income", "taxes").len()["len"].min() >= 3)
    True
    """

    columns: Columns
    """Numeric variables."""
    variables_per_group: Annotated[int, Ge(1), Try(2, 3, 4)] = 3
    """How many variables are microaggregated together."""
    sets: tuple[Columns, ...] | None = None
    """Sets of variables chosen by hand, in place of sets found from the correlations."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        named = sorted(name for chosen in self.sets or () for name in chosen)
        if self.sets is not None and named != sorted(self.columns):
            raise ValueError("should name each of the columns once in its 'sets', and no others")
        return self

    def _sets(self, data: Microdata) -> list[list[str]]:
        values = finite_columns(data, self.columns, self.key)
        if self.sets is not None:
            return [list(chosen) for chosen in self.sets]
        complete = values[~np.isnan(values).any(axis=1)]
        found = correlated_sets(complete, self.variables_per_group)
        return [[self.columns[j] for j in chosen] for chosen in found]

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return mdav_groups(values, self.k)


def correlated_sets(values: np.ndarray, size: int) -> list[list[int]]:
    """Partition the columns of an array into sets of at most `size` related ones."""
    strength = _absolute_correlations(values)
    free, sets = list(range(values.shape[1])), []
    while free:
        chosen = _strongest_pair(strength, free) if size > 1 and len(free) > 1 else free[:1]
        free = [j for j in free if j not in chosen]
        while free and len(chosen) < size:
            best = max(free, key=lambda j: (float(strength[j, chosen].mean()), -j))
            chosen.append(best)
            free.remove(best)
        sets.append(chosen)
    return sets


def _absolute_correlations(values: np.ndarray) -> np.ndarray:
    if len(values) < 2:
        return np.zeros((values.shape[1], values.shape[1]))
    centred = values - values.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(lengths > 0, lengths, 1.0)
    return np.asarray(np.abs(scaled.T @ scaled))


def _strongest_pair(strength: np.ndarray, free: list[int]) -> list[int]:
    among = strength[np.ix_(free, free)] - np.eye(len(free)) * 2
    a, b = np.unravel_index(int(np.argmax(among)), among.shape)
    return sorted([free[a], free[b]])

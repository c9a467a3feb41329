"""Analyses that need nothing of the agencies but sums."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, UnknownMethodError, nearest
from tacit.core.schema import Kind
from tacit.core.value import Value
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError, UnfitError

if TYPE_CHECKING:
    from tacit.federated.messages import Exchange, Message, Proposal
    from tacit.federated.pairs import Pairs
    from tacit.federated.routing import Asking

SMALLEST_CELLS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200, 500, 1000)
"""What agencies can agree on as the smallest cell that is shown."""
State = Mapping[str, Any]
"""What the agencies know between two sums; the same at each of them."""


@dataclass(frozen=True)
class Outcome:
    """What follows from a sum: another one, or the answer."""

    state: State
    answer: dict[str, Any] | None = None
    vector: np.ndarray | None = None
    """A long array of the answer, which travels as bytes and is called ``sum`` there."""


class Analysis(Value):
    """Something that agencies compute together by secure sums.

    A new analysis is one class in `federated/analyses`: what an agency adds to each sum, and what
    follows from the sum.
    """

    key: ClassVar[str] = ""
    known: ClassVar[dict[str, type[Analysis]]] = {}
    whole: ClassVar[bool] = False
    """Whether every agency is needed to the end, because nobody else has what it has."""

    def __init_subclass__(cls, key: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if key:
            cls.key = key
            Analysis.known[key] = cls

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Return the columns that are used."""

    @abstractmethod
    def part(self, data: Microdata, policy: Policy) -> Any:
        """Return what the agency holds for this analysis, or refuse by its own rules."""

    @abstractmethod
    def length(self, state: State) -> int:
        """Return how many numbers the next sum has."""

    @abstractmethod
    def contribute(self, part: Any, state: State) -> np.ndarray:
        """Return what the agency adds to the next sum."""

    @abstractmethod
    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return what follows from a sum, or refuse by the rules on pooled results."""

    def held_by(self, name: str, proposal: Proposal) -> Analysis:
        """Return the analysis as one agency sees it, or refuse it with these participants."""
        return self

    def limited_to(self, columns: Sequence[str]) -> Analysis:
        """Return an earlier analysis as the agency with these columns saw it."""
        return self

    def exchange(self, part: Any, pairs: Pairs, message: Exchange, state: State) -> Message:
        """Answer something that pairs of agencies pass to each other before a sum."""
        raise RefusedError("this analysis needs sums only")

    def route(self, step: int, ask: Asking, memory: dict[str, Any]) -> None:
        """Pass on, as the coordinator, what pairs of agencies exchange before a sum."""

    def used_records(self, part: Any) -> np.ndarray | None:
        """Return which records are used where that depends on what the other agencies have."""
        return None

    def multiplied(self) -> tuple[str, ...]:
        """Return the columns of which sums of products are shown, each with each."""
        return ()

    def categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories of those of them that stand for indicators."""
        return {}

    def weighting(self) -> str | None:
        """Return the column by which each of these products is multiplied."""
        return None

    def universe(self, data: Microdata) -> np.ndarray | None:
        """Return which records are used; None where no value but their number is shown."""
        return known_records(data, self.columns())

    def require_apart(self, earlier: Analysis, data: Microdata, policy: Policy) -> None:
        """Refuse if few records are in one of two questions only: the difference shows them."""
        mine, theirs = self.universe(data), earlier.universe(data)
        if mine is None or theirs is None or not set(self.columns()) & set(earlier.columns()):
            return
        if 0 < int(np.sum(mine != theirs)) < policy.min_cell:
            raise RefusedError(
                f"fewer than {policy.min_cell} records differ from those of an earlier computation"
            )

    def described(self) -> dict[str, Any]:
        """Return the analysis as plain data."""
        return {"analysis": self.key, **self.as_dict()}

    def fingerprint(self) -> str:
        """Return what is the same for the same question."""
        text = json.dumps(self.described(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def analysis_from(described: Mapping[str, Any]) -> Analysis:
    """Build an analysis from plain data.

    Examples
    --------
    >>> analysis_from({"analysis": "mean", "variables": ["age"]})
    Mean(variables=('age',))
    """
    import tacit.federated.analyses  # noqa: F401 - fills the list of analyses

    given = dict(described)
    key = given.pop("analysis", None)
    if key not in Analysis.known:
        raise UnknownMethodError(
            f"no federated analysis {key!r}", do=nearest(str(key), Analysis.known)
        )
    return Analysis.known[key](**given)


def require_different(variables: Sequence[str]) -> None:
    """Refuse no variables at all, and the same one twice."""
    if not variables or len(set(variables)) != len(variables):
        raise ParameterError("variables are different columns", got=list(variables))


def complete_records(data: Microdata, numbers: tuple[str, ...], policy: Policy) -> np.ndarray:
    """Return numeric columns of the records without a missing value in them."""
    values = numbers_of(data, numbers)
    values = np.asarray(values[np.isfinite(values).all(axis=1)])
    require_records(len(values), policy)
    require_varied(values, policy)
    return values


def numbers_of(data: Microdata, columns: Sequence[str]) -> np.ndarray:
    """Return numeric columns as records by columns, or refuse those that are not numbers here."""
    numeric = set(data.schema.names(kind=Kind.NUMERIC))
    for column in columns:
        if column not in numeric:
            raise UnfitError(f"the column {column!r} holds no numbers at this agency")
    return data.numeric(list(columns))


def known_records(data: Microdata, columns: tuple[str, ...]) -> np.ndarray:
    """Return which records have a value in all of the columns."""
    known = np.ones(data.n_records, dtype=bool)
    for column in columns:
        if column in data.schema:
            values = data.local[column]
            known &= values.is_not_null().to_numpy()
            if values.dtype.is_float():
                known &= values.is_finite().fill_null(False).to_numpy()
    return known


def codes_of(data: Microdata, column: str, levels: tuple[str, ...]) -> np.ndarray:
    """Return the position of each record's category, -1 where it is missing."""
    import polars as pl

    texts = data.local[column].cast(pl.String)
    found = texts.replace_strict(list(levels), list(range(len(levels))), default=-2)
    codes = found.cast(pl.Int64).fill_null(-1).to_numpy()
    codes = np.where(texts.is_null().to_numpy(), -1, codes)
    if np.any(codes == -2):
        raise RefusedError(f"the column {column!r} has categories that were not agreed")
    return codes


def require_varied(values: np.ndarray, policy: Policy) -> None:
    """Refuse columns in which few records differ from all others, such as a mark on one record."""
    for column in values.T:
        counts = np.unique(column, return_counts=True)[1]
        if 0 < len(column) - counts.max(initial=0) < policy.min_cell:
            raise RefusedError(f"fewer than {policy.min_cell} records differ from all the others")


def require_records(n: int, policy: Policy) -> None:
    """Refuse to contribute fewer records than the agency's policy says."""
    if n < policy.min_records:
        raise RefusedError(f"fewer than {policy.min_records} complete records")


def require_cells(counts: np.ndarray, policy: Policy, whose: str) -> None:
    """Refuse counts that are small but not zero."""
    if np.any((counts > 0.5) & (counts < policy.min_cell - 0.5)):
        raise RefusedError(f"{whose} has a cell of fewer than {policy.min_cell} records")


def ballot(policy: Policy) -> np.ndarray:
    """Return an agency's vote for the smallest cell to be shown: a 1 at the first that suffices.

    Examples
    --------
    >>> strictest(ballot(Policy()) + ballot(Policy(min_cell=5)) + ballot(Policy(min_cell=4)))
    5
    """
    place = int(np.searchsorted(SMALLEST_CELLS, policy.min_cell))
    if place == len(SMALLEST_CELLS):
        raise UnfitError(f"no cell of fewer than {policy.min_cell} records may be shown")
    vote = np.zeros(len(SMALLEST_CELLS))
    vote[place] = 1.0
    return vote


def strictest(votes: np.ndarray) -> int:
    """Return the smallest cell that all agencies allow, so that all show the same classes."""
    counts = np.rint(votes)
    require_plausible(bool((counts >= 0).all() and counts.any()), "votes")
    return SMALLEST_CELLS[int(np.flatnonzero(counts)[-1])]


def require_plausible(ok: bool, what: str) -> None:
    """Refuse a sum that cannot come from honest contributions."""
    if not ok:
        raise RefusedError(
            f"the sum is not plausible ({what}): an agency contributed something out of range"
        )


def triangle(matrix: np.ndarray) -> np.ndarray:
    """Return the upper triangle of a symmetric matrix as a vector."""
    return np.asarray(matrix[np.triu_indices(len(matrix))])


def symmetric(values: np.ndarray, size: int) -> np.ndarray:
    """Return the symmetric matrix of an upper triangle."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = values
    return matrix + np.triu(matrix, 1).T

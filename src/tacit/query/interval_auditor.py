"""Auditing of exact answers by the intervals they leave for each value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.query.auditor import Verdict

if TYPE_CHECKING:
    from tacit.tables._linear_program import LinearProgram

_SLACK = 1e-12
"""Relative room for the rounding of the sums themselves."""


class IntervalAuditor:
    r"""Refuse a sum when the answers, with what everybody knows, would pin a value too closely.

    Users are taken to know bounds of every value (turnover is not negative, a count is at most the
    number of units). The answered sums and the bounds leave an interval for each value, found by
    linear programming; each must stay at least as wide as its protection.

    Parameters
    ----------
    lower, upper
        Bounds of each atom's value that users know; infinite where they know none.
    width
        Least width of the interval left for each atom; 0 for atoms that need no protection.
    integer
        The values are counts: intervals are shrunk to whole numbers before they are measured.

    Notes
    -----
    For atom *i* the interval is :math:`[\min x_i, \max x_i]` subject to :math:`Qx = s`,
    :math:`l \le x \le u`. Atoms that no query has told apart are one variable of the programme,
    and an atom is solved for only if the solutions seen so far do not show it wide enough. For
    counts this is the linear relaxation: whole numbers may be pinned a little more closely, and to
    know exactly is intractable already for zeros and ones.

    `check` needs the answer, so its refusals say something about the data [kenthapadi2005]_.
    `check_simulated` decides from earlier answers alone: it refuses if the answer *some* data set
    that fits them would give were too telling.

    Examples
    --------
    >>> auditor = IntervalAuditor(lower=[0, 0, 0], upper=[np.inf] * 3, width=[5, 5, 5])
    >>> auditor.admit([1, 1, 0], 100).allowed, auditor.admit([0, 1, 1], 3).allowed
    (True, False)
    """

    def __init__(self, lower: Any, upper: Any, width: Any, *, integer: bool = False) -> None:
        self._lower, self._upper = np.asarray(lower, float), np.asarray(upper, float)
        self.n_atoms, self.integer = len(self._lower), integer
        self._width = np.broadcast_to(np.asarray(width, float), (self.n_atoms,)).copy()
        if self._lower.shape != self._upper.shape or self._lower.ndim != 1 or not self.n_atoms:
            raise ParameterError("lower and upper give one bound for each atom")
        if not (self._lower <= self._upper).all() or not (self._width >= 0).all():
            raise ParameterError("bounds must be ordered and widths at least 0, none missing")
        if (self._upper - self._lower < self._width).any():
            raise ProtectionError(
                "some values are known too closely before any query is answered",
                got=f"{int((self._upper - self._lower < self._width).sum())} atoms",
                do="lower the width or widen the bounds",
            )
        self._labels = np.zeros(self.n_atoms, dtype=np.int64)
        self._queries = np.empty((0, self.n_atoms))
        self._answers = np.empty(0)

    @classmethod
    def for_counts(cls, sizes: Any, *, width: int = 2) -> IntervalAuditor:
        """Return an auditor of counts: how many of the units of each atom have some property.

        Parameters
        ----------
        sizes
            Units in each atom, which users know.
        width
            Least width of the interval left for atoms that hold at least so many units; smaller
            ones must keep the whole interval from 0 to their size.
        """
        n = np.asarray(sizes, float)
        return cls(np.zeros_like(n), n, np.minimum(n, width), integer=True)

    @property
    def n_answered(self) -> int:
        """Number of answers taken in."""
        return len(self._answers)

    # -- deciding -------------------------------------------------------------------------------

    def check(self, queries: Any, answers: Any) -> Verdict:
        """Say whether sums with these answers may be given; everything stays as it was."""
        return self._with(*self._given(queries, answers))._verdict()

    def admit(self, queries: Any, answers: Any) -> Verdict:
        """Allow sums and take in their answers, or refuse them all."""
        after = self._with(*self._given(queries, answers))
        verdict = after._verdict()
        if verdict.allowed:
            self._labels, self._queries, self._answers = (
                after._labels,
                after._queries,
                after._answers,
            )
        return verdict

    def check_simulated(
        self, queries: Any, rng: np.random.Generator, *, samples: int = 10
    ) -> Verdict:
        """Say whether sums may be given, looking only at earlier queries and answers.

        The sums are tried with the answers of `samples` other data sets that fit everything
        answered so far; one that would expose a value is enough to refuse.
        """
        if not (np.isfinite(self._lower).all() and np.isfinite(self._upper).all()):
            raise ParameterError(
                "data sets can be simulated only between finite bounds",
                do="give every atom a lower and an upper bound that users may know",
            )
        vectors, _ = self._given(queries, None)
        finer = self._with(vectors, np.zeros(len(vectors)))
        for point in _points(self, finer._labels, rng, samples):
            verdict = self._with(vectors, vectors @ point)._verdict()
            if not verdict.allowed:
                return verdict
        return Verdict(True)

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper end of what the answers leave for each atom."""
        return _Programme(self).solved(np.full(self.n_atoms, np.inf))

    def _verdict(self) -> Verdict:
        low, high = _Programme(self).solved(self._width)
        scale = 1e-7 * np.maximum(1.0, np.where(np.isfinite(self._width), self._width, 1.0))
        exposed = np.flatnonzero((high - low < self._width - scale) & (self._width > 0))
        return Verdict(not len(exposed), tuple(int(i) for i in exposed))

    # -- taking in ------------------------------------------------------------------------------

    def _given(self, queries: Any, answers: Any) -> tuple[np.ndarray, np.ndarray]:
        vectors = np.atleast_2d(np.asarray(queries, dtype=float))
        values = np.zeros(len(vectors)) if answers is None else np.atleast_1d(answers).astype(float)
        if vectors.shape[1:] != (self.n_atoms,) or values.shape != (len(vectors),):
            raise ParameterError(
                f"a query has one coefficient for each of {self.n_atoms} atoms, and one answer",
                got=f"shapes {vectors.shape} and {values.shape}",
            )
        if not (np.isfinite(vectors).all() and np.isfinite(values).all()):
            raise ParameterError("coefficients and answers must be finite numbers")
        return vectors, values

    def _with(self, vectors: np.ndarray, answers: np.ndarray) -> IntervalAuditor:
        after = object.__new__(IntervalAuditor)
        after.__dict__.update(self.__dict__)
        for vector in vectors:
            after._labels = _refined(after._labels, vector)
        after._queries = np.vstack([self._queries, vectors])
        after._answers = np.concatenate([self._answers, answers])
        return after


@dataclass(slots=True)
class _Sums:
    """Sum of the bounds of a class and of all its members but one, infinite ends counted apart."""

    finite: np.ndarray
    infinite: np.ndarray
    sign: float

    @classmethod
    def of(cls, values: np.ndarray, labels: np.ndarray, n: int, sign: float) -> _Sums:
        is_finite = np.isfinite(values)
        finite = np.bincount(labels, np.where(is_finite, values, 0.0), minlength=n)
        return cls(finite, np.bincount(labels, ~is_finite, minlength=n), sign)

    def whole(self) -> np.ndarray:
        return np.where(self.infinite > 0, self.sign * np.inf, self.finite)

    def without(self, values: np.ndarray, labels: np.ndarray) -> np.ndarray:
        is_finite = np.isfinite(values)
        rest = self.finite[labels] - np.where(is_finite, values, 0.0)
        others = self.infinite[labels] - ~is_finite
        return np.where(others > 0, self.sign * np.inf, rest)


class _Programme:
    """The linear programme over classes of atoms that the queries have not told apart."""

    def __init__(self, auditor: IntervalAuditor) -> None:
        self.auditor, self.labels = auditor, auditor._labels
        self.n = int(self.labels.max()) + 1
        first = np.unique(self.labels, return_index=True)[1]
        self.matrix = auditor._queries[:, first]
        self.low_sums = _Sums.of(auditor._lower, self.labels, self.n, -1.0)
        self.high_sums = _Sums.of(auditor._upper, self.labels, self.n, 1.0)
        self.low, self.high = self.low_sums.whole(), self.high_sums.whole()

    def program(self) -> LinearProgram:
        from scipy.sparse import csc_array

        from tacit.tables._linear_program import LinearProgram

        answers = self.auditor._answers
        room = _SLACK * np.maximum(1.0, np.abs(answers))
        return LinearProgram(
            csc_array(self.matrix),
            self.low,
            self.high,
            row_lower=answers - room,
            row_upper=answers + room,
        )

    def solved(self, enough: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return an interval for each atom: the whole of it, or a part wider than enough."""
        if not len(self.auditor._answers):
            return self.auditor._lower, self.auditor._upper
        program = self.program()
        seen_low, seen_high = np.full(self.n, np.inf), np.full(self.n, -np.inf)
        for label in range(self.n):
            for sign in (1.0, -1.0):
                if not self._is_wide(label, seen_low, seen_high, enough):
                    self._push(program, label, sign, seen_low, seen_high)
        return self._atoms(seen_low, seen_high)

    def _push(self, program: LinearProgram, label: int, sign: float, *seen: np.ndarray) -> None:
        program.set_cost([label], [sign])
        status = program.solve()
        program.set_cost([label], [0.0])
        if status == "unbounded":
            seen[0 if sign > 0 else 1][label] = -sign * np.inf
            return
        if status == "infeasible":
            raise DataError(
                "the answers cannot all be true within the known bounds",
                do="check the bounds and the answers",
            )
        if status != "optimal":
            raise ProtectionError(
                "the solver could not tell how closely a value is pinned, so nothing is answered",
                got=status,
            )
        values = program.values
        np.minimum(seen[0], values, out=seen[0])
        np.maximum(seen[1], values, out=seen[1])

    def _is_wide(self, label: int, low: np.ndarray, high: np.ndarray, enough: np.ndarray) -> bool:
        if low[label] > high[label]:
            return bool((enough[self._members[label]] <= 0).all())
        members = self._members[label]
        ends = self._atoms(low, high, members)
        return bool((ends[1] - ends[0] >= enough[members]).all())

    @cached_property
    def _members(self) -> list[np.ndarray]:
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.searchsorted(self.labels[order], np.arange(1, self.n)))

    def _atoms(
        self, low: np.ndarray, high: np.ndarray, members: np.ndarray | slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what intervals of the classes leave for their members."""
        known_low, known_high = self.auditor._lower[members], self.auditor._upper[members]
        at = self.labels[members]
        others_low = self.low_sums.without(known_low, at)
        others_high = self.high_sums.without(known_high, at)
        ends = (
            np.maximum(known_low, low[at] - others_high),
            np.minimum(known_high, high[at] - others_low),
        )
        if self.auditor.integer:
            return np.ceil(ends[0] - 1e-6), np.floor(ends[1] + 1e-6)
        return ends


def _points(
    auditor: IntervalAuditor, labels: np.ndarray, rng: np.random.Generator, samples: int
) -> list[np.ndarray]:
    """Return data sets that fit all answers, each a mixture of random corners."""
    finer = object.__new__(IntervalAuditor)
    finer.__dict__.update(auditor.__dict__)
    finer._labels = labels
    programme = _Programme(finer)
    program = programme.program()
    corners = []
    for _ in range(samples + 1):
        program.set_cost(np.arange(programme.n), rng.standard_normal(programme.n))
        if program.solve() != "optimal":
            raise ProtectionError("no data set fits the answers, so nothing is answered")
        corners.append(program.values)
    shares = rng.dirichlet(np.ones(len(corners)), samples)
    sizes = np.bincount(labels, minlength=programme.n)
    return [(share @ np.array(corners))[labels] / sizes[labels] for share in shares]


def _refined(labels: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Split the classes by the coefficients of one more query."""
    _, code = np.unique(vector, return_inverse=True)
    _, refined = np.unique(labels * (int(code.max()) + 1) + code, return_inverse=True)
    return np.asarray(refined)

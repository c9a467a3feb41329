"""Auditing of exact answers: would the sums answered so far, and this one, determine a value."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.core.rng import fresh_seed
from tacit.query._echelon import Echelon

_LARGEST = 1 << 30


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an auditor says of a query."""

    allowed: bool
    """Whether the exact answer may be given."""
    exposed: tuple[int, ...] = ()
    """Atoms whose value would become known; for the custodian, never for the user."""
    is_new: bool = True
    """Whether the answer says anything that does not follow from earlier answers."""


class SumAuditor:
    r"""Refuse a sum once the sums answered would determine a value.

    Every answered sum is one linear equation in the unknown values of the atoms. They are kept as
    a reduced echelon form, from which one sees whether a value follows. The decision rests on
    *which* units were asked about, never on values, so that a refusal says nothing a user could
    not have worked out alone.

    Parameters
    ----------
    n_atoms
        Number of units, or of cells that requests never split.
    protected
        Which atoms must not become known; all by default. A server marks those that hold fewer
        units than its threshold.
    known
        Atoms whose value users know anyway. They count as answered.
    insiders
        0, or 1 to also refuse what would let a user who knows one value work out another.
    primes
        Number of primes the arithmetic is done modulo; the work grows with it.
    rng
        Source of the secret prime; by default the operating system.

    Notes
    -----
    Value :math:`x_i` is determined by the sums :math:`Qx` just when the unit vector :math:`e_i` is
    in the row space of :math:`Q` [chin1982]_, that is when every vector of the null space is zero
    at *i*. Two random vectors of the null space are kept beside the echelon form, and looking for
    their zeros finds every determined value.

    The arithmetic is modulo a random prime between 2\ :sup:`30` and 2\ :sup:`31`. A wrong "allowed"
    needs that prime to divide a certain minor of the queries; of rank *r*, a minor has at most
    :math:`r \log_2 r / 60` such divisors among 50 million primes: for *r* = 5 000 a chance below
    2 in 100 000, whatever the queries, and its square with two primes. A wrong "refused" has a
    chance below 10\ :sup:`-13` for each query.

    A sum of a few values may still be close to one of them; see `IntervalAuditor`.

    Examples
    --------
    >>> auditor = SumAuditor(4)
    >>> auditor.admit([1, 1, 1, 0]).allowed, auditor.admit([0, 0, 1, 1]).allowed
    (True, True)
    >>> auditor.admit([1, 1, 0, 0])
    Verdict(allowed=False, exposed=(2, 3), is_new=True)
    """

    def __init__(
        self,
        n_atoms: int,
        *,
        protected: np.ndarray | None = None,
        known: np.ndarray | None = None,
        insiders: int = 0,
        primes: int = 1,
        rng: np.random.Generator | None = None,
    ) -> None:
        if n_atoms < 1 or primes < 1 or insiders not in (0, 1):
            raise ParameterError(
                "an auditor needs at least one atom and one prime, and 0 or 1 insiders",
                got=f"{n_atoms} atoms, {primes} primes, {insiders} insiders",
            )
        self.n_atoms, self.insiders, self.n_answered = n_atoms, insiders, 0
        self._known = _mask(known, n_atoms, "known", default=False)
        self._protected = _mask(protected, n_atoms, "protected", default=True) & ~self._known
        rng = np.random.default_rng(fresh_seed()) if rng is None else rng
        self._forms = [Echelon(n_atoms, rng) for _ in range(primes)]

    @property
    def rank(self) -> int:
        """Number of answered sums that do not follow from each other."""
        return max(form.n_rows for form in self._forms)

    def check(self, query: Iterable[int] | np.ndarray) -> Verdict:
        """Say whether a sum may be answered, and leave everything as it was.

        Parameters
        ----------
        query
            For each atom whether it is in the sum, or its integer coefficient.
        """
        verdict, _ = self._decide(self._forms, self._vectors(query, single=True)[0])
        return verdict

    def admit(self, queries: Iterable[int] | np.ndarray) -> Verdict:
        """Allow a sum, or all sums of a table together, and take them in; or refuse them all.

        Parameters
        ----------
        queries
            One query as for `check`, or a matrix with a row for each. No row, nothing to refuse.
        """
        vectors = self._vectors(queries)
        forms = self._forms if len(vectors) == 1 else [form.copy() for form in self._forms]
        is_new = False
        for vector in vectors:
            verdict, steps = self._decide(forms, vector)
            if not verdict.allowed:
                return verdict
            for form, step in zip(forms, steps, strict=True):
                if step is not None:
                    form.add(*step)
            is_new |= verdict.is_new
        self._forms, self.n_answered = forms, self.n_answered + len(vectors)
        return Verdict(True, is_new=is_new)

    def _decide(
        self, forms: list[Echelon], vector: np.ndarray
    ) -> tuple[Verdict, list[tuple[int, np.ndarray, np.ndarray] | None]]:
        steps: list[tuple[int, np.ndarray, np.ndarray] | None] = []
        exposed = np.zeros(self.n_atoms, dtype=bool)
        for form in forms:
            left = form.left_of(vector)
            steps.append(form.witnesses_after(left) if left.any() else None)
            if steps[-1] is not None:
                exposed |= self._exposed(form, steps[-1][2])
        found = tuple(int(i) for i in np.flatnonzero(exposed))
        is_new = any(step is not None for step in steps)
        return Verdict(not found, found, is_new), steps

    def _exposed(self, form: Echelon, null: np.ndarray) -> np.ndarray:
        exposed: np.ndarray = form.determined(null) & self._protected
        if not self.insiders or exposed.any():
            return exposed
        at = np.flatnonzero(self._protected)
        _, which, counts = np.unique(
            form.directions(null)[at], return_inverse=True, return_counts=True
        )
        exposed[at[counts[which] > 1]] = True
        return exposed

    def _vectors(self, queries: Any, *, single: bool = False) -> np.ndarray:
        given = np.asarray(queries)
        given = given[None, :] if given.ndim == 1 else given
        if given.ndim != 2 or given.shape[1] != self.n_atoms or (single and len(given) != 1):
            raise ParameterError(
                f"a query has one coefficient for each of {self.n_atoms} atoms",
                got=f"shape {np.shape(queries)}",
            )
        whole = given.dtype.kind in "biu" or (given.dtype.kind == "f" and _is_whole(given))
        if not whole or (np.abs(given.astype(float)) >= _LARGEST).any():
            raise ParameterError(
                "a coefficient of an audited sum is a whole number below 2^30",
                do="audit a weighted sum as a measure of its own, with coefficients 0 and 1",
            )
        return np.where(self._known, 0, given.astype(np.int64))

    def copy(self) -> SumAuditor:
        """Return an auditor that knows the same and goes its own way."""
        other = copy(self)
        other._forms = [form.copy() for form in self._forms]
        return other

    # -- keeping --------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Return everything the auditor knows, for `restore`. It holds the secret prime."""
        arrays = {"protected": self._protected, "known": self._known}
        arrays["counts"] = np.array([self.insiders, self.n_answered, len(self._forms)])
        for i, form in enumerate(self._forms):
            arrays |= {f"{name}{i}": values for name, values in form.arrays().items()}
        kept = io.BytesIO()
        np.savez(kept, **arrays)
        return kept.getvalue()

    @classmethod
    def restore(cls, state: bytes) -> SumAuditor:
        """Return the auditor that `state` was taken from."""
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
                return cls._of_arrays(dict(arrays))
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(
                "this is not the kept state of an auditor",
                got=error,
                do="audit the requests of the log again",
            ) from error

    @classmethod
    def _of_arrays(cls, arrays: dict[str, np.ndarray]) -> SumAuditor:
        auditor = object.__new__(cls)
        auditor._protected, auditor._known = arrays["protected"], arrays["known"]
        auditor.n_atoms = len(auditor._known)
        auditor.insiders, auditor.n_answered, n_forms = (int(n) for n in arrays["counts"])
        names = ("p", "order", "null", "rows")
        auditor._forms = [
            Echelon.of_arrays({name: arrays[f"{name}{i}"] for name in names})
            for i in range(n_forms)
        ]
        return auditor


def _is_whole(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _mask(given: np.ndarray | None, n: int, name: str, *, default: bool) -> np.ndarray:
    if given is None:
        return np.full(n, default)
    mask = np.asarray(given)
    if mask.dtype != bool or mask.shape != (n,):
        raise ParameterError(
            f"{name} says yes or no for each of {n} atoms", got=f"{mask.dtype}, {mask.shape}"
        )
    return mask.copy()

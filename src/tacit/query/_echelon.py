"""What a set of answered sums tells, kept as a reduced echelon form modulo a secret prime."""

from __future__ import annotations

import numpy as np

from tacit.query._primes import random_prime

_N_WITNESSES = 2


class Echelon:
    """Reduced echelon form of the answered queries, and random vectors of its null space."""

    def __init__(self, n_columns: int, rng: np.random.Generator) -> None:
        self.p = random_prime(rng)
        self.order = np.arange(n_columns)
        self.n_free, self.n_rows = n_columns, 0
        self.rows = np.empty((0, n_columns), np.uint32)
        self.null = rng.integers(1, self.p, (_N_WITNESSES, n_columns)).astype(np.uint64)

    @property
    def _constants(self) -> tuple[np.uint64, np.uint64]:
        return np.uint64(self.p), np.uint64(-pow(self.p, -1, 1 << 32) % (1 << 32))

    def left_of(self, query: np.ndarray) -> np.ndarray:
        """Return what the query says beyond the rows, at the free columns, or all zeros."""
        from tacit.query._echelon_kernel import reduce_query

        placed = np.mod(query[self.order], self.p).astype(np.uint32)
        free, at_pivots = placed[: self.n_free], placed[self.n_free :][::-1]
        return np.asarray(
            reduce_query(
                np.ascontiguousarray(free),
                np.ascontiguousarray(at_pivots),
                self.rows,
                self.n_rows,
                self.n_free,
                *self._constants,
            )
        )

    def witnesses_after(self, left: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the pivot, the new row, and the null vectors that also answer 0 to the new row.

        Eliminating the pivot at column c with row f changes a null vector only at c,
        v'(c) = -sum of f(j) v(j) over the other free columns, and at each old pivot i by
        r(i, c) (v(c) - v'(c)).
        """
        from tacit.query._echelon_kernel import inverses, multiply

        p = np.uint64(self.p)
        at = int(np.flatnonzero(left)[0])
        scale = np.broadcast_to(inverses(left[at : at + 1].astype(np.uint64), p), left.shape)
        new = multiply(left, scale.copy(), p).astype(np.uint32)
        others = new.astype(np.uint64)
        others[at] = 0
        pivots = self.order[self.n_free :][::-1]
        factors = self.rows[: self.n_rows, at]
        null = self.null.copy()
        for vector in null:
            column = self.order[at]
            products = multiply(others, vector[self.order[: self.n_free]], p)
            own = (p - products.sum() % p) % p
            step = (vector[column] + p - own) % p
            moved = multiply(factors, np.broadcast_to(step, factors.shape).copy(), p)
            vector[pivots] = (vector[pivots] + moved) % p
            vector[column] = own
        return at, new, null

    def add(self, at: int, new: np.ndarray, null: np.ndarray) -> None:
        """Take in a new row whose pivot is at a free column."""
        from tacit.query._echelon_kernel import eliminate

        self._make_room()
        last = self.n_free - 1
        eliminate(self.rows, self.n_rows, self.n_free, new, at, *self._constants)
        self.rows[self.n_rows, : self.n_free] = new
        self.rows[self.n_rows, at] = new[last]
        self.order[at], self.order[last] = self.order[last], self.order[at]
        self.n_rows, self.n_free, self.null = self.n_rows + 1, last, null

    def _make_room(self) -> None:
        if self.n_rows < len(self.rows):
            return
        room = min(max(16, self.n_rows * 2), self.n_rows + self.n_free)
        rows = np.zeros((room, self.n_free), np.uint32)
        rows[: self.n_rows] = self.rows[: self.n_rows, : self.n_free]
        self.rows = rows

    def copy(self) -> Echelon:
        """Return an independent copy."""
        twin = object.__new__(Echelon)
        twin.p, twin.n_free, twin.n_rows = self.p, self.n_free, self.n_rows
        twin.order, twin.null = self.order.copy(), self.null.copy()
        twin.rows = self.rows[:, : max(self.n_free, 1)].copy()
        return twin

    # -- keeping --------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the whole state as arrays."""
        return {
            "p": np.array(self.p),
            "order": self.order,
            "null": self.null,
            "rows": self.rows[: self.n_rows, : self.n_free],
        }

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray]) -> Echelon:
        """Return the form kept by `arrays`."""
        form = object.__new__(cls)
        form.p, form.order, form.null = int(arrays["p"]), arrays["order"], arrays["null"]
        form.rows = np.ascontiguousarray(arrays["rows"])
        form.n_rows = len(form.rows)
        form.n_free = len(form.order) - form.n_rows
        return form

    # -- asking ---------------------------------------------------------------------------------

    def determined(self, null: np.ndarray) -> np.ndarray:
        """Return which columns the rows determine: those at which every null vector is 0."""
        return np.asarray((null == 0).all(axis=0))

    def directions(self, null: np.ndarray) -> np.ndarray:
        """Return a number per column, equal for columns of which one determines the other."""
        from tacit.query._echelon_kernel import inverses, multiply

        p = np.uint64(self.p)
        return np.asarray(multiply(null[0], inverses(null[1], p), p))

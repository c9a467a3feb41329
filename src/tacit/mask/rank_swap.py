"""Rank swapping."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ProtectionError
from tacit.core.families import Mask
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.core.progress import track
from tacit.core.schema import Kind
from tacit.mask._strata import split_by


class RankSwap(
    Mask,
    key="rank-swap",
    title="Rank swapping",
    cites=("moore1996", "domingoferrer2007"),
    example={"columns": ["income", "hours"], "p": 5},
):
    r"""Swap each value with another one near it in rank.

    The values of each variable stay the same as a whole, so that its distribution is kept exactly;
    relations between variables weaken as `p` grows. When not to use it: where several swapped
    variables are known to an intruder, who can intersect the windows of rank around each of them.

    Missing values: stay missing and are not swapped. Weights: not used. Households: not considered;
    use targeted record swapping to move households.

    Notes
    -----
    The values of a variable are ranked; each is swapped with one whose rank differs by at most
    :math:`p` percent of the number of records, chosen at random among those not swapped yet
    [moore1996]_, [domingoferrer2007]_. Each variable is swapped by itself. With `keep_correlation`
    the window of each variable is the widest for which original and swapped values still correlate
    by that much (of ordinal variables and dates: their ranks); if there is none, nothing is
    released. Ordinal variables are swapped in the order of their categories; equal values have
    ranks in random order.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(500)
    >>> frame = tacit.Plan([mask.RankSwap(columns=["income"], p=10)]).apply(data, seed=1).frame
    >>> frame["income"].sort().equals(data.frame["income"].sort())
    True
    """

    columns: Columns
    """Numeric, ordinal or date variables, each swapped by itself."""
    p: Annotated[float, Gt(0), Le(100), Try(1, 5, 10, 15, 20)] = 5.0
    """Largest difference of ranks, in percent of the number of records: 5 is five percent."""
    keep_correlation: Annotated[float, Ge(0), Lt(1)] | None = None
    """Choose the window so that original and swapped values correlate at least this much."""
    within: Columns | None = None
    """Swap only inside each category of these variables, say a region."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with values swapped."""
        kinds = [Kind.NUMERIC, Kind.ORDINAL, Kind.DATE]
        data.schema.require(self.columns, kinds=kinds, by=self.key)
        if data.n_records < 2:
            raise DataError("swapping needs at least two records", got=f"{data.n_records}")
        strata = group_ids(encode(data, self.within))[0] if self.within else None
        table = data.local
        with track("rank swapping", len(self.columns)) as advance:
            for name in self.columns:
                source = self._sources(*_ordered_values(data, name), strata, rng)
                table = table.with_columns(table[name][source].alias(name))
                advance(1)
        return data.with_local(table)

    def _sources(
        self,
        values: np.ndarray,
        known: np.ndarray,
        strata: np.ndarray | None,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return for each record the record whose value it receives."""
        source = np.arange(len(values))
        for part in split_by(strata, np.flatnonzero(known)):
            if len(part) > 1:
                order = part[_random_order(values[part], rng)]
                source[order] = order[self._swapped(values[order], rng)]
        return source

    def _swapped(self, ordered: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return which position each position receives its value from, positions being ranks."""
        if self.keep_correlation is None:
            return swap_positions(len(ordered), self.p / 100.0, rng)
        return _widest_swap(ordered.astype(float), self.keep_correlation, rng)

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        near = (
            f"at most {self.p:g} % of the records away in rank"
            if self.keep_correlation is None
            else f"near enough in rank to keep a correlation of {self.keep_correlation:g}"
        )
        return f"{self.title}: values of {', '.join(self.columns)} were swapped with values {near}"


def swap_positions(n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return a random pairing of 0..n-1 in which partners differ by at most `share` of n."""
    from tacit.mask import _swap_kernel as kernel

    window = max(int(share * n), 1)
    draws = rng.random((n, kernel.TRIES), dtype=np.float32)
    partner = kernel.partners(n, window, draws)
    return np.where(partner >= 0, partner, np.arange(n))


def _random_order(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the positions by ascending value, equal values in random order."""
    from tacit.mask import _swap_kernel as kernel

    # Stable, because the order of equal values must not depend on the processor.
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    if (ascending[1:] == ascending[:-1]).any():
        kernel.shuffle_ties(order, ascending, rng.random(len(values)))
    return order


def _widest_swap(ordered: np.ndarray, target: float, rng: np.random.Generator) -> np.ndarray:
    """Return a swap with the widest window that keeps the correlation, by bisection."""
    if np.isinf(ordered).any():
        raise DataError("infinite values have no correlation to keep", do="replace them first")
    if np.ptp(ordered) == 0:
        return swap_positions(len(ordered), 1.0, rng)
    best, low, high = None, 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        tried = swap_positions(len(ordered), middle, rng)
        if np.corrcoef(ordered, ordered[tried])[0, 1] >= target:
            low, best = middle, tried
        else:
            high = middle
    if best is None:
        raise ProtectionError(
            f"no swap of neighbours in rank keeps a correlation of {target:g}",
            got=f"{len(ordered)} values",
            do="lower keep_correlation, or give p instead",
        )
    return best


def _ordered_values(data: Microdata, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers that follow the order of a column's values, and which of them are known."""
    if data.schema[name].kind is not Kind.NUMERIC:
        codes = rank_codes(data, name)
        return codes, codes >= 0
    column = data.local[name]
    return np.asarray(column.fill_null(0).to_numpy()), column.is_not_null().to_numpy()


def rank_codes(data: Microdata, name: str) -> np.ndarray:
    """Return codes that follow the order of the values; -1 is missing."""
    codes = encode(data, [name])[:, 0].astype(np.int64)
    categories = data.schema[name].categories
    if categories is None:
        return codes
    present = data.local[name].drop_nulls().unique().sort().to_list()
    place = {category: i for i, category in enumerate(categories)}
    order = np.array([place.get(str(c), len(place)) for c in present], dtype=np.int64)
    return np.where(codes >= 0, order[codes], -1) if len(order) else codes

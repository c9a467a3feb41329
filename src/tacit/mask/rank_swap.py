"""Rank swapping."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ProtectionError
from tacit.core.families import Mask
from tacit.core.keys import encode
from tacit.core.method import Columns, Try
from tacit.core.progress import track
from tacit.core.schema import Kind
from tacit.mask._edit_rules import bounds as bounds_of
from tacit.mask._edit_rules import numbers, ruled_columns, speaking_of, swapped_within_rules
from tacit.mask._sorting import random_order_of_ties
from tacit.mask._strata import split_by, strata_of

Places: TypeAlias = tuple[np.ndarray, np.ndarray]
_EVERYWHERE: Places = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


class RankSwap(
    Mask,
    key="rank-swap",
    title="Rank swapping",
    cites=("moore1996", "domingoferrer2007"),
    example={"columns": ["income", "hours"], "p": 5},
    at_scale="blocks",
):
    r"""Swap each value with another one near it in rank.

    The values of each variable stay the same as a whole, so that its distribution is kept exactly;
    relations between variables weaken as `p` grows. When not to use it: where several swapped
    variables are known to an intruder, who can intersect the windows of rank around each of them.

    Edit rules of the schema hold on every record that kept them before: values are swapped only
    with values after which both records obey; one that has no such partner stays where it is.

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
    keep_rules: bool = True
    """Make only swaps after which both records obey the edit rules of the schema."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with values swapped."""
        kinds = [Kind.NUMERIC, Kind.ORDINAL, Kind.DATE]
        data.schema.require(self.columns, kinds=kinds, by=self.key)
        if data.n_records < 2:
            raise DataError("swapping needs at least two records", got=f"{data.n_records}")
        strata = strata_of(data, self.within)
        with track("rank swapping", len(self.columns)) as advance:
            for name in self.columns:
                source = self._sources(data, name, strata, rng)
                if self.keep_rules:
                    source = swapped_within_rules(data, [name], source)
                table = data.local
                data = data.with_local(table.with_columns(table[name][source].alias(name)))
                advance(1)
        return data

    def _sources(
        self, data: Microdata, name: str, strata: np.ndarray | None, rng: np.random.Generator
    ) -> np.ndarray:
        """Return for each record the record whose value it receives."""
        values, known = ordered_values(data, name)
        limits = _limits(data, name) if self.keep_rules else None
        source = np.arange(len(values))
        for part in split_by(strata, np.flatnonzero(known)):
            if len(part) > 1:
                order = _order(values, part, rng)
                bounds = _EVERYWHERE if limits is None else _places(order, *limits)
                source[order] = order[self._swapped(values, order, bounds, rng)]
        return source

    def _swapped(
        self, values: np.ndarray, order: np.ndarray, bounds: Places, rng: np.random.Generator
    ) -> np.ndarray:
        """Return which position each position receives its value from, positions being ranks."""
        if self.keep_correlation is None:
            return swap_positions(len(order), self.p / 100.0, rng, bounds)
        return _widest_swap(values[order].astype(float), self.keep_correlation, rng, bounds)

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        near = (
            f"at most {self.p:g} % of the records away in rank"
            if self.keep_correlation is None
            else f"near enough in rank to keep a correlation of {self.keep_correlation:g}"
        )
        return f"{self.title}: values of {', '.join(self.columns)} were swapped with values {near}"


def _order(values: np.ndarray, part: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the records of a part by ascending value."""
    if len(part) == len(values):  # no part of it, but all
        return random_order_of_ties(values, rng)
    return np.asarray(part[random_order_of_ties(values[part], rng)])


def swap_positions(
    n: int, share: float, rng: np.random.Generator, bounds: Places = _EVERYWHERE
) -> np.ndarray:
    """Return a random pairing of 0..n-1 in which partners differ by at most `share` of n.

    With `bounds`, each position takes values only from places between its lowest and highest one.
    """
    from tacit.mask import _swap_kernel as kernel

    window = max(int(share * n), 1)
    seeds = np.asarray(rng.bit_generator.random_raw(n), dtype=np.uint64)
    return np.asarray(kernel.partners(n, window, seeds, *bounds))


def _limits(data: Microdata, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return a column as numbers, and the lowest and highest that the rules allow each record."""
    rules = speaking_of(data, [name])
    names = ruled_columns(rules)
    if name not in names:
        return None
    values = {other: numbers(data.local[other]) for other in names}
    low, high = bounds_of(data, rules, values, [name])
    return values[name], low[name], high[name]


def _places(order: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray) -> Places:
    """Turn bounds on values into bounds on places in an ascending order, its own place included."""
    ascending, own = values[order], np.arange(len(order))
    lowest = np.searchsorted(ascending, low[order], side="left")
    highest = np.searchsorted(ascending, high[order], side="right") - 1
    return np.minimum(lowest, own), np.maximum(highest, own)


def _widest_swap(
    ordered: np.ndarray, target: float, rng: np.random.Generator, bounds: Places
) -> np.ndarray:
    """Return a swap with the widest window that keeps the correlation, by bisection."""
    if np.isinf(ordered).any():
        raise DataError("infinite values have no correlation to keep", do="replace them first")
    if np.ptp(ordered) == 0:
        return swap_positions(len(ordered), 1.0, rng, bounds)
    best, low, high = None, 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        tried = swap_positions(len(ordered), middle, rng, bounds)
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


def ordered_values(data: Microdata, name: str) -> tuple[np.ndarray, np.ndarray]:
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

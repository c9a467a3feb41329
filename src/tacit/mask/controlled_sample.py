"""Controlled sampling by the cube method."""

from __future__ import annotations

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.keys import encode
from tacit.core.method import Columns
from tacit.core.schema import Kind
from tacit.mask._households import household_codes
from tacit.mask._noise import finite_columns
from tacit.mask._sampling import SamplingMask

_MOST_VARIABLES = 200
"""Beyond this many totals a sample cannot be balanced in reasonable time, nor usefully."""
_HEAVY = 0.002
"""A unit is heavy if whether it is drawn changes an estimated total by more than this share."""
_MOST_HEAVY = 200
_OTHERS_PER_HEAVY = 10
"""A unit counts as heavy only if there are this many others to balance it."""
_MOST_STEPS = 5
_FREE = 0.1
"""Share of a unit's move that others must be able to balance."""


class ControlledSample(
    SamplingMask,
    key="controlled-sample",
    title="Controlled sampling",
    cites=("deville2004", "chauvet2006", "willenborg2001"),
    example={"fraction": 0.5, "balance": ["income", "age"], "counts": ["sex"]},
):
    r"""Release a random sample whose totals of chosen variables are those of the file.

    Each record has the inclusion probability it should have, and yet the estimated totals of the
    variables in `balance` and the estimated counts of the categories in `counts` come out right but
    for a rounding that does not grow with the file. When not to use it: with so many categories
    that each has few records; then the rounding is all there is.

    Missing values: add nothing to a total and belong to no category that is counted. Weights:
    weighted totals are kept, and weights are divided by the inclusion probability, so that totals
    stay estimable; turn this off with ``reweight=False``. Households: broken up, unless
    ``whole_households`` draws households in place of records.

    Notes
    -----
    With inclusion probabilities :math:`\pi_i` and weights :math:`w_i` the cube method
    [deville2004]_ draws a sample :math:`S` with :math:`P(i \in S) = \pi_i` and

    .. math:: \sum_{i \in S} \frac{w_i x_i}{\pi_i} \approx \sum_i w_i x_i

    for each balancing variable. It moves at random in the cube :math:`[0,1]^N`, inside the space
    where these equations hold, until almost all coordinates are 0 or 1 (fast flight phase of
    [chauvet2006]_, after a move of the whole file for each record that carries
    much of a total); for the few left, as many as there are variables, equations are given up from
    the last to the first. The number of records comes first and is always exact, then the sum of
    the weights, `balance` and `counts` in the order given. Probabilities are equal, or proportional
    to a variable; those above 1 are cut to 1 and the rest raised.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(1000).drop(["weight"])
    >>> plan = tacit.Plan([mask.ControlledSample(fraction=0.5, balance=["income"])])
    >>> sample = plan.apply(data, seed=1).frame
    >>> bool(abs(2 * sample["income"].sum() / data.frame["income"].sum() - 1) < 0.01)
    True
    """

    balance: Columns | None = None
    """Numeric variables whose (weighted) totals are kept, most important first."""
    counts: Columns | None = None
    """Categorical variables whose (weighted) counts per category are kept."""
    proportional_to: str | None = None
    """Numeric variable above 0 to which inclusion probabilities are proportional."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the sampled records, in their original order."""
        amounts = self._amounts(data)
        units = np.arange(data.n_records)
        if self.whole_households:
            units = household_codes(data, by="sampling whole households")
        n_units = int(units.max(initial=-1)) + 1
        pi = inclusion_probabilities(self._sizes(data, units), self._wanted(n_units))
        totals = np.column_stack([np.bincount(units, a, minlength=n_units) for a in amounts])
        chosen = np.flatnonzero(draw_balanced(totals, pi, rng)[units])
        sample = data.take(chosen)
        weights = sample.weights if self.reweight else None
        if weights is None or sample.schema.weight is None:
            return sample
        return sample.with_arrays({sample.schema.weight: weights / pi[units[chosen]]})

    def _amounts(self, data: Microdata) -> list[np.ndarray]:
        """Return what each record adds to each total that is kept."""
        weights = data.weights
        shares = np.ones(data.n_records) if weights is None else weights
        values = finite_columns(data, self.balance or (), self.key)
        amounts = [shares, *(shares * np.nan_to_num(values).T)]
        data.schema.require(self.counts or ())
        for codes in encode(data, self.counts or ()).T:
            amounts += [shares * (codes == c) for c in range(int(codes.max(initial=-1)) + 1)]
            _check_number(len(amounts))
        return amounts

    def _sizes(self, data: Microdata, units: np.ndarray) -> np.ndarray:
        """Return the number of each unit to which its inclusion probability is proportional."""
        if self.proportional_to is None:
            return np.ones(int(units.max(initial=-1)) + 1)
        data.schema.require([self.proportional_to], kinds=[Kind.NUMERIC], by=self.key)
        sizes = finite_columns(data, [self.proportional_to], self.key)[:, 0]
        if not np.all(sizes > 0):
            raise DataError(
                f"{self.proportional_to!r} must be above 0 on every record",
                got=f"{int(np.sum(~(sizes > 0)))} other values",
            )
        return np.bincount(units, sizes)

    def _wanted(self, n_units: int) -> int:
        wanted = self.n_wanted(n_units)
        if not 0 < wanted <= n_units:
            raise DataError(
                f"a sample of {wanted} {self.units} cannot be drawn",
                got=f"{n_units} {self.units}",
                do="change the fraction or the size",
            )
        return wanted

    def describe(self) -> str:
        """Say in plain words how the sample was drawn."""
        kept = [*(self.balance or ()), *(self.counts or ())]
        totals = f", keeping the totals of {', '.join(kept)}" if kept else ""
        return f"{self.title}: {self.how_much()}{totals}"


def _check_number(n_variables: int) -> None:
    if n_variables > _MOST_VARIABLES:
        raise DataError(
            "there are too many categories to balance a sample on",
            got=f"more than {_MOST_VARIABLES} totals",
            do="recode first, or name fewer variables",
        )


def inclusion_probabilities(sizes: np.ndarray, wanted: int) -> np.ndarray:
    """Return probabilities proportional to sizes that sum to `wanted`, none above 1.

    Examples
    --------
    >>> inclusion_probabilities(np.array([1.0, 1.0, 2.0, 100.0]), 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    pi = np.zeros(len(sizes))
    sure = np.zeros(len(sizes), dtype=bool)
    while True:
        left = wanted - int(sure.sum())
        pi[~sure] = sizes[~sure] * (left / sizes[~sure].sum()) if (~sure).any() else 0.0
        new = ~sure & (pi >= 1.0)
        if not new.any():
            return pi
        sure |= new
        pi[sure] = 1.0


def draw_balanced(totals: np.ndarray, pi: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a sample by the cube method; return for each unit whether it is in.

    Parameters
    ----------
    totals
        What each unit adds to each total to be kept: units by totals, most important first.
    pi
        Inclusion probabilities; if they sum to a whole number, that is the size of the sample.
    """
    from tacit.mask import _cube_kernel as kernel

    scale = np.abs(totals).max(axis=0, initial=0.0)
    useful = totals[:, scale > 0] / scale[scale > 0]
    A = np.column_stack([np.ones(len(pi)), useful / np.where(pi > 0, pi, 1.0)[:, None]])
    pi = _heavy_settled(A, pi, rng)
    return np.asarray(kernel.balanced_sample(A, pi, rng.permutation(len(pi)), rng.random(len(pi))))


def _heavy_settled(A: np.ndarray, pi: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Decide on the units that carry much of a total first, while all others can balance them.

    In a window of few units a heavy one hardly moves and would be left to the landing, where
    nothing can balance it. Here it moves together with the whole file: in the direction
    e_k - DAc, with D = diag(pi (1 - pi)) and c such that A'u = 0.
    """
    from tacit.mask import _cube_kernel as kernel

    pi = pi.copy()
    everyone = np.arange(len(pi))
    for unit in _heavy_units(A, pi):
        for _ in range(_MOST_STEPS):
            d = pi * (1.0 - pi)
            if d[unit] == 0.0:
                break
            c = np.linalg.pinv((A.T * d) @ A, hermitian=True) @ A[unit]
            u = -d * (A @ c)
            u[unit] += 1.0
            if u[unit] < _FREE:  # nobody else can balance this unit
                break
            kernel.step(pi, everyone, len(pi), u, rng.random())
    return pi


def _heavy_units(A: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """Return the undecided units that would change a total by much, the heaviest first."""
    totals = pi @ np.abs(A)
    weight = (np.abs(A) / np.where(totals > 0, totals, 1.0)).max(axis=1)
    weight[(pi <= 0) | (pi >= 1)] = 0.0
    most = min(len(pi) // _OTHERS_PER_HEAVY, _MOST_HEAVY)
    heaviest = np.argsort(-weight, kind="stable")[:most]
    return np.asarray(heaviest[weight[heaviest] > _HEAVY])

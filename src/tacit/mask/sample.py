"""Sampling."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns
from tacit.mask._households import household_codes
from tacit.mask._sampling import SamplingMask

Allocation = Literal["proportional", "equal"]


class Sample(
    SamplingMask,
    key="sample",
    title="Sampling",
    cites=("domingoferrer2007", "truta2003", "hundepool2012"),
    example={"fraction": 0.8},
):
    r"""Release a random sample of the records.

    Missing values are kept; records that miss a stratum variable form a stratum of their own.
    Weights are multiplied by the inverse sampling fraction of the stratum, so that totals stay
    estimable; turn this off with ``reweight=False``.
    Households are broken up, unless ``whole_households`` draws households instead of records.

    When not to use it: as the only protection of exact numbers, which tell a sampled record from
    all others as well as before.

    Notes
    -----
    Of :math:`N` records, :math:`n = \mathrm{round}(f N)` are drawn, each with the same
    probability; :math:`f` is the sampling factor of [truta2003]_. With strata of size
    :math:`N_h`, :math:`n_h` is :math:`n N_h / N` (proportional) or the same for all (equal, or
    the whole stratum where it is smaller), rounded by largest remainder so that the total is
    :math:`n`; ties are drawn by lot. A stratum may get no record at all: join small strata first.
    New weights are :math:`w_i N_h / n_h`. Records keep their original order.

    Sampling leaves continuous values as they are: combine it with another method for those
    [domingoferrer2007]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> release = tacit.Plan([mask.Sample(fraction=0.8)]).apply(tacit.datasets.patients(), seed=1)
    >>> release.data.n_records
    8
    """

    replacement: bool = False
    """Whether a record may be drawn more than once."""
    by: Columns | None = None
    """Variables whose combinations are the strata; by default the file is one stratum."""
    allocation: Allocation = "proportional"
    """How the sample is shared among the strata: by their size, or equally."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.whole_households and self.replacement:
            raise ValueError(
                "cannot combine 'whole_households' with 'replacement': "
                "a household drawn twice would look like one of double size"
            )
        return self

    def describe(self) -> str:
        """Say in plain words how the sample was drawn."""
        how = "with" if self.replacement else "without"
        strata = f", in strata of {' by '.join(self.by)} ({self.allocation})" if self.by else ""
        return f"{self.title}: {self.how_much()} {how} replacement{strata}"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the sampled records, in their original order."""
        units = self._units(data)
        strata = _strata(data, self.by or (), units)
        sizes = np.bincount(strata)
        n_drawn = _allocated(self._wanted(len(strata)), sizes, self, rng)
        drawn = _drawn(strata, n_drawn, self.replacement, rng)
        chosen = _records_of(drawn, units)
        sample = data.take(chosen)
        weights = sample.weights if self.reweight else None
        if weights is None or sample.schema.weight is None:
            return sample
        stratum = strata[chosen if units is None else units[chosen]]
        inverse_fraction = sizes[stratum] / n_drawn[stratum]
        return sample.with_arrays({sample.schema.weight: weights * inverse_fraction})

    def _units(self, data: Microdata) -> np.ndarray | None:
        """Return the household of each record, or None where records themselves are drawn."""
        if not self.whole_households:
            return None
        return household_codes(data, by="sampling whole households")

    def _wanted(self, n_units: int) -> int:
        if n_units == 0:
            raise DataError("there are no records to sample from", got="an empty file")
        wanted = self.n_wanted(n_units)
        if wanted == 0:
            raise DataError(
                f"a sampling fraction of {self.fraction:g} leaves nothing to release",
                got=f"{n_units} {self.units}",
                do="raise the fraction, or give a size",
            )
        if wanted > n_units and not self.replacement:
            raise DataError(
                f"a sample of {wanted} {self.units} without replacement needs that many",
                got=f"{n_units} {self.units}",
                do="lower the size, or sample with replacement",
            )
        return wanted


def _strata(data: Microdata, by: tuple[str, ...], units: np.ndarray | None) -> np.ndarray:
    """Return the stratum of each unit, numbered from 0 in order of first appearance."""
    strata = group_ids(encode(data, by))[0]
    if units is None or len(units) == 0:
        return strata
    per_unit = np.zeros(units.max() + 1, dtype=np.int64)
    per_unit[units] = strata
    n_mixed = len(np.unique(units[per_unit[units] != strata]))
    if n_mixed:
        raise DataError(
            "the members of a household must be in one stratum to sample whole households",
            got=f"{n_mixed} households across several strata of {', '.join(by)}",
            do="choose strata that are the same for a whole household",
        )
    return per_unit


def _allocated(
    wanted: int, sizes: np.ndarray, design: Sample, rng: np.random.Generator
) -> np.ndarray:
    """Share `wanted` draws among strata of these sizes."""
    if design.allocation == "proportional":
        return _rounded_to_total(wanted * sizes / sizes.sum(), wanted, rng)
    limit = np.inf if design.replacement else sizes.astype(np.float64)
    return _rounded_to_total(_equal_shares(wanted, limit, len(sizes)), wanted, rng)


def _equal_shares(wanted: int, limit: np.ndarray | float, n_strata: int) -> np.ndarray:
    """Give all strata the same share, but none more than its limit."""
    limits = np.broadcast_to(np.asarray(limit, dtype=np.float64), (n_strata,))
    ascending = np.sort(limits)
    # Strata below the common level are taken whole; the others share what is left.
    whole = np.concatenate([[0.0], np.cumsum(ascending[:-1])])
    levels = (wanted - whole) / np.arange(n_strata, 0, -1)
    first = int(np.argmax(levels <= ascending)) if np.any(levels <= ascending) else n_strata - 1
    shares: np.ndarray = np.minimum(limits, levels[first])
    return shares


def _rounded_to_total(shares: np.ndarray, total: int, rng: np.random.Generator) -> np.ndarray:
    """Round by largest remainder so that the sum is `total`; ties are drawn by lot."""
    settled = np.floor(shares + 1e-9)
    remainders = np.round(shares - settled, 9)
    by_lot = rng.permutation(len(shares))
    order = by_lot[np.argsort(-remainders[by_lot], kind="stable")]
    settled[order[: total - int(settled.sum())]] += 1
    return settled.astype(np.int64)


def _drawn(
    strata: np.ndarray, n_drawn: np.ndarray, replacement: bool, rng: np.random.Generator
) -> np.ndarray:
    """Draw ``n_drawn[h]`` units at random from each stratum ``h``."""
    shuffled = rng.permutation(len(strata))
    grouped = shuffled[np.argsort(strata[shuffled], kind="stable")]
    sizes = np.bincount(strata)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if replacement:
        chosen = np.repeat(starts, n_drawn) + rng.integers(0, np.repeat(sizes, n_drawn))
    else:
        rank_in_stratum = np.arange(len(strata)) - np.repeat(starts, sizes)
        chosen = np.flatnonzero(rank_in_stratum < np.repeat(n_drawn, sizes))
    return np.asarray(grouped[chosen])


def _records_of(drawn: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """Return the records of the drawn units, in file order."""
    if units is None:
        return np.sort(drawn)
    return np.flatnonzero(np.isin(units, drawn))

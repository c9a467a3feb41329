"""Targeted record swapping of households between areas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from annotated_types import Ge, Le
from pydantic import model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError, SchemaError
from tacit.core.families import Mask
from tacit.core.keys import encode, frequencies, group_ids
from tacit.core.method import Columns, Try
from tacit.core.progress import track


class RecordSwap(
    Mask,
    key="record-swap",
    title="Targeted record swapping of households",
    cites=("hundepool2012", "devries2023"),
    example={"geography": ["region"], "risk": ["sex", "age"], "rate": 0.05},
):
    """Swap the places of households at risk with similar households elsewhere.

    All members of a household move together. The number of households of each profile in each area
    stays as it is, so tables of area by profile are not changed at all; where a later set of
    `similar` had to serve, that holds for the variables of that set only. When not to use it: where
    areas must keep exact counts of other variables as well.

    Missing values: a missing value is a category of its own. Weights: stay with their records.
    Households: the schema's household column says who belongs together; without one each record is
    a household of its own.

    Notes
    -----
    As used for the 2021 European census [devries2023]_, [hundepool2012]_. At each level of the
    geography, from the largest areas to the smallest, a household is at risk if one of its members
    shares the risk variables with fewer than `k` persons of the area; it swaps places with a
    household of the same profile (`similar`; if there is none, of the next profile) from another
    area of that level, inside the same larger area where possible. At the last level more
    households are drawn at random until the share `rate` of all households is swapped. No household
    moves twice.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.census(2000)
    >>> method = mask.RecordSwap(geography=["region"], risk=["sex", "age"], k=2)
    >>> frame = tacit.Plan([method]).apply(data, seed=1).frame
    >>> homes, new_homes = data.frame.unique("household"), frame.unique("household")
    >>> new_homes["region"].sort().equals(homes["region"].sort())
    True
    """

    geography: Columns
    """Columns of the areas, largest areas first; a household lies in one area of each level."""
    risk: Columns
    """Variables that make a person rare in an area."""
    similar: tuple[Columns, ...] = ()
    """Household variables on which partners agree: the first set if possible, else the next ..."""
    k: Annotated[int, Ge(0), Try(2, 3, 5)] = 3
    """A person is at risk if fewer than this many persons of the area share the risk variables."""
    rate: Annotated[float, Ge(0), Le(1), Try(0.0, 0.02, 0.05, 0.1)] = 0.05
    """Share of all households that are swapped at least, by drawing more at random."""
    carry_along: Columns | None = None
    """Further columns that stay with the place, such as a map square."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        places = set(self.geography) | set(self.carry_along or ())
        for chosen in (self.risk, *self.similar):
            both = places & set(chosen)
            if both:
                raise ValueError(f"should not use a place as a risk or profile: {min(both)}")
        return self

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with some households in other places."""
        moved = [*self.geography, *(self.carry_along or ())]
        data.schema.require([*moved, *self.risk, *(c for s in self.similar for c in s)])
        homes = _Homes.of(data, self.geography)
        shared = [*(self.carry_along or ()), *(c for s in self.similar for c in s)]
        homes.check_shared(data, shared)
        partner = self._partners(data, homes, rng)
        new_home = np.where(partner >= 0, partner, np.arange(len(partner)))
        source = homes.first[new_home[homes.household]]
        table = data.local
        return data.with_local(table.with_columns(table[c][source].alias(c) for c in moved))

    def _partners(self, data: Microdata, homes: _Homes, rng: np.random.Generator) -> np.ndarray:
        """Return the household that each household changes places with, or -1."""
        partner = np.full(homes.n_households, -1, dtype=np.int64)
        profiles = self._profiles(data, homes)
        risk = encode(data, self.risk)
        parent = np.zeros(homes.n_households, dtype=np.int64)
        with track("swapping households", len(self.geography)) as advance:
            for level in range(len(self.geography)):
                area = homes.areas[:, level]
                targets = self._at_risk(homes, area, risk)
                if level == len(self.geography) - 1:
                    targets = self._filled_up(targets, partner, rng)
                _swap(rng.permutation(targets), profiles, area, parent, partner, rng)
                parent = area
                advance(1)
        return partner

    def _profiles(self, data: Microdata, homes: _Homes) -> list[np.ndarray]:
        """Return the profile numbers of the households for each set of similar variables."""
        sets = self.similar or ((),)
        return [group_ids(encode(data, list(chosen))[homes.first])[0] for chosen in sets]

    def _at_risk(self, homes: _Homes, area: np.ndarray, risk: np.ndarray) -> np.ndarray:
        from tacit.mask import _record_swap_kernel as kernel

        codes = np.column_stack([area[homes.household].astype(np.int32), risk])
        counts = frequencies(codes)
        lowest = kernel.lowest_per_household(homes.household, counts, homes.n_households)
        return np.flatnonzero(lowest < self.k)

    def _filled_up(
        self, targets: np.ndarray, partner: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Add households at random until the rate is met, counting two for each swap to come."""
        free = np.flatnonzero(partner < 0)
        waiting = targets[partner[targets] < 0]
        missing = self.rate * len(partner) - (len(partner) - len(free)) - 2 * len(waiting)
        if missing <= 0:
            return targets
        others = np.setdiff1d(free, waiting)
        return np.concatenate([targets, rng.permutation(others)[: int(np.ceil(missing / 2))]])


@dataclass(frozen=True)
class _Homes:
    """Households: who belongs to which, and where each lies on every level."""

    household: np.ndarray
    first: np.ndarray
    areas: np.ndarray

    @property
    def n_households(self) -> int:
        return len(self.first)

    def check_shared(self, data: Microdata, columns: Sequence[str]) -> None:
        """Refuse columns in which the members of a household differ."""
        for name, codes in zip(columns, encode(data, columns).T, strict=True):
            if (codes != codes[self.first][self.household]).any():
                raise SchemaError(
                    f"{name!r} must be the same for all members of a household",
                    do="leave it out, or name a column that describes the household",
                )

    @classmethod
    def of(cls, data: Microdata, geography: tuple[str, ...]) -> _Homes:
        if data.n_records < 2:
            raise DataError("swapping needs at least two records", got=f"{data.n_records}")
        name = data.schema.household
        household = np.arange(data.n_records)
        if name is not None:
            codes = encode(data, [name])
            if (codes < 0).any():
                raise DataError(f"the household {name!r} is missing on some records")
            household = group_ids(codes)[0]
        places = encode(data, geography)
        # Areas of a level are told apart by all larger areas too: codes may repeat among them.
        areas = np.column_stack([group_ids(places[:, : i + 1])[0] for i in range(len(geography))])
        _, first = np.unique(household, return_index=True)
        if (areas != areas[first][household]).any():
            raise SchemaError(
                "the members of a household must live in one place",
                do="correct the geography or the household column",
            )
        return cls(household, first, areas[first])


def _swap(
    targets: np.ndarray,
    profiles: list[np.ndarray],
    area: np.ndarray,
    parent: np.ndarray,
    partner: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Find partners for the targets by the first profile, then by the next for those left over."""
    from tacit.mask import _record_swap_kernel as kernel

    for profile in profiles:
        left = targets[partner[targets] < 0]
        if not len(left):
            return
        members = np.lexsort((rng.random(len(profile)), profile))
        starts = np.searchsorted(profile[members], np.arange(profile.max() + 2))
        kernel.find_partners(
            left, profile, starts, members, area, parent, partner, rng.random(len(left))
        )

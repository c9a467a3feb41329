"""Simulated records among the real ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt, Lt
from pydantic import model_validator

from tacit.core.data import ROW, Microdata
from tacit.core.errors import DataError
from tacit.core.families import Mask
from tacit.core.keys import encode
from tacit.core.knowledge import Knowledge
from tacit.core.method import Try
from tacit.core.schema import Kind
from tacit.mask._households import household_codes, random_order
from tacit.mask._simulation import Neighbourhoods, between_ranks, related_sets
from tacit.mask.new_identifiers import new_numbers
from tacit.mask.restore_rules import restored

_LARGEST_POOL = 100_000
"""Records that are enough to model a large file."""
_MOST_ROUNDS = 60
_NEW_HOUSEHOLD_EVERY = 4
"""Every so many rounds a household in which someone still equals a real person is replaced."""
_ANYONE_AFTER = 40
"""After this many rounds a record is made after anyone, and related columns no longer kept."""


class SimulatedRecords(
    Mask,
    key="simulated-records",
    title="Simulated records",
    cites=("truta2003", "adam1989"),
    example={"share": 0.1, "renumber": False},
):
    r"""Add records that belong to nobody, so that a match may be no match at all.

    Simulated records resemble real ones: margins and relations between variables are about kept.
    None equals a real record on all variables (the household number aside); the weight aside as
    well, none equals a combination that fewer than `common` real records share. All obey the edit
    rules, and they stand at random places: all records of the release are put in random order.
    When not to use it: where counts of rare units matter, since each may be one too many; or on few
    coarse variables without weights, where almost all combinations exist already and only the rare
    others can be simulated.

    Missing values: are simulated too, as often as they occur. Weights: come from the same model,
    and all weights are scaled so that their sum stays; turn this off with ``reweight=False``.
    Households: whole households are simulated, with the sizes that occur; variables that all
    members share are drawn once, and the members stay one after another.

    Notes
    -----
    With :math:`t` records in the release, of which :math:`r` are real, `share` is the simulated
    factor :math:`f_s = (t - r)/t`, (3.8) of [truta2003]_; it should be close to 0.

    A simulated record mixes two real ones: one drawn at random, and one of its neighbours. Each set
    of related variables is taken from one of the two; variables are related if an edit rule names
    both or if their association (Cramer's V) is 0.5 or more. A number or date that occurs only once
    in the file is moved up to half way to the next smaller or larger one, and keeps the column's
    decimals. In the dossier simulated records have the number -1.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> plan = tacit.Plan([mask.SimulatedRecords(share=0.2)])
    >>> release = plan.apply(tacit.datasets.census(400), seed=1)
    >>> release.data.n_records, int((release.rows == -1).sum())
    (500, 100)
    """

    share: Annotated[Annotated[float, Gt(0), Lt(1)] | None, Try(0.01, 0.02, 0.05, 0.1)] = None
    """Share of the released records that are simulated (the simulated factor)."""
    number: Annotated[int, Ge(1)] | None = None
    """Number of simulated records, instead of a share."""
    common: Annotated[int, Ge(2)] = 3
    """A combination may be repeated, with another weight, if this many real records share it."""
    reweight: bool = True
    """Scale all weights so that their sum stays."""
    renumber: bool = True
    """Give all households new random numbers; else the simulated ones have the highest."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.share is None) == (self.number is None):
            raise ValueError("needs either 'share' or 'number', not both and not neither")
        return self

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the real and the simulated records, in random order."""
        weights = data.weights
        _check_finite(data)
        everyone = _joined(data, *_simulated(data, self._wanted(data.n_records), self.common, rng))
        if weights is not None and self.reweight:
            everyone = _scaled(everyone, float(weights.sum()))
        if data.schema.household is None:
            return everyone.take(rng.permutation(everyone.n_records))
        if self.renumber:
            numbered = new_numbers([everyone.local[data.schema.household]], rng)
            everyone = everyone.with_local(everyone.local.with_columns(numbered))
        return everyone.take(random_order(household_codes(everyone, by=self.key), rng))

    def _wanted(self, n_real: int) -> int:
        # Eq. (3.8) of truta2003, solved for t - r
        share = self.share or 0.0
        wanted = self.number if self.number is not None else round(share * n_real / (1.0 - share))
        if n_real < 2 or wanted < 1:
            raise DataError(
                f"a share of {share:g} adds no record" if n_real > 1 else "one record has no like",
                got=f"{n_real} records",
                do="raise the share, or give a number",
            )
        return wanted

    def describe(self) -> str:
        """Say in plain words how many records were added."""
        much = f"{self.number:,}" if self.share is None else f"{100 * self.share:g} %"
        return f"{self.title}: {much} of the released records are simulated"


@dataclass(frozen=True)
class _Homes:
    """The real households: members one after another, households by rising size."""

    members: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    shared: frozenset[str]
    """Columns that all members of every household share."""

    @classmethod
    def of(cls, data: Microdata) -> _Homes:
        """Find the households; without a household column every record is one."""
        homes = np.arange(data.n_records)
        if data.schema.household is not None:
            homes = household_codes(data, by="simulating households")
        sizes = np.bincount(homes)
        members = np.lexsort((homes, sizes[homes]))
        starts = np.flatnonzero(np.diff(homes[members], prepend=-1))
        return cls(members, starts, np.sort(sizes), _shared_columns(data, homes))

    def drawn(self, wanted: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw households until there are enough members; return them and their households."""
        chosen = rng.integers(0, len(self.sizes), wanted)
        household = np.repeat(np.arange(wanted), self.sizes[chosen])[:wanted]
        return self._rows(chosen[household], household), household

    def exchanged(self, household: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw other households of the same sizes; return their members."""
        _, number, sizes = np.unique(household, return_inverse=True, return_counts=True)
        low, high = (np.searchsorted(self.sizes, sizes, side) for side in ("left", "right"))
        # The last household drawn may have been cut: any larger one can stand in for it.
        high = np.where(high == low, len(self.sizes), high)
        return self._rows(rng.integers(low, high)[number], number)

    def _rows(self, home: np.ndarray, household: np.ndarray) -> np.ndarray:
        place = np.arange(len(household)) - np.searchsorted(household, household)
        return np.asarray(self.members[self.starts[home] + place])


def _shared_columns(data: Microdata, homes: np.ndarray) -> frozenset[str]:
    """Return the columns on which no two members of a household differ; gaps do not count."""
    shared = []
    for name, codes in zip(data.columns, encode(data, data.columns).T, strict=True):
        known = codes >= 0
        highest = np.full(homes.max(initial=-1) + 1, -1, dtype=codes.dtype)
        np.maximum.at(highest, homes[known], codes[known])
        if (codes[known] == highest[homes[known]]).all():
            shared.append(name)
    return frozenset(shared)


@dataclass
class _Draws:
    """What decides on the simulated records, column by column; redrawn for some of them."""

    rows: np.ndarray
    """The real record after which each is made."""
    household: np.ndarray
    """The simulated household of each: 0, 1, ..., in order."""
    partner: np.ndarray
    """The neighbour from which some columns come."""
    from_partner: np.ndarray
    shift: np.ndarray

    def redrawn(self, copies: np.ndarray, model: _Model, number: int) -> None:
        """Draw records that equal a real one again: first alone, then with their household."""
        rng = model.rng
        if number >= _ANYONE_AFTER:
            self.rows[copies] = rng.integers(0, len(model.homes.members), len(copies))
        elif number % _NEW_HOUSEHOLD_EVERY == _NEW_HOUSEHOLD_EVERY - 1:
            copies = np.flatnonzero(np.isin(self.household, self.household[copies]))
            self.rows[copies] = model.homes.exchanged(self.household[copies], rng)
        shape = (len(copies), self.shift.shape[1])
        coins = rng.random(shape) < 0.5
        self.partner[copies] = model.neighbourhoods.drawn(self.rows[copies], rng)
        self.from_partner[copies] = coins if number >= _ANYONE_AFTER else coins[:, model.sets]
        self.shift[copies] = rng.uniform(-1.0, 1.0, shape)


@dataclass(frozen=True)
class _Model:
    """What simulated records are drawn from."""

    homes: _Homes
    neighbourhoods: Neighbourhoods
    sets: np.ndarray
    """For each column the set of columns it goes with."""
    rng: np.random.Generator


def _simulated(
    data: Microdata, wanted: int, common: int, rng: np.random.Generator
) -> tuple[Microdata, np.ndarray]:
    """Draw simulated records, and again those that equal a real one.

    Returns
    -------
    The records, and the simulated household of each.
    """
    columns = [c for c in data.columns if c != data.schema.household]
    compared = [c for c in columns if c != data.schema.weight]
    forbidden = _Forbidden.of(data, columns, compared, common)
    data = _pool(data, wanted, rng)
    homes = _Homes.of(data)
    neighbourhoods = Neighbourhoods.of(data, compared, rng)
    model = _Model(homes, neighbourhoods, related_sets(data, columns), rng)
    rows, household = homes.drawn(wanted, rng)
    shape = (wanted, len(columns))
    draws = _Draws(rows, household, rows.copy(), np.zeros(shape, dtype=bool), np.zeros(shape))
    copies = np.arange(wanted)
    for number in range(_MOST_ROUNDS):
        draws.redrawn(copies, model, number)
        made = _mixed(data, columns, draws, homes.shared)
        copies = forbidden.found_in(made)
        if not len(copies):
            return made, household
    raise DataError(
        "records that equal no real one cannot be made from these data",
        got=f"{len(copies)} of {wanted} simulated records equal a real one",
        do="simulate fewer, or keep more variables or more detail",
    )


def _pool(data: Microdata, wanted: int, rng: np.random.Generator) -> Microdata:
    """Return the records after which simulated ones are made: all, or a sample of a large file."""
    largest = max(_LARGEST_POOL, 4 * wanted)
    if data.n_records <= largest:
        return data
    homes = np.arange(data.n_records)
    if data.schema.household is not None:
        homes = household_codes(data, by="simulating households")
    return data.take(np.sort(random_order(homes, rng)[:largest]))


def _mixed(data: Microdata, columns: list[str], draws: _Draws, shared: frozenset[str]) -> Microdata:
    """Put simulated records together, each column from one of two real ones."""
    table = data.local
    first = np.searchsorted(draws.household, draws.household)
    made: dict[str, Any] = {}
    for j, name in enumerate(columns):
        source = np.where(draws.from_partner[:, j], draws.partner, draws.rows)
        shift = draws.shift[:, j]
        if name in shared:
            source, shift = source[first], shift[first]
        is_number = data.schema[name].kind in (Kind.NUMERIC, Kind.DATE)
        column = table[name]
        made[name] = between_ranks(column, source, shift) if is_number else column.gather(source)
    part = data.take(draws.rows)
    return restored(part.with_local(part.local.with_columns(**made))).data


@dataclass(frozen=True)
class _Forbidden:
    """Combinations that no simulated record may have."""

    real: Any
    """All real records."""
    rare: Any
    """Combinations of the variables but the weight that few real records share."""

    @classmethod
    def of(cls, data: Microdata, columns: list[str], compared: list[str], common: int) -> Self:
        """List the real records, and the combinations that fewer than `common` share."""
        import polars as pl

        counted = data.local.group_by(compared).agg(pl.len().alias(ROW))
        rare = counted.filter(pl.col(ROW) < common).drop(ROW)
        return cls(data.local.select(columns).unique(), rare)

    def found_in(self, made: Microdata) -> np.ndarray:
        """Return the simulated records that have a forbidden combination."""
        table = made.local.drop(ROW, strict=False).with_row_index(ROW)
        found = [
            table.join(listed, on=listed.columns, how="semi", nulls_equal=True)[ROW].to_numpy()
            for listed in (self.real, self.rare)
        ]
        return np.unique(np.concatenate(found)).astype(np.int64)


def _joined(data: Microdata, simulated: Microdata, household: np.ndarray) -> Microdata:
    """Put simulated records under the real ones, with numbers of their own."""
    import polars as pl

    real, new = data.local, simulated.local
    name = data.schema.household
    if name is not None:
        real, new = _with_new_homes(real, new, name, household)
    if ROW in real.columns:
        real = real.with_columns(pl.col(ROW).cast(pl.Int64))
        new = new.with_columns(pl.lit(-1, dtype=pl.Int64).alias(ROW))
    unknown = np.zeros(new.height, dtype=bool)
    some = {c: np.concatenate([f, unknown]) for c, f in data.knowledge.some.items()}
    held = data._holding(pl.concat([real, new.select(real.columns)]), data.schema)
    return replace(held, knowledge=Knowledge(data.knowledge.everyone, some))


def _with_new_homes(real: Any, new: Any, name: str, household: np.ndarray) -> tuple[Any, Any]:
    """Give simulated households numbers above the real ones; replace codes that are no numbers."""
    import polars as pl

    column = real[name]
    if not column.dtype.is_integer():
        codes = column.rank("dense").cast(pl.Int64)
        column = codes.alias(name)
    top = column.max() or 0
    numbers = pl.Series(name, household + int(top) + 1).cast(pl.Int64)
    return real.with_columns(column.cast(pl.Int64)), new.with_columns(numbers)


def _scaled(everyone: Microdata, total: float) -> Microdata:
    """Scale all weights so that they sum to a total."""
    weights, name = everyone.weights, everyone.schema.weight
    if weights is None or name is None:
        return everyone
    return everyone.with_arrays({name: weights * (total / weights.sum())})


def _check_finite(data: Microdata) -> None:
    numeric = [c for c in data.schema.names(kind=Kind.NUMERIC) if c != data.schema.household]
    infinite = np.isinf(data.numeric(numeric)).any(axis=0)
    if infinite.any():
        name = numeric[int(np.flatnonzero(infinite)[0])]
        raise DataError(f"column {name!r} holds infinite values", do="replace them first")

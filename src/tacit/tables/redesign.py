"""Redesign of a table: fewer categories, until few or no cells are sensitive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import get_args

import numpy as np

from tacit.core.errors import ParameterError, ProtectionError, SchemaError, nearest
from tacit.tables.collapse._coarsening import Coarsening
from tacit.tables.collapse._collapsing import Collapsing, Designs
from tacit.tables.collapse._loss import Loss, Measure
from tacit.tables.collapse._search import Found, Search
from tacit.tables.rule import Rule
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


@dataclass(frozen=True, eq=False)
class Redesign:
    """A table with fewer categories, and what became of the old ones."""

    table: Table
    """The new table."""
    sensitive: Sensitive
    """Its sensitive cells."""
    merged: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """For each dimension the codes that stand for others now, with the finest of these."""
    n_sensitive_before: int = 0
    """Sensitive cells of the table as it was."""
    loss: float = 0.0
    """Share of the table that was lost, by the measure that was asked for."""
    information_lost: float = 0.0
    """Share of the information in the table that was lost."""
    cells_lost: int = 0
    """How many cells fewer there are."""
    proved: bool = True
    """Whether no other choice of categories loses less."""
    least: float = 0.0
    """No other choice loses less than this."""
    looked_at: int = 1
    """How many tables were judged."""

    def __repr__(self) -> str:
        n = sum(len(codes) for codes in self.merged.values())
        return (
            f"Redesign({self.n_sensitive_before} -> {len(self.sensitive)} sensitive cells, "
            f"{n} merged codes, {self.information_lost:.1%} of the information lost"
            f"{', the least there is' if self.proved else ''})"
        )


def redesign(
    table: Table,
    rule: Rule | None = None,
    *,
    dimensions: Iterable[str] | None = None,
    ordered: Iterable[str] = (),
    allow: int = 0,
    loss: Measure = "information",
    width: int = 4,
    limit: int = 5_000,
) -> Redesign:
    r"""Merge categories at the smallest loss, until few enough cells are sensitive.

    Parameters
    ----------
    table
        A table spanned by dimensions.
    rule
        What is sensitive; nothing if only cells that were declared unsafe are.
    dimensions
        Names of the dimensions whose codes may be merged; all unless given.
    ordered
        Names of those whose codes are in order: only neighbours are merged. Codes that begin
        with a number are ordered by it, others as they stand.
    allow
        Sensitive cells that may remain, to be suppressed afterwards.
    loss
        What is to be small: the share of the information that is lost, or of the cells.
    width
        How many tables are followed at a time in a first search.
    limit
        How many tables are judged at most to find a better one, or to prove that there is none.

    Returns
    -------
    Redesign
        The new table, what remains sensitive, which codes were merged, and what was lost.

    Raises
    ------
    ProtectionError
        If there is no such table, or none was found.

    Notes
    -----
    Codes that are parts of the same sums may be merged, with all below them, or a code is no
    longer broken down. Every cell of the new table is judged by the rule anew; where the table
    does not say who contributes to several cells, contributions are assumed to be rather too
    concentrated than too little. The information in a table is that of its finest cells
    :math:`x_i`; where cells are merged into one of :math:`X_g`,
    :math:`\sum_i |x_i| \log (X_g/|x_i|)` is lost; linked tables say what each of them
    says. Codes of cells that must be published are left as they are.

    A sensitive cell goes only where one of its codes does. So the search branches over the ways in
    which the codes of one cell can go, that whose cheapest way is dearest; it looks first at a few
    tables at a time, then at those of the least loss until none that is left can be better.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import tables
    >>> t = tables.tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y", "z"]}), "a")
    >>> made = redesign(t, tables.MinFrequency(n=2))
    >>> made.merged, made.proved
    ({'a': {'y+z': ('y', 'z')}}, True)
    """
    ways = _ways(table, dimensions, ordered)
    _check_numbers(allow=(allow, 0), width=(width, 1), limit=(limit, 0))
    if loss not in get_args(Measure):
        known = list(get_args(Measure))
        raise ParameterError("this is not a loss", got=repr(loss), do=nearest(str(loss), known))
    among, lost = Collapsing(table, rule, ways), Loss(table, ways, loss)
    before = table.sensitive(rule)
    found = Search(among, lost, allow).best(width=width, limit=limit)
    if found.designs is None:
        raise _none(among, found, allow)
    made = among.table_of(found.designs)
    return Redesign(
        made, made.sensitive(rule), _merged(among, found.designs), len(before), found.loss,
        lost.information(found.designs), table.n_cells - made.n_cells,
        found.proved, found.least, found.looked_at,
    )  # fmt: skip


def _ways(
    table: Table, dimensions: Iterable[str] | None, ordered: Iterable[str]
) -> dict[int, Coarsening]:
    """Return how the dimensions may be made coarser, by their position."""
    if not table.dimensions or table.codes.shape[0] != table.n_cells:
        raise SchemaError("only a table spanned by dimensions can be collapsed", got=repr(table))
    if table.ties:
        raise SchemaError(
            "columns of the linked tables follow from one another, so they are coarser together",
            got="; ".join(table.ties),
            do="give the columns as one hierarchy",
        )
    known = [d.name for d in table.dimensions]
    chosen = known if dimensions is None else _names(dimensions)
    in_order = _names(ordered)
    for name in (*chosen, *in_order):
        if name not in known:
            raise SchemaError(f"there is no dimension {name!r}", do=nearest(name, known))
    frozen = table.codes[table.flags("frozen")]
    ways = {}
    for axis, dimension in enumerate(table.dimensions):
        if dimension.name in chosen:
            stays = np.zeros(len(dimension.codes), dtype=bool)
            stays[frozen[:, axis]] = True
            ways[axis] = Coarsening(dimension, ordered=dimension.name in in_order, stays=stays)
    return ways


def _names(given: Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _check_numbers(**given: tuple[int, int]) -> None:
    for name, (number, least) in given.items():
        if not isinstance(number, Integral) or number < least:
            raise ParameterError(f"{name} must be a whole number from {least}", got=repr(number))


def _merged(among: Collapsing, designs: Designs) -> dict[str, dict[str, tuple[str, ...]]]:
    made = {
        way.dimension.name: way.merged(design)
        for way, design in zip(among.ways, designs, strict=True)
    }
    return {name: merged for name, merged in made.items() if merged}


def _none(among: Collapsing, found: Found, allow: int) -> ProtectionError:
    """Return the refusal where there is no coarser table, or none was found."""
    coarsest = among.table_of(among.coarsest)
    left = coarsest.sensitive(among.rule).primary
    most = f"at most {allow} sensitive cells" if allow else "no sensitive cell"
    if found.proved:
        what, do = f"no coarser table has {most}", "suppress cells, or allow more to remain"
    else:
        what = f"none of {found.looked_at:,} coarser tables has {most}"
        do = "raise limit, suppress cells, or allow more to remain"
    return ProtectionError(
        what, got=f"even with as few categories as there may be: {coarsest.describe(left)}", do=do
    )

"""Universe Gamma star."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage

_MOST_PIECES = 12


class UniverseGammaStar(
    Guard, key="universe-gamma-star", title="Universe Gamma star", cites=("lucero2011",)
):
    r"""Refuse unions whose pieces overlap in a few records only.

    The overlap of two pieces is the difference between asking for them together and one by one.
    Missing values are a category; weights play no part.

    A unit may be a household.

    Notes
    -----
    Section 3.1.2 of [lucero2011]_: every intersection of pieces that is not empty holds at least
    :math:`\Gamma^*` records. All intersections of up to twelve pieces are looked at; more pieces
    are refused.

    Examples
    --------
    >>> UniverseGammaStar().key
    'universe-gamma-star'
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "unions whose pieces overlap in a few units"
    misses: ClassVar[str] = "differences of two universes"
    costs: ClassVar[str] = "small overlaps are refused"
    minimum: Annotated[int, Ge(1)] = 25
    """Fewest records in which pieces may overlap."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse where an intersection of pieces is small and not empty."""
        chosen = context.selection
        cube, pieces = context.state.cube.over(chosen.names), chosen.pieces
        if len(pieces) > _MOST_PIECES:
            raise self.refuse("the universe has too many pieces", f"use {_MOST_PIECES} at most")
        overlaps = [np.ones(len(cube), dtype=bool)]
        for piece in pieces:
            inside = cube.piece_mask(piece)
            new = [o & inside for o in overlaps]
            overlaps += [o for o in new if o.any()]
            if any(cube.n[o].sum() < self.minimum for o in new if o.any()):
                raise self.refuse(
                    "pieces of the universe overlap in too few units", "make them disjoint"
                )
        return context

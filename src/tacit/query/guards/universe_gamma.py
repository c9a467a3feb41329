"""Universe Gamma."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class UniverseGamma(Guard, key="universe-gamma", title="Universe Gamma", cites=("lucero2011",)):
    r"""Refuse universes any piece of which holds too few records.

    Bins of a numeric variable that a condition names together are joined first, so that a piece is
    what its conditions say together. Missing values are a category; weights play no part.

    A unit may be a household.

    Notes
    -----
    Section 3.1.2 of [lucero2011]_, who keep their :math:`\Gamma` secret. It costs nothing beyond
    the sum over atoms; it stops small universes, and by itself no difference of two large ones.

    Examples
    --------
    >>> UniverseGamma().key
    'universe-gamma'
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = "small pieces of a universe"
    misses: ClassVar[str] = "differences of two universes"
    costs: ClassVar[str] = "small pieces are refused"
    minimum: Annotated[int, Ge(1)] = 75
    """Fewest records of a piece."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse where a piece is too small."""
        cube = context.state.cube.over(context.selection.names)
        for piece in context.selection.pieces:
            if cube.n[cube.piece_mask(piece)].sum() < self.minimum:
                raise self.refuse("a piece of the universe is too small", "widen its conditions")
        return context

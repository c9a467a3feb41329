"""Size of the query set and of its complement."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage


class SetSize(Guard, key="set-size", title="Size of the query set", cites=("denning1979",)):
    r"""Refuse universes of few units, and those that leave few units out.

    The limit is a little higher for some sets than for others, always the same for the same units,
    so that a refusal does not tell whether one unit more or less is in a set. Distinct units are
    counted; weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    A set of n units of N passes if :math:`n \ge m + U` and :math:`N - n \ge m + U` or
    :math:`n = N`, with U from 0 to `spread`, uniform and fixed for the set. Knowing all units of
    a set but one, a refusal tells about the last with an advantage of at most
    :math:`1 / (2\,\mathrm{spread} + 2)`. By itself it does not stop trackers [denning1979]_.

    Examples
    --------
    >>> SetSize().key
    'set-size'
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = (
        "universes of few units, or all but few; with `spread`, reading off refusals (D5)"
    )
    misses: ClassVar[str] = "trackers (T1, T2)"
    costs: ClassVar[str] = "small universes are refused"
    minimum: Annotated[int, Ge(1)] = 10
    """Fewest units."""
    spread: Annotated[int, Ge(0)] = 0
    """How far the limit varies from set to set."""
    complement: bool = True
    """Whether the units left out count as well."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse sets that are too small or leave out too few."""
        chosen = context.selection
        extra = 0
        if self.spread:
            extra = int(context.sticky.below("set size", chosen.key_pair, self.spread + 1)[0])
        left = context.state.cube.engine.n_units - chosen.units
        few_left = self.complement and 0 < left < self.minimum + extra
        if chosen.units < self.minimum + extra or few_left:
            raise self.refuse(
                "the universe, or what it leaves out, is too small", "use fewer conditions"
            )
        return context

"""No two universes that differ by a few units."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Stage


class Differencing(
    Guard, key="differencing", title="Universes must differ by enough units", cites=("denning1979",)
):
    """Answer for an earlier universe where a new one differs from it by a few units only.

    All earlier requests of all users count, whoever asked. What is answered then is the earlier
    universe; all that can be learnt is that the difference is small, as a withheld cell would
    tell. Distinct units are counted; weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    For every universe S' answered before, the symmetric difference with the new universe S is
    empty or has at least `minimum` units, else S' is answered. Trackers [denning1979]_ and
    differences of two universes then return nothing about single units. The answers depend on the
    order of requests; policies `blocks` and `dp` do not.

    Examples
    --------
    >>> Differencing().key
    'differencing'
    """

    stage: ClassVar[Stage] = "universe"
    stops: ClassVar[str] = "trackers and differences of universes (T1 to T4)"
    misses: ClassVar[str] = "near cells of universes that are far apart"
    costs: ClassVar[str] = (
        "a universe near an earlier one is answered as that one, so that answers depend on "
        "the order of requests"
    )
    minimum: Annotated[int, Ge(2)] = 5
    """Fewest units by which two universes may differ."""
    near: Literal["snap", "refuse"] = "snap"
    """Whether a universe near an earlier one is answered as the earlier one, or refused."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with the universe that is answered."""
        history = context.state.history(self.key, self.minimum)
        chosen = context.selection
        sketch = context.state.cube.sketch(chosen)[None, :]
        found = int(history.find(sketch)[0])
        if found < 0:
            # Kept at once: a request that is refused later must not be told apart from this one.
            found = int(history.place(sketch)[0])
            history.kept[found] = chosen
            return context
        earlier = history.kept[found]
        if earlier.fingerprint == chosen.fingerprint:
            return context
        if self.near == "refuse":
            raise self.refuse("the universe is too near one that was asked about before")
        return context.amended(selection=earlier)

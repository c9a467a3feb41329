"""How many requests a user may make in a time."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Gt

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Stage


class RateLimit(Guard, key="rate-limit", title="Limit of requests in a time"):
    """Refuse more than so many requests of one user in so many seconds.

    Users without a name share one limit. Refused requests count. Missing values and weights play
    no part. It slows attacks that need many requests and stops none.

    A unit may be a household.

    Examples
    --------
    >>> RateLimit().key
    'rate-limit'
    """

    stage: ClassVar[Stage] = "universe"
    stops: ClassVar[str] = "nothing, but slows attacks of many requests"
    misses: ClassVar[str] = "everything else"
    costs: ClassVar[str] = "users wait"
    requests: Annotated[int, Ge(1)] = 100
    """Most requests."""
    seconds: Annotated[float, Gt(0)] = 3600.0
    """Time in which they are counted."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse a user who has asked too often; requests that are remembered do not count."""
        if context.now is None:
            return context
        times = context.state.requests[context.user]
        while times and times[0] <= context.now - self.seconds:
            times.popleft()
        if len(times) >= self.requests:
            raise self.refuse("too many requests in this time", "come back later")
        times.append(context.now)
        return context

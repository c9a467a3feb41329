"""Conditions on whole categories only."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from tacit.query.analysis import Analysis
from tacit.query.guard import Context, Guard, Memory, Stage
from tacit.query.source import Variable
from tacit.query.universe import Condition


class WholeCategories(
    Guard, key="whole-categories", title="Conditions on whole categories", cites=("asghar2019",)
):
    """Refuse lists of categories chosen at will; one category, node, bin or tree node at a time.

    Free lists split a set in two in very many ways, and the noise of their parts averages out.
    Nodes of a hierarchy and of the tree of cutpoints are few. Missing is a category. Weights play
    no part.

    A unit may be a household.

    Notes
    -----
    With L free categories there are :math:`2^{L-1}` bipartitions of a set, which the attack of
    [asghar2019]_ averages over; with nodes only, each variable offers one split of a node.

    Examples
    --------
    >>> WholeCategories().key
    'whole-categories'
    """

    stage: ClassVar[Stage] = "universe"
    memory: ClassVar[Memory] = "never"
    stops: ClassVar[str] = (
        "free lists of categories, and with them averaging over many splits (T8) and "
        "reconstruction from random sets (T11)"
    )
    misses: ClassVar[str] = "a split by each variable"
    costs: ClassVar[str] = "unions and lists of categories are refused"
    pieces: Annotated[int, Ge(1)] = 1
    """Most pieces of a universe."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse conditions that are no single category or node."""
        if len(request.universe.pieces) > self.pieces:
            raise self.refuse(
                "the universe has too many pieces", f"use at most {self.pieces}, or tabulate by it"
            )
        for piece in request.universe.pieces:
            for condition in piece:
                if not _is_whole(condition, context.schema.variable(condition.variable)):
                    raise self.refuse(
                        "a condition must be one category, one bin, or a node of the hierarchy",
                        "tabulate by the variable instead",
                    )
        return context


def _is_whole(condition: Condition, variable: Variable) -> bool:
    if len(set(condition.values)) + len(condition.ranges) != 1:
        return len(variable.codes(condition)) == len(variable.labels)
    if condition.values:
        return True
    span = variable.span(condition.ranges[0])
    n_bins = len(variable.edges) + 1
    return span[1] - span[0] in (1, n_bins) or span in variable.spans
